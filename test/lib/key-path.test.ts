import { expect, test } from "bun:test";
import { splitPath } from "../../src/lib/key-path.ts";

test.each([
  ["plan", ["plan"]],
  ["a.b.c", ["a", "b", "c"]],
  ["a\\.b", ["a.b"]],
  ["a\\\\.b", ["a\\", "b"]],
  ["a\\b", ["a\\b"]],
  ["a\\", ["a\\"]],
  ["", [""]],
  ["a..b.", ["a", "", "b", ""]],
])("%j consists of the keys %j", (text, keys) => {
  expect(splitPath(text)).toEqual(keys);
});
