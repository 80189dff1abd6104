/** Multi-line answers of POP3: their dots and their end. */

import { expect, test } from "bun:test";
import { DotStuffedText } from "../../../src/protocols/mailboxes/dot-stuffed.ts";

test.each([
  ["an empty text", ".\r\n", ""],
  ["a line", "a\r\n.\r\n", "a\r\n"],
  ["lines that end with LF only", "a\n..b\n.\n", "a\n.b\n"],
  ["lines that begin with dots", "..\r\n...\r\n..a\r\n.\r\n", ".\r\n..\r\n.a\r\n"],
  ["a dot that was not doubled", ".a\r\n.\r\n", "a\r\n"],
  ["a dot and CR without LF", ".\ra\r\n.\r\r\n.\r\n", "\ra\r\n\r\r\n"],
  ["dots within a line", "a.\r\na\r.\r\n.\r\n", "a.\r\na\r.\r\n"],
])("%s is read in blocks of any size", (_, sent, expected) => {
  const answer = Buffer.from(`${sent}+OK`);
  for (let size = 1; size <= answer.byteLength; size++) {
    const text = new DotStuffedText(100);
    let read = 0;
    while (!text.isEnded) read += text.read(answer.subarray(read, read + size));
    expect(Buffer.from(text.text()).toString()).toBe(expected);
    expect(text.octets).toBe(expected.length);
    // The answer to the next command is not read.
    expect(read).toBe(sent.length);
  }
});

test("the beginning is kept, and the rest is counted", () => {
  const text = new DotStuffedText(4);
  expect(text.read(Buffer.from("..ab\r\n.\rc\r\n"))).toBe(11);
  expect(Buffer.from(text.text()).toString()).toBe(".ab\r");
  expect([text.octets, text.isEnded]).toEqual([9, false]);
});
