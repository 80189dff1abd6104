import { expect, test } from "bun:test";
import { nearestOf } from "../../src/lib/nearest.ts";

const FLAGS = ["--host", "--port", "--transport", "--send-rate", "--json"];

test.each([
  ["--por", "--port"],
  ["--prot", "--port"],
  ["--hots", "--host"],
  ["--trans", "--transport"],
  ["--sendrate", "--send-rate"],
  ["--josn", "--json"],
  ["--jsno", "--json"],
  ["--colour", null],
  ["-p", null],
])("%s: %p", (given, nearest) => {
  expect(nearestOf(given, FLAGS)).toBe(nearest);
});

test.each([
  ["serv", "serve"],
  ["sevre", "serve"],
  ["dve", "dev"],
  ["docter", "doctor"],
  ["chekc", "check"],
  ["", null],
])("of commands, %s: %p", (given, nearest) => {
  expect(nearestOf(given, ["dev", "serve", "doctor", "check", "version"])).toBe(nearest);
});
