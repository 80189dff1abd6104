/** Tests which keys may submit over SMTP, from which addresses, and with which From. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { KeyScope } from "../../src/http/scopes.ts";
import { createKey, keyNoun } from "../../src/modules/keys.ts";
import { sendRaw } from "../support/smtp-client.ts";
import { plain, submissionApp } from "../support/submission.ts";

let server: Awaited<ReturnType<typeof submissionApp>>;
beforeAll(async () => {
  server = await submissionApp();
});
afterAll(() => server.close());

type Limits = { scope?: KeyScope; domains?: string[]; ipRanges?: string[] };

const createdKey = (kind: "SECRET" | "SMTP", limits: Limits) =>
  server.app.writer.write(() =>
    createKey(server.app.app, server.project.seq, { kind, name: "k", expiresAt: null, ...limits }),
  );

async function authReply(kind: "SECRET" | "SMTP", limits: Limits): Promise<string> {
  server.clock.advance(60_000); // Resets the limit of failed authentication.
  const { text } = await createdKey(kind, limits);
  const client = await server.connect();
  const reply = await client.say(`AUTH PLAIN ${plain(text)}\r\n`);
  client.end();
  return reply;
}

describe("AUTH", () => {
  const accepted: [kind: "SECRET" | "SMTP", limits: Limits][] = [
    ["SMTP", { scope: "SEND" }],
    ["SECRET", { scope: "SEND" }],
    ["SECRET", { scope: "EVERYTHING" }],
    ["SECRET", {}],
    ["SMTP", { scope: "SEND", ipRanges: ["192.0.2.1", "127.0.0.0/8"] }],
  ];
  test.each(accepted)("accepts a key of the kind %s with %j", async (kind, limits) => {
    expect(await authReply(kind, limits)).toStartWith("235 ");
  });

  const refused: [kind: "SECRET" | "SMTP", limits: Limits, reason: string][] = [
    [
      "SECRET",
      { scope: "READ" },
      "sending needs the scope SEND, and the scope of this key is READ",
    ],
    ["SECRET", { scope: "CONTACTS" }, "sending needs the scope SEND"],
    ["SMTP", { scope: "SEND", ipRanges: ["192.0.2.0/24", "::1"] }, "this key may not be used from"],
    ["SECRET", { ipRanges: ["192.0.2.0/24"] }, "the address 127.0.0.1"],
  ];
  test.each(refused)("refuses a key of the kind %s with %j", async (kind, limits, reason) => {
    const reply = await authReply(kind, limits);
    expect(reply).toStartWith("535 5.7.8 Authentication failed: ");
    expect(reply).toContain(reason);
  });
});

describe("the From of a message", () => {
  const cases: [from: string, start: string][] = [
    ["a@acme.test", "250 "],
    ['"a@other.test" <a@ACME.test>', "250 "],
    ["a@other.test", "550 5.7.1 This key may send only from acme.test"],
    ["a@sub.acme.test", "550 5.7.1 This key may send only from acme.test"],
    ["<a@acme.test>, <a@other.test>", "550 5.1.7 "],
  ];
  test.each(cases)("%s is answered with %s if the key is bound", async (from, start) => {
    const { text } = await createdKey("SMTP", { scope: "SEND", domains: ["acme.test"] });
    const client = await server.signIn(text);
    expect(await sendRaw(client, `From: ${from}\r\n\r\nHi`)).toStartWith(start);
    client.end();
  });

  test("is checked if the message is composed again", async () => {
    const { text } = await createdKey("SMTP", { scope: "SEND", domains: ["acme.test"] });
    const client = await server.signIn(text);
    const fields = "From: a@other.test\r\nX-Mailstead-Tracking: on";
    expect(await sendRaw(client, `${fields}\r\n\r\nHi`)).toStartWith("550 5.7.1 This key may");
    client.end();
  });
});

test("each submitted message is counted as a use of the key", async () => {
  const { text, key } = await createdKey("SMTP", { scope: "SEND" });
  const client = await server.signIn(text);
  for (let n = 0; n < 2; n++) await sendRaw(client, "From: a@acme.test\r\n\r\nHi");
  client.end();
  await keyNoun.flush?.(server.app.app);
  const stored = server.db.sqlite
    .query<{ uses: string; last_used_at: number }, [string]>(
      "SELECT uses, last_used_at FROM api_keys WHERE id = ?",
    )
    .get(key.id);
  expect(Object.values(Object(JSON.parse(stored?.uses ?? "{}")))).toEqual([2]);
  expect(stored?.last_used_at).toBe(server.clock.now());
});
