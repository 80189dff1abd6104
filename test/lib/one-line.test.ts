import { expect, test } from "bun:test";
import { oneLine } from "../../src/lib/one-line.ts";

test.each([
  ["", ""],
  ["Ada", "Ada"],
  [" two  blanks stay ", " two  blanks stay "],
  ["a\nb", "a b"],
  ["a\r\n\r\nb", "a b"],
  ["a \r\n  b", "a b"],
  ["a\tb", "a b"],
  ["a\u2028b\u2029c\u0085d", "a b c d"],
  ["a\0b\x1bc\x7fd\x9fe", "a b c d e"],
  ["\n Ada \n", "Ada"],
  ["\r\n", ""],
  ["a\u00a0b\u200bc 👩‍💻", "a\u00a0b\u200bc 👩‍💻"],
])("%j is %j in a header", (text, line) => {
  expect(oneLine(text)).toBe(line);
});

test("takes linear time", () => {
  const text = `${" ".repeat(500_000)}x${" \n".repeat(500_000)}y`;
  expect(oneLine(text)).toEndWith("x y");
});
