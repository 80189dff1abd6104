/** The texts of one message in lists and in the index are bounded, with any headers. */

import { expect, test } from "bun:test";
import { parseForIndex } from "../../../../src/modules/inboxes/parsing/parse.ts";

const LIMIT = 32 * 1024;
const many = (count: number, text: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => text(i));

const parse = (head: string, body = "x") =>
  parseForIndex(Buffer.from(`${head}\r\nX-Note: x\r\n\r\n${body}`), ["ada@example.com"]);

test.each(["From", "To", "Cc", "Bcc", "Reply-To"])("mailboxes of %s", async (field) => {
  const { addresses, search } = await parse(
    `${field}: ${many(10_000, (i) => `a${i}@example.com`).join(",")}`,
  );
  const listed = Object.values(addresses).flat();
  expect(listed.length).toBeGreaterThan(1_000);
  expect(JSON.stringify(addresses).length).toBeLessThan(4 * LIMIT);
  expect(search.text.length).toBeLessThan(2 * LIMIT);
});

test("a long name or address is cut, and its mailbox stays", async () => {
  const { addresses } = await parse(`To: "${"n".repeat(50_000)}" <ada@example.com>`);
  expect(addresses.to).toEqual([{ name: "n".repeat(1_024), address: "ada@example.com" }]);
  expect(addresses.bcc).toEqual([]);
});

test("subject, Message-ID and tags", async () => {
  const long = "x".repeat(200_000);
  const tags = ["short", "t".repeat(101), ...many(20_000, (i) => `t${i}`)].join(", ");
  const parsed = await parse(`Subject: ${long}\r\nMessage-ID: <${long}>\r\nX-Tags: ${tags}`);
  expect(parsed.subject).toHaveLength(4_096);
  expect(parsed.messageId.length).toBeLessThanOrEqual(1_024);
  expect(parsed.tags).toHaveLength(100);
  expect(parsed.tags).toContain("short");
});

test("names of attachments", async () => {
  const part = `--b\r\nContent-Type: image/png; name="${"n".repeat(20_000)}"\r\n\r\nx\r\n`;
  const { parts, search } = await parse(
    "Content-Type: multipart/mixed; boundary=b",
    `${part.repeat(100)}--b--`,
  );
  expect(parts).toHaveLength(100);
  expect(Math.max(...parts.map(({ filename }) => filename.length))).toBe(1_024);
  expect(search.text.length).toBeLessThan(2 * LIMIT);
});
