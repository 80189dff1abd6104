import { describe, expect, test } from "bun:test";
import { finalBlock, leadingBlocks } from "../../../src/protocols/smtp/body.ts";

function onWire(message: Uint8Array): Buffer {
  return Buffer.concat([...leadingBlocks(message), finalBlock(message)]);
}

const CASES: [name: string, message: string, wire: string][] = [
  ["an empty message", "", ".\r\n"],
  ["a line", "a\r\n", "a\r\n.\r\n"],
  ["a missing line end at the end", "a", "a\r\n.\r\n"],
  ["a CR at the end", "a\r", "a\r\r\n.\r\n"],
  ["a bare LF at the end", "a\n", "a\n\r\n.\r\n"],
  ["a dot alone", ".", "..\r\n.\r\n"],
  ["a dot line at the beginning", ".\r\nb\r\n", "..\r\nb\r\n.\r\n"],
  ["a dot line inside", "a\r\n.\r\nb\r\n", "a\r\n..\r\nb\r\n.\r\n"],
  ["a dot line at the end", "a\r\n.\r\n", "a\r\n..\r\n.\r\n"],
  ["a dot at the end", "a\r\n.", "a\r\n..\r\n.\r\n"],
  ["several dots", "..\r\n...a\r\n", "...\r\n....a\r\n.\r\n"],
  ["dots inside a line", "a.b\r\nc.\r\n", "a.b\r\nc.\r\n.\r\n"],
  ["dot lines in a row", ".\r\n.\r\n.\r\n", "..\r\n..\r\n..\r\n.\r\n"],
  ["a dot after a bare LF", "a\n.\nb\r\n", "a\n..\nb\r\n.\r\n"],
  ["an end of data with a bare LF", "a\n.\r\nMAIL\r\n", "a\n..\r\nMAIL\r\n.\r\n"],
];

describe("the message on the wire", () => {
  test.each(CASES)("%s", (_, message, wire) => {
    expect(onWire(Buffer.from(message, "latin1")).toString("latin1")).toBe(wire);
  });

  test("is one block if small", () => {
    expect([...leadingBlocks(Buffer.alloc(131_072, "a"))]).toEqual([]);
  });

  test("returns blocks without dots as views", () => {
    const message = Buffer.alloc(1_000_000, "a");
    for (const block of leadingBlocks(message)) expect(block.buffer).toBe(message.buffer);
  });

  test("finds dots at every position around the border of two blocks", () => {
    for (let shift = -4; shift <= 4; shift++) {
      const message = `${"a".repeat(131_072 + shift)}\r\n.\r\nb\r\n`;
      const wire = message.replace("\r\n.\r\n", "\r\n..\r\n");
      expect(onWire(Buffer.from(message)).toString()).toBe(`${wire}.\r\n`);
    }
  });

  test("does not change the message", () => {
    const message = Buffer.from(".\r\n.\r\n");
    onWire(message);
    expect(message.toString()).toBe(".\r\n.\r\n");
  });

  test("accepts a view into a larger buffer", () => {
    const message = new Uint8Array(Buffer.from("xx.a\r\nyy")).subarray(2, 6);
    expect(onWire(message).toString()).toBe("..a\r\n.\r\n");
  });

  test("doubles the dots of a message that has only dot lines", () => {
    const wire = onWire(Buffer.from(".\r\n".repeat(300_000))).toString();
    expect(wire).toBe(`${"..\r\n".repeat(300_000)}.\r\n`);
  });
});
