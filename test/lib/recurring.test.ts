import { expect, test } from "bun:test";
import { intervalOf } from "../../src/lib/recurring.ts";

test.each([
  ["* * * * * *", 1],
  ["*/5 * * * * *", 5],
  ["*/30 * * * * *", 30],
  ["17 * * * * *", 60],
])("the pattern %s recurs every %d s", (pattern, seconds) => {
  expect(intervalOf(pattern)).toBe(seconds);
});
