/** A full disk: SMTP answers 452, and nothing is listed. When space is free, mail is accepted again. */

import { afterEach, beforeEach, expect, test } from "bun:test";
import { type InboxApp, inboxApp } from "../support/inbox.ts";
import { sendRaw } from "../support/smtp-client.ts";

let t: InboxApp;
beforeEach(async () => {
  t = await inboxApp();
  await t.call("GET", "/inboxes/default");
});
afterEach(() => t.close());

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
