/** The stored form of the bytes of messages. */

import { expect, test } from "bun:test";
import { rawForm, storedForm } from "../../../src/modules/inboxes/messages/store.ts";

const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
const MESSAGES: readonly [name: string, raw: Buffer, isAsItIs: boolean][] = [
  ["an empty message", Buffer.alloc(0), true],
  ["a short one", Buffer.from("Su"), true],
  ["one below 4 KB", Buffer.alloc(4_095, "x"), true],
  ["one of 4 KB", Buffer.alloc(4_096, "x"), false],
  [
    "one that begins as compressed bytes do",
    Buffer.concat([ZSTD, Buffer.from("\r\n\r\nx")]),
    false,
  ],
  ["one that is compressed itself", Buffer.from(Bun.zstdCompressSync("x")), false],
];

for (const [name, raw, isAsItIs] of MESSAGES) {
  test(`${name} is stored ${isAsItIs ? "as it is" : "compressed"}, and read as it was`, () => {
    const stored = storedForm(raw);
    expect(Buffer.compare(stored, raw) === 0).toBe(isAsItIs);
    expect(Buffer.compare(rawForm(stored), raw)).toBe(0);
  });
}

test("what an older version stored, which compressed every message, is read", () => {
  const raw = Buffer.from("Subject: old\r\n\r\nx");
  expect(Buffer.from(rawForm(Bun.zstdCompressSync(raw, { level: 1 })))).toEqual(raw);
});
