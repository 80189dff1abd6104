import { expect, test } from "bun:test";
import { nearestOf } from "../../src/lib/nearest.ts";

const FLAGS = ["--port", "--host", "--transport", "--send-rate"];

test.each([
  ["--por", "--port"],
  ["--prot", "--port"],
  ["--hots", "--host"],
  ["--trans", "--transport"],
  ["--sendrate", "--send-rate"],
  ["--colour", null],
  ["-p", null],
])("%s: %p", (given, nearest) => {
  expect(nearestOf(given, FLAGS)).toBe(nearest);
});
