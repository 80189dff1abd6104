/** Submitted messages in the database: signatures, retention, deleted contacts, a restart. */

import { afterEach, describe, expect, test } from "bun:test";
import { simpleParser } from "mailparser";
import { EMAIL_INVARIANTS } from "../../../src/outbox/invariants.ts";
import { findWrongUsage } from "../../../src/db/usage-recount.ts";
import { addDomain } from "../../support/app.ts";
import { waitUntil } from "../../support/eventually.ts";
import { sendRaw } from "../../support/smtp-client.ts";
import { submissionApp } from "../../support/submission.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function start() {
  const server = await submissionApp();
  closers.push(server.close);
  return {
    ...server,
    async submit(message: string, to: string[]): Promise<string> {
      const client = await server.signIn();
      const reply = await sendRaw(client, message, { to });
      client.end();
      if (!reply.startsWith("250 ")) throw new Error(reply);
      return reply.slice(-36);
    },
    /** The violations that the rules and the counters find. */
    findings: () => [
      ...EMAIL_INVARIANTS.flatMap(({ violations }) => server.db.sqlite.query(violations).all()),
      ...findWrongUsage(server.db.sqlite),
    ],
  };
}

describe("a submitted message", () => {
  test("is signed with the keys of the domain of From", async () => {
    const server = await start();
    await addDomain(server.app, server.project.seq, "signed.test");
    await server.submit("From: a@signed.test\r\nSubject: S\r\n\r\nHi", ["b@example.com"]);
    const [raw = ""] = await server.sent(1);
    const mail = await simpleParser(raw);
    expect(mail.headers.get("dkim-signature")).toMatchObject([{ value: "v=1" }, { value: "v=1" }]);
    expect(raw).toMatch(
      /^DKIM-Signature: [^]*\r\nFrom: a@signed\.test\r\nSubject: S\r\n\r\nHi\r\n$/,
    );
  });

  test("is purged with the other bodies, and its record stays", async () => {
    const server = await start();
    const id = await server.submit("From: a@acme.test\r\nSubject: S\r\n\r\nHi", ["b@example.com"]);
    await server.sent(1);
    expect(server.findings()).toEqual([]);
    server.clock.advance(91 * 24 * 3_600_000);
    const retention = server.app.recurring.find(({ name }) => name === "retention");
    // Each run is one step of a few milliseconds, which may not reach the message.
    for (let step = 0; step < 50 && server.countRows("message_pieces") > 0; step++) {
      await retention?.run();
    }
    expect(server.countRows("message_pieces")).toBe(0);
    expect(server.findings()).toEqual([]);
    const record = await server.call("GET", `/emails/${id}`);
    expect(record.at("data.subject")).toBe("S");
  });

  test("is removed with its only contact, and stays for others", async () => {
    const server = await start();
    const removeContact = async (email: string) => {
      const page = await server.call("GET", `/contacts?search=${email}`);
      await server.call("DELETE", `/contacts/${page.text("items.0.id")}`);
    };
    await server.submit("From: a@acme.test\r\n\r\nHi", ["b@example.com", "c@example.com"]);
    await server.sent(2);
    await removeContact("b@example.com");
    expect(server.countRows("message_pieces")).toBe(1);
    await removeContact("c@example.com");
    expect(server.countRows("message_pieces")).toBe(0);
    expect(server.findings()).toEqual([]);
  });

  for (const [name, lines] of [
    ["a small message", 600],
    ["a message of several pieces", 40_000],
  ] as const) {
    test(`is refused with 452 while the disk is full, and taken afterwards: ${name}`, async () => {
      const server = await start();
      const client = await server.signIn();
      const line = () => `${crypto.randomUUID()}${crypto.randomUUID()}\r\n`;
      const body = Array.from({ length: lines }, line).join("");
      server.db.sqlite.run("PRAGMA max_page_count = 1");
      const refused = await sendRaw(client, `From: a@acme.test\r\n\r\n${body}`);
      expect(refused).toStartWith("452 4.3.1 ");
      server.db.sqlite.run("PRAGMA max_page_count = 1000000");
      expect(server.countRows("messages") + server.countRows("emails")).toBe(0);
      expect(await sendRaw(client, `From: a@acme.test\r\n\r\n${body}`)).toStartWith("250 ");
      client.end();
    });
  }

  test("that had not arrived completely is removed at the next start", async () => {
    const server = await start();
    const client = await server.signIn();
    for (const line of ["MAIL FROM:<a@acme.test>", "RCPT TO:<b@example.com>", "DATA"]) {
      await client.say(`${line}\r\n`);
    }
    client.write(`From: a@acme.test\r\n\r\n${"a line\r\n".repeat(400_000)}`);
    await waitUntil(() => server.countRows("message_pieces") > 0);
    expect(server.countRows("messages")).toBe(1);
    const submission = server.app.modules.find(({ name }) => name === "submission");
    await submission?.start?.();
    expect(server.countRows("messages") + server.countRows("message_pieces")).toBe(0);
    client.end();
  });
});
