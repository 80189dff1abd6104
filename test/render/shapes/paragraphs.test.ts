import { describe, expect, test } from "bun:test";
import { alignLines, wrapParagraph } from "../../../src/render/shapes/paragraphs.ts";
import { htmlToText } from "../../../src/render/text.ts";

const words = (count: number, length: number) =>
  Array.from({ length: count }, () => "x".repeat(length)).join(" ");

describe("a paragraph is wrapped as in the text alternative", () => {
  const texts: [what: string, text: string][] = [
    ["a word", "word"],
    ["a line of 78 characters", words(39, 1) + "y"],
    ["a line of 79 characters", words(40, 1)],
    ["many short words", words(200, 1)],
    ["words of 77 characters", words(3, 77)],
    ["words of 78 characters", words(3, 78)],
    ["words of 79 characters", words(3, 79)],
    ["a long word between short ones", `a b ${"x".repeat(200)} c d`],
    ["a long word at the end", `a b ${"x".repeat(200)}`],
    ["characters of two units", `${"😀 ".repeat(60)}end`],
  ];
  for (const [what, text] of texts) {
    test(`with ${what}`, () => {
      expect(wrapParagraph("", text, { indent: "", lineEnd: "\n" })).toBe(
        htmlToText(`<p>${text}</p>`),
      );
      const quote = htmlToText(`<blockquote>${text}</blockquote>`);
      expect(wrapParagraph("> ", text, { indent: "> ", lineEnd: "\n" })).toBe(quote);
    });
  }
});

describe("the wrapped lines of an unwrapped text", () => {
  test("are found with their indent", () => {
    expect(alignLines("a b\n\n> c d e\n * f g", "a\nb\n\n> c d\n> e\n * f\n   g")).toEqual([
      { unwrapped: "a b", wrapped: ["a", "b"], indent: "" },
      { unwrapped: "", wrapped: [""], indent: null },
      { unwrapped: "> c d e", wrapped: ["> c d", "> e"], indent: "> " },
      { unwrapped: " * f g", wrapped: [" * f", "   g"], indent: "   " },
    ]);
  });

  const faults: [what: string, unwrapped: string, wrapped: string][] = [
    ["another word", "a b", "a\nc"],
    ["a missing line", "a b", "a"],
    ["a line too much", "a b", "a b\nc"],
    ["a break inside a word", "ab", "a\nb"],
    ["two indents", "a b c", "a\n> b\n c"],
  ];
  for (const [what, unwrapped, wrapped] of faults) {
    test(`are not found with ${what}`, () => {
      expect(alignLines(unwrapped, wrapped)).toBeNull();
    });
  }
});
