/** A full disk: SMTP answers 452, and nothing is listed. When space is free, mail is accepted again. */

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { STORAGE_PAUSE_MS } from "../../src/db/write-result.ts";
import { settleEventLoop, waitUntil } from "../support/eventually.ts";
import { type InboxApp, inboxApp } from "../support/inbox.ts";
import { sendRaw } from "../support/smtp-client.ts";

let t: InboxApp;
beforeAll(async () => {
  t = await inboxApp();
});
/** Begins with an empty default inbox, and without free pages that messages could fill. */
beforeEach(async () => {
  await t.call("DELETE", "/inboxes/default");
  await t.call("GET", "/inboxes/default");
  t.db.sqlite.run("VACUUM");
});
afterAll(() => t.close());

const fill = () => void t.db.sqlite.run("PRAGMA max_page_count = 1");
const freeSpace = () => void t.db.sqlite.run("PRAGMA max_page_count = 1000000");
const total = async () => (await t.call("GET", "/inboxes/default/messages")).at("data.total");

const random = (bytes: number) => {
  const content = Buffer.from(crypto.getRandomValues(new Uint8Array(bytes / 2))).toString("hex");
  return content.replaceAll(/.{64}/g, "$&\r\n");
};

const messages: [name: string, message: string][] = [
  ["a small message", `Subject: x\r\n\r\n${random(40_000)}`],
  [
    "a message of several pieces",
    `Subject: x\r\n\r\n${Array.from({ length: 40 }, () => random(60_000)).join("")}`,
  ],
];

for (const [name, message] of messages) {
  test(`${name} is refused with 452 and not listed; the session goes on`, async () => {
    const client = await t.connect();
    fill();
    expect(await sendRaw(client, message)).toMatch(/^452 4\.3\.1 /);
    expect(await total()).toBe(0);
    freeSpace();
    expect(await sendRaw(client, message)).toMatch(/^250 2\.0\.0 /);
    expect(await total()).toBe(1);
    client.end();
    expect(t.countRows("inbox_messages")).toBe(1);
  });
}

test("a rule that cannot be counted refuses with 452 instead of firing", async () => {
  const rule = { stage: "mail", action: { reply: "550 5.0.0 no" }, times: 1 };
  const id = await t.create("/inboxes/default/rules", rule, "data.id");
  const client = await t.connect();
  fill();
  // An update of an existing page needs no new one, so the rule may still fire.
  expect(await client.say("MAIL FROM:<a@example.com>\r\n")).toMatch(
    /^(?:452 4\.3\.1|550 5\.0\.0) /,
  );
  freeSpace();
  expect((await t.call("DELETE", `/inboxes/default/rules/${id}`)).status).toBe(204);
  client.end();
});

test("a setting of a message that cannot be stored is 503, and stays as it was", async () => {
  await t.mail();
  const path = "/inboxes/default/messages/latest";
  const tags = Array.from({ length: 50 }, (_, i) => `${i}`.padEnd(100, "x"));
  await t.caught();
  fill();
  const answer = await t.call("PATCH", path, { tags });
  freeSpace();
  expect(answer.status).toBe(503);
  expect((await t.call("GET", path)).at("data.tags")).toEqual([]);
});

test("a message that could not be indexed is indexed when space is free", async () => {
  const client = await t.connect();
  expect(await sendRaw(client, `Subject: kept\r\n\r\n${random(40_000)}`)).toMatch(/^250 /);
  // The thread has not parsed it yet.
  fill();
  expect((await t.call("GET", "/inboxes/default/messages")).at("data.items.0.subject")).toBe("");
  freeSpace();
  await settleEventLoop();
  t.clock.advance(STORAGE_PAUSE_MS);
  const [message] = await t.caught();
  await waitUntil(() => t.inboxes.store.bySeq(message?.seq ?? 0)?.state === "PARSED");
  expect((await t.call("GET", "/inboxes/default/messages")).at("data.items.0.subject")).toBe(
    "kept",
  );
  client.end();
});

test("a message whose index cannot be stored does not keep others out of the lists", async () => {
  t.db.sqlite.run(`CREATE TRIGGER refuse BEFORE INSERT ON inbox_texts WHEN new.subject = 'faulty'
    BEGIN SELECT RAISE(ABORT, 'refused'); END`);
  const [first, second] = [await t.connect(), await t.connect()];
  // A message with this field is parsed after it was answered.
  await Promise.all([
    sendRaw(first, "X-Tags: a\r\nSubject: faulty\r\n\r\nx"),
    sendRaw(second, "X-Tags: a\r\nSubject: good\r\n\r\nx"),
  ]);
  const states = (await t.caught()).map(({ subject, state }) => `${state} ${subject}`);
  expect(states.toSorted()).toEqual(["PARSED good", "UNREADABLE "]);
  const replies = await Promise.all([
    sendRaw(first, "Subject: faulty\r\n\r\nx"),
    sendRaw(second, "Subject: good\r\n\r\nx"),
  ]);
  expect(replies.map((reply) => reply.slice(0, 3))).toEqual(["452", "250"]);
  for (const client of [first, second]) client.end();
  t.db.sqlite.run("DROP TRIGGER refuse");
});
