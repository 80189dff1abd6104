/** Large base64 bodies are decoded apart from the message; the results are those of mailparser. */

import { createHash } from "node:crypto";
import { expect, test } from "bun:test";
import { parseForIndex, parseParts } from "../../../../src/modules/inboxes/parsing/parse.ts";
import type { ParsedMessage } from "../../../../src/modules/inboxes/messages/record.ts";
import { takeBodies } from "../../../../src/modules/inboxes/parsing/encoded-bodies.ts";

const bytes = (length: number) =>
  Buffer.from(Uint8Array.from({ length }, (_, i) => (i * 7_919) >> 5));
const wrapped = (text: string, width = 76) =>
  text.replace(new RegExp(`.{1,${width}}`, "g"), "$&\r\n");
const base64 = (length: number, width?: number) => wrapped(bytes(length).toString("base64"), width);

const attachment = (body: string, more = "") =>
  `Content-Type: application/pdf; name=a.pdf\r\n${more}Content-Transfer-Encoding: base64\r\n` +
  `Content-Disposition: attachment; filename=a.pdf\r\n\r\n${body}`;
const html = (body: string) =>
  `Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: BASE64\r\n\r\n${body}`;
const multipart = (...parts: string[]) =>
  `Subject: x\r\nContent-Type: multipart/mixed; boundary=limit\r\n\r\n` +
  `${parts.map((part) => `--limit\r\n${part}\r\n`).join("")}--limit--\r\n`;
const text = (body: string) => `Content-Type: text/plain\r\n\r\n${body}`;

const messages: [name: string, message: string, attachments: number][] = [
  ["an attachment", multipart(text("hello"), attachment(base64(50_000))), 1],
  [
    "two attachments with different contents",
    multipart(attachment(base64(50_000)), attachment(base64(40_001))),
    2,
  ],
  ["an attachment that is the whole message", attachment(base64(50_000)), 1],
  ["a blank line before the boundary", multipart(attachment(`${base64(50_000)}\r\n`)), 1],
  ["an attachment of several MiB", multipart(attachment(base64(3_000_000))), 1],
  ["lines that end within a group", multipart(attachment(base64(3_000_000, 75))), 1],
  [
    "a character that is not base64",
    multipart(attachment(base64(50_000).replace("\r\n", "\r\n_ *\r\n"))),
    1,
  ],
  ["padding in the middle", multipart(attachment(base64(25_000) + base64(25_000))), 1],
  [
    "padding in the middle of several MiB",
    multipart(attachment(base64(1_000_000) + base64(1_000_000))),
    1,
  ],
  [
    "an incomplete group at the end",
    multipart(attachment(`${base64(50_000).slice(0, -5)}\r\n`)),
    1,
  ],
  ["a hyphen within a line", multipart(attachment(`${base64(50_000)}aa-aa\r\n`)), 1],
  [
    "an attached message with an attachment",
    multipart(
      "Content-Type: message/rfc822\r\nContent-Disposition: attachment; filename=a.eml\r\n\r\n" +
        multipart(attachment(base64(50_000))).replaceAll("limit", "inner"),
    ),
    1,
  ],
];

const searchedBody = ({ search }: ParsedMessage) =>
  Buffer.from(Bun.zstdDecompressSync(search.rest ?? new Uint8Array())).toString();

for (const [name, message, attachments] of messages) {
  test(name, async () => {
    const raw = Buffer.from(message);
    const { parts } = await parseForIndex(raw, []);
    expect(parts).toHaveLength(attachments);
    for (const part of parts) {
      const content = (await parseParts(raw, [part.partId])).get(part.partId) ?? new Uint8Array();
      const digest = (name: string) => createHash(name).update(content).digest("hex");
      expect(content.byteLength).toBeGreaterThan(20_000);
      expect(part).toMatchObject({
        size: content.byteLength,
        md5: digest("md5"),
        sha1: digest("sha1"),
        sha256: digest("sha256"),
      });
    }
  });
}

test("a text in base64 is searched, beside an attachment", async () => {
  const body = `<p>${"word ".repeat(10_000)}the end</p>`;
  const encoded = wrapped(Buffer.from(body).toString("base64"));
  const part = html(encoded).replace("BASE64", "base64");
  const parsed = await parseForIndex(Buffer.from(multipart(part, attachment(base64(50_000)))), []);
  expect(searchedBody(parsed).endsWith("the end")).toBe(true);
  expect(parsed.snippet).toStartWith("word word");
  expect(parsed.parts[0]?.size).toBe(50_000);
});

test("a header that a text quotes changes nothing", async () => {
  const quoted = `Content-Transfer-Encoding: base64\r\n\r\n${base64(50_000)}`;
  const parsed = await parseForIndex(Buffer.from(multipart(text(quoted))), []);
  const end = base64(50_000).slice(-60).trim().toLowerCase().replace(/\s+/g, " ");
  expect(searchedBody(parsed).endsWith(end)).toBe(true);
  expect(parsed.parts).toEqual([]);
});

test("small bodies stay in the message", () => {
  const raw = Buffer.from(multipart(attachment(base64(1_000))));
  expect(takeBodies(raw).rest).toBe(raw);
});
