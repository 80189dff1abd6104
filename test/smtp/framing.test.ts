import { describe, expect, test } from "bun:test";
import { createFraming } from "../../src/smtp/framing.ts";

type Result = { text: string; hasBareCr: boolean; hasBareLf: boolean };

function frame(...pieces: readonly string[]): Result {
  const framing = createFraming();
  const bytes = pieces.map((piece) => framing.add(Buffer.from(piece, "latin1")));
  return {
    text: Buffer.concat(bytes).toString("latin1"),
    hasBareCr: framing.hasBareCr(),
    hasBareLf: framing.hasBareLf(),
  };
}

describe("line ends of a message", () => {
  const cases: [name: string, text: string, expected: Result][] = [
    ["none", "a", { text: "a", hasBareCr: false, hasBareLf: false }],
    ["CRLF", "a\r\nb\r\n", { text: "a\r\nb\r\n", hasBareCr: false, hasBareLf: false }],
    ["a bare LF", "a\nb\r\n", { text: "a\r\nb\r\n", hasBareCr: false, hasBareLf: true }],
    ["a bare LF first", "\na", { text: "\r\na", hasBareCr: false, hasBareLf: true }],
    ["two bare LFs", "a\n\nb", { text: "a\r\n\r\nb", hasBareCr: false, hasBareLf: true }],
    ["a bare CR", "a\rb\r\n", { text: "a\rb\r\n", hasBareCr: true, hasBareLf: false }],
    ["a bare CR before CRLF", "a\r\r\nb", { text: "a\r\r\nb", hasBareCr: true, hasBareLf: false }],
    ["a bare CR at the end", "a\r", { text: "a\r", hasBareCr: true, hasBareLf: false }],
    ["LF CR", "a\n\rb", { text: "a\r\n\rb", hasBareCr: true, hasBareLf: true }],
  ];
  test.each(cases)("%s", (_, text, expected) => {
    expect(frame(text)).toEqual(expected);
  });

  test("do not depend on how the message is divided into pieces", () => {
    const parts = ["\r", "\n", "a", "\r\n", ".", "\n\n", "\r\r\n"];
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      return Math.floor((seed / 2147483648) * below);
    };
    for (let round = 0; round < 2_000; round++) {
      const text = Array.from({ length: random(12) }, () => parts[random(parts.length)]).join("");
      const pieces: string[] = [];
      for (let at = 0; at < text.length;) {
        const length = 1 + random(3);
        pieces.push(text.slice(at, at + length));
        at += length;
      }
      const expected = {
        text: text.replace(/(?<!\r)\n/g, "\r\n"),
        hasBareCr: /\r(?!\n)/.test(text),
        hasBareLf: /(?<!\r)\n/.test(text),
      };
      expect(frame(...pieces)).toEqual(expected);
    }
  });
});
