/** Quoted local parts in MAIL and RCPT (RFC 5321 §4.1.2). */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { parseEnvelope } from "../../src/modules/inboxes/envelope.ts";
import { captureApp } from "../support/capture.ts";
import { sendRaw } from "../support/smtp-client.ts";

let server: Awaited<ReturnType<typeof captureApp>>;
beforeAll(async () => {
  server = await captureApp();
});
afterAll(() => server.close());

async function envelope(from: string, to: string) {
  const client = await server.connect();
  const reply = await sendRaw(client, "Subject: x\r\n\r\nx", { from, to: [to] });
  client.end();
  expect(reply).toStartWith("250");
  const [message] = await server.caught();
  const parsed = parseEnvelope(message?.envelope ?? "");
  return [parsed.from, parsed.to[0]?.address];
}

test.each([
  ['"odd user"@example.com', '"odd user"@example.com'],
  ['"a@b"@example.com', '"a@b"@example.com'],
  ['"a>b"@example.com', '"a>b"@example.com'],
  ['"a\\"b c"@example.com', '"a\\"b c"@example.com'],
  ['"simple.name"@example.com', "simple.name@example.com"],
  ['".dots..here."@example.com', '".dots..here."@example.com'],
  ['"ü ü"@example.com', '"ü ü"@example.com'],
  ['"x y"@[127.0.0.1]', '"x y"@[127.0.0.1]'],
])("%s", async (given, address) => {
  expect(await envelope(given, given)).toEqual([address, address]);
});

test("parameters after the path are read", async () => {
  const client = await server.connect();
  const reply = await client.say('MAIL FROM:<"a b"@example.com> SIZE=999999999\r\n');
  expect(reply).toStartWith("552");
  client.end();
});

test.each([
  '<"a b"c@example.com>',
  '<"a b@example.com>',
  '<"a b"@>',
  '<"a b"@b c>',
  '<"a b"@example..com>',
  '<"a\tb"@example.com>',
  `<"${"a ".repeat(150)}"@example.com>`,
])("%j is refused", async (path) => {
  const client = await server.connect();
  expect(await client.say(`MAIL FROM:${path}\r\n`)).toStartWith("501");
  client.end();
});
