import { describe, expect, test } from "bun:test";
import { createRandom } from "../../../scripts/seed/random.ts";
import { fold } from "../../../src/protocols/mime/header-lines.ts";

const LINE_LENGTH = 78;

/** Folds with lists of words, which takes longer than the real function. */
function foldWords(line: string): string {
  const hasOneWord = !line.includes(" ", line.indexOf(" ") + 1);
  if (line.length <= LINE_LENGTH || hasOneWord) return line;
  const [name = "", first = "", ...words] = line.split(/(?<=\S) (?=\S)/);
  const lines: string[] = [];
  let current = `${name} ${first}`;
  for (const word of words) {
    if (current.length + 1 + word.length > LINE_LENGTH) {
      lines.push(current);
      current = "";
    }
    current += ` ${word}`;
  }
  return [...lines, current].join("\r\n");
}

describe("a header line is folded", () => {
  const words = (count: number, length: number) =>
    Array.from({ length: count }, () => "w".repeat(length)).join(" ");

  test.each<[string, string, string]>([
    ["not at 78 characters", `Name: ${words(2, 35)}a`, `Name: ${words(2, 35)}a`],
    [
      "before the word that ends after them",
      `Name: ${words(2, 36)}`,
      `Name: ${words(1, 36)}\r\n ${words(1, 36)}`,
    ],
    ["not directly after the name", `Name: ${words(1, 90)}`, `Name: ${words(1, 90)}`],
    [
      "around a word that is too long for a line",
      `Name: a ${words(1, 90)} b`,
      `Name: a\r\n ${words(1, 90)}\r\n b`,
    ],
  ])("%s", (_, line, folded) => expect(fold(line)).toBe(folded));

  test("at the spaces between words, in random lines", () => {
    const random = createRandom(3);
    const pieces = [" ", "  ", "a", "word", "x".repeat(30), "y".repeat(90)];
    const others = ["\t", "\u00a0", "é", "\ufeff", "<https://a.b/c>,", "\x1f"];
    for (let round = 0; round < 5_000; round++) {
      const count = random.integer(20);
      const text = Array.from({ length: count }, () => random.pick([...pieces, ...others]));
      const line = `Name: v${text.join("")}`;
      expect(fold(line)).toBe(foldWords(line));
    }
  });
});
