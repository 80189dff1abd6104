/** The dots of a message in DATA: the final one, and those that clients add. */

import { describe, expect, test } from "bun:test";
import { createDotScanner } from "../../src/smtp/dots.ts";

type Result = { content: string; rest: string | null };

function scan(...pieces: readonly string[]): Result {
  const next = createDotScanner();
  const content: Buffer[] = [];
  for (const [i, text] of pieces.entries()) {
    const piece = Buffer.from(text, "latin1");
    const { held, content: more, end } = next(piece);
    content.push(held, Buffer.from(more));
    if (end !== -1) {
      const rest = text.slice(end) + pieces.slice(i + 1).join("");
      return { content: Buffer.concat(content).toString("latin1"), rest };
    }
  }
  return { content: Buffer.concat(content).toString("latin1"), rest: null };
}

/** Looks at one character after the other. */
function reference(text: string): Result {
  let content = "";
  for (let at = 0; at < text.length; at++) {
    const isLine = at === 0 || text.slice(Math.max(0, at - 2), at) === "\r\n";
    if (isLine && text.startsWith(".\r\n", at)) return { content, rest: text.slice(at + 3) };
    const isAdded = (at === 0 || text[at - 1] === "\n") && text.startsWith("..", at);
    if (isAdded) at++;
    content += text[at];
  }
  return { content, rest: null };
}

describe("a message", () => {
  const cases: [name: string, text: string, content: string, rest: string | null][] = [
    ["ends with a dot", "a\r\n.\r\n", "a\r\n", ""],
    ["without content", ".\r\n", "", ""],
    ["of an empty line", "\r\n.\r\n", "\r\n", ""],
    ["with a command behind it", "a\r\n.\r\nQUIT\r\n", "a\r\n", "QUIT\r\n"],
    ["with a line of a dot", "a\r\n..\r\n.\r\n", "a\r\n.\r\n", ""],
    ["that begins with a dot", "..a\r\n.\r\n", ".a\r\n", ""],
    ["that begins with two dots", "...\r\n.\r\n", "..\r\n", ""],
    ["with a dot before text, which no client sends", "a\r\n.b\r\n.\r\n", "a\r\n.b\r\n", ""],
    ["with many dots", "\r\n..a\r\n..b\r\n...\r\n.\r\n", "\r\n.a\r\n.b\r\n..\r\n", ""],
    ["with a dot between bare LFs", "a\n.\nb\r\n.\r\n", "a\n.\nb\r\n", ""],
    ["with a dot after a bare LF", "a\n.\r\nb\r\n.\r\n", "a\n.\r\nb\r\n", ""],
    ["with a dot before a bare LF", "a\r\n.\nb\r\n.\r\n", "a\r\n.\nb\r\n", ""],
    ["with a dot before a bare CR", "a\r\n.\rb\r\n.\r\n", "a\r\n.\rb\r\n", ""],
    ["with a dot before two CRs", "a\r\n.\r\r\n.\r\n", "a\r\n.\r\r\n", ""],
  ];
  test.each(cases)("%s", (_, text, content, rest) => {
    expect(reference(text)).toEqual({ content, rest });
    expect(scan(text)).toEqual({ content, rest });
    expect(scan(...text.split(""))).toEqual({ content, rest });
  });
});

test("the result does not depend on how a message is divided into pieces", () => {
  const parts = ["\r", "\n", ".", "\r\n", "..", "a", "\r\n.", "\n.", ".\r\n", "\r\n.\r\n"];
  let seed = 11;
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.floor((seed / 2147483648) * below);
  };
  for (let round = 0; round < 5_000; round++) {
    const text = Array.from({ length: random(12) }, () => parts[random(parts.length)]).join("");
    const pieces: string[] = [];
    for (let at = 0; at < text.length;) {
      const length = 1 + random(5);
      pieces.push(text.slice(at, at + length));
      at += length;
    }
    const { rest, content } = reference(text);
    const scanned = scan(...pieces);
    expect({ text, rest: scanned.rest }).toEqual({ text, rest });
    // Without an end, a dot and a CR may still be held back.
    if (rest === null) expect(content.startsWith(scanned.content)).toBe(true);
    else expect({ text, content: scanned.content }).toEqual({ text, content });
  }
});

test("a megabyte of lines that begin with dots loses the dot that was added to each", () => {
  const piece = Buffer.from("..\r\n".repeat(260_000));
  expect(createDotScanner()(piece).content.byteLength).toBe(3 * 260_000);
});
