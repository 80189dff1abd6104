/** The share of the storage quota that strangers fill with mail to inbound routes. */

import { afterEach, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { findWrongUsage } from "../../../src/db/usage-recount.ts";
import type { TestOptions } from "../../support/app.ts";
import { listAt, stringAt, valueAt } from "../../support/json.ts";
import { expectError } from "../../support/refusal.ts";
import { ACCEPTED } from "../../support/transport.ts";
import { type InboundApp, inboundApp, mail } from "./inbound-app.ts";

const MIB = 1024 * 1024;
const TO = "support@in.acme.test";
const FULL = "452 4.3.1 A quota of the recipient is reached, try again later";
const OWN = { to: "ada@example.com", from: "a@acme.test", subject: "Hi", body: "<p>Hi</p>" };
const HEAD = ["From: a@example.net", "Subject: Question"];

let t: InboundApp;
afterEach(() => t.close());

async function open(options: TestOptions, forward?: string): Promise<void> {
  t = await inboundApp(options);
  await t.start();
  await t.route(TO, forward);
}

/** Sends a message of about 100 KB that compression does not make smaller. */
const receive = async () => {
  const text = randomBytes(100_000).toString("base64").replace(/.{76}/g, "$&\n");
  return (await t.submit(mail(HEAD, text), { to: [TO] })).dot;
};
const send = async () => (await t.call("POST", "/v1/send", OWN)).status;
const addBytes = (bytes: number) =>
  t.db.sqlite.run("UPDATE project_usage SET stored_bytes = stored_bytes + ?", [bytes]);

describe("received mail", () => {
  test("arrives when the project itself has used up its quota", async () => {
    await open({ config: { quotaStorage: 1 } });
    addBytes(2 * MIB);
    expect(await send()).toBe(409);
    expect(await receive()).toStartWith("250 ");
    expect(await send()).toBe(409);
  });

  test("fills its own share, then is put off", async () => {
    await open({ config: { quotaStorage: 1 } });
    const answers: string[] = [];
    while (answers.at(-1) !== FULL) answers.push(await receive());
    expect(answers.length).toBeWithin(3, 6);
    expect(await send()).toBe(200);
    expect(findWrongUsage(t.db.sqlite)).toEqual([]);
  });

  test("that is deleted makes room", async () => {
    await open({ config: { quotaStorage: 1 } });
    while ((await receive()) !== FULL);
    const listed = listAt((await t.call("GET", "/received-mails")).body, "data.items");
    for (const each of listed) {
      const path = `/received-mails/${stringAt(each, "id")}`;
      expect((await t.call("DELETE", path)).status).toBe(204);
      expectError(await t.call("GET", path), { status: 404, code: "RECEIVED_MAIL_NOT_FOUND" });
      expectError(await t.call("DELETE", path), { status: 404, code: "RECEIVED_MAIL_NOT_FOUND" });
    }
    expect(t.countRows("received_pieces")).toBe(0);
    expect(t.received()[0]).toMatchObject({ subject: "Question", text: "", isShortened: true });
    expect(findWrongUsage(t.db.sqlite)).toEqual([]);
    expect(await receive()).toStartWith("250 ");
  });

  test("counts the texts of its event, which may be larger than the message", async () => {
    await open({ config: { quotaStorage: 1 } });
    const text = "x".repeat(70).concat("\n").repeat(1_000);
    const lines = [...HEAD, "Content-Type: text/html"];
    const submit = async () => (await t.submit(mail(lines, text), { to: [TO] })).dot;
    for (let i = 0; i < 4; i++) expect(await submit()).toStartWith("250 ");
    expect(await submit()).toBe(FULL);
    expect(await send()).toBe(200);
  });

  test("of several MiB is put off while it arrives, and leaves nothing", async () => {
    await open({ config: { quotaStorage: 4 } });
    const text = randomBytes(3 * MIB)
      .toString("base64")
      .replace(/.{76}/g, "$&\n");
    expect((await t.submit(mail(HEAD, text), { to: [TO] })).dot).toBe(FULL);
    expect([t.countRows("received_mails"), t.countRows("received_pieces")]).toEqual([0, 0]);
    expect(findWrongUsage(t.db.sqlite)).toEqual([]);
  });
});

describe("forwarded mail leaves a tenth to the project", () => {
  test("of the queue", async () => {
    await open({ config: { quotaQueuedMails: 10 } }, "b@example.org");
    t.transport.answer = null;
    t.db.sqlite.run("UPDATE project_usage SET queued_mails = 8");
    const submit = async () => (await t.submit(mail(HEAD), { to: [TO] })).dot;
    expect(await submit()).toStartWith("250 ");
    expect(await submit()).toBe(FULL);
    expect([await send(), await send()]).toEqual([200, 429]);
    for (const each of t.transport.open()) each.end(ACCEPTED);
  });

  test("of the storage", async () => {
    await open({ config: { quotaStorage: 10 } }, "b@example.org");
    addBytes(9.1 * MIB);
    expect((await t.submit(mail(HEAD), { to: [TO] })).dot).toBe(FULL);
    expect(await send()).toBe(200);
    expect(t.countRows("received_mails")).toBe(0);
  });
});

test("deleting a received mail needs an editor, and is in the audit log", async () => {
  await open({});
  await receive();
  const [first] = listAt((await t.call("GET", "/received-mails")).body, "data.items");
  const path = `/received-mails/${stringAt(first, "id")}`;
  const other = await t.makeProject("other");
  expect((await t.call("DELETE", path, undefined, { key: other.secretKey })).status).toBe(404);
  expect((await t.call("DELETE", path)).status).toBe(204);
  const row = t.db.sqlite
    .query("SELECT action, object_type, object_id FROM audit ORDER BY seq DESC LIMIT 1")
    .get();
  expect(Object.values(row ?? {})).toEqual([
    "deleteReceivedMail",
    "received-mail",
    valueAt(first, "id"),
  ]);
});

test("after 30 days the event keeps what was said about the mail, without its texts", async () => {
  await open({});
  await t.submit(mail(HEAD, "a text"), { to: [TO] });
  expect(t.received()[0]).toMatchObject({ text: "a text\n", isShortened: false });
  t.clock.advance(31 * 24 * 60 * 60_000);
  await t.app.recurring.find(({ name }) => name === "received mails")?.run();
  expect(t.received()[0]).toMatchObject({ subject: "Question", text: "", isShortened: true });
});

test("a project that keeps received mails for a shorter time removes none of another", async () => {
  await open({});
  await t.makeProject("other");
  for (let i = 0; i < 7; i++) await t.submit(mail(HEAD, `text ${i}`), { to: [TO] });
  t.db.sqlite.run("UPDATE received_mails SET project_seq = 2 WHERE seq <= 2");
  t.db.sqlite.run("UPDATE projects SET retain_received = 5 WHERE seq = 1");
  const left = async (days: number) => {
    t.clock.advance(days * 24 * 60 * 60_000);
    await t.app.recurring.find(({ name }) => name === "received mails")?.run();
    return t.countRows("received_mails");
  };
  expect([await left(4), await left(2), await left(25)]).toEqual([7, 2, 0]);
});
