import { describe, expect, test } from "bun:test";
import { trimBlanks, trimEndBlanks, trimEndOf, trimStartBlanks } from "../../src/lib/trim.ts";

describe("trimming of spaces and tabs", () => {
  test.each([
    ["", "", "", ""],
    [" \t ", "", "", ""],
    ["a", "a", "a", "a"],
    [" \ta b\t ", "a b", "a b\t ", " \ta b"],
    ["\r\na\r\n", "\r\na\r\n", "\r\na\r\n", "\r\na\r\n"],
    ["\u00a0a\u2028", "\u00a0a\u2028", "\u00a0a\u2028", "\u00a0a\u2028"],
    ["\ufeffa\u3000", "\ufeffa\u3000", "\ufeffa\u3000", "\ufeffa\u3000"],
    ["\va\f", "\va\f", "\va\f", "\va\f"],
  ])("%j", (text, both, start, end) => {
    expect([trimBlanks(text), trimStartBlanks(text), trimEndBlanks(text)]).toEqual([
      both,
      start,
      end,
    ]);
  });
});

test.each([
  ["", "/", ""],
  ["///", "/", ""],
  ["/a//b//", "/", "/a//b"],
  ["a.test", ".", "a.test"],
])("%j is trimmed of %j at its end", (text, character, trimmed) => {
  expect(trimEndOf(text, character)).toBe(trimmed);
});
