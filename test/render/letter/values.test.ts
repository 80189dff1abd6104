import { describe, expect, test } from "bun:test";
import { plainText } from "../../../src/render/letter/values.ts";

describe("a plain value", () => {
  const values = [
    "Ada",
    "Grace Hopper",
    "Zoë",
    "O'Brien",
    "a & b",
    "<b>",
    "&amp;",
    "山田　太郎",
    "😀",
    "-",
  ];
  for (const value of values) {
    test(`${value} is the text of its HTML`, () => {
      expect(plainText(Bun.escapeHTML(value))).toBe(value);
    });
  }
});

describe("not plain is", () => {
  const values: [what: string, html: string][] = [
    ["an empty value", ""],
    ["a blank", " "],
    ["a leading blank", " a"],
    ["a trailing blank", "a "],
    ["a trailing ideographic space", "a　"],
    ["two blanks in a row", "a  b"],
    ["a tab", "a\tb"],
    ["a line break", "a\nb"],
    ["a no-break space", "a\u00a0b"],
    ["a soft hyphen", "a\u00adb"],
    ["an invisible character", "a\u200bb"],
    ["a joiner", "👩‍💻"],
    ["a combining grapheme joiner", "a\u034fb"],
    ["a line separator", "a\u2028b"],
    ["a private-use character", "a\ue000"],
    ["a lone surrogate", "a\ud800"],
    ["a control character", "a\x7f"],
    ["NUL", "a\0"],
    ["markup", "<b>a</b>"],
    ["a character reference that is not of the escaping", "a&nbsp;b"],
    ["a lone ampersand", "a & b"],
    ["an incomplete character reference", "a &amp b"],
    ["a long value", "x".repeat(2_001)],
  ];
  for (const [what, html] of values) {
    test(what, () => {
      expect(plainText(html)).toBeNull();
    });
  }
});
