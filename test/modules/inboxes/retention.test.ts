/** The limit on the bytes of all captured messages. */

import { randomBytes } from "node:crypto";
import { beforeEach, expect, test } from "bun:test";
import { emptyInboxes, type InboxApp } from "../../support/inbox.ts";
import { listAt, stringAt } from "../../support/json.ts";

const MESSAGES = "/inboxes/default/messages";
/** Three of the messages fit. */
const LIMIT_BYTES = 100_000;
const TEXT_BYTES = 24_000;

const inboxes = emptyInboxes({ config: { captureMaxBytes: LIMIT_BYTES } });
let t: InboxApp;
beforeEach(async () => {
  t = await inboxes.next();
});

/** Hexadecimal digits of random bytes are compressed to about half of their length. */
const send = (subject: string) =>
  t.mail({ subject, text: randomBytes(TEXT_BYTES).toString("hex") });
const clean = () => t.app.recurring.find(({ name }) => name === "inbox retention")?.run();

async function subjects(): Promise<string[]> {
  const { body } = await t.call("GET", MESSAGES);
  return listAt(body, "data.items").map((item) => stringAt(item, "subject"));
}

async function sendAll(names: readonly string[]): Promise<void> {
  for (const name of names) await send(name);
  // A read waits until the messages are parsed, and only parsed ones are removed.
  await subjects();
}

test("the oldest messages beyond the limit are removed, in later runs as well", async () => {
  await sendAll(["1", "2"]);
  await clean();
  expect(await subjects()).toEqual(["2", "1"]);
  await sendAll(["3", "4", "5"]);
  await clean();
  expect(await subjects()).toEqual(["5", "4", "3"]);
  await sendAll(["6"]);
  await clean();
  expect(await subjects()).toEqual(["6", "5", "4"]);
});

test("messages that a user removed make room", async () => {
  await sendAll(["1", "2", "3"]);
  await clean();
  await t.call("DELETE", MESSAGES, { query: "subject:1" });
  await sendAll(["4"]);
  await clean();
  expect(await subjects()).toEqual(["4", "3", "2"]);
});

test("a flood into one inbox leaves the messages of the others", async () => {
  await sendAll(["1"]);
  await t.createInbox("flooded");
  const auth = { user: "flooded", pass: "any" };
  for (const subject of ["a", "b", "c", "d", "e"]) {
    await t.mail({ subject, text: randomBytes(TEXT_BYTES).toString("hex") }, auth);
  }
  await t.inboxes.indexer.caughtUp();
  await clean();
  const { body } = await t.call("GET", "/inboxes/flooded/messages");
  const left = listAt(body, "data.items").map((item) => stringAt(item, "subject"));
  expect([await subjects(), left]).toEqual([["1"], ["e", "d"]]);
});

test("an inbox whose messages are pinned does not keep others from losing theirs", async () => {
  await sendAll(["1", "2", "3"]);
  const { body } = await t.call("GET", MESSAGES);
  for (const item of listAt(body, "data.items")) {
    await t.call("PATCH", `${MESSAGES}/${stringAt(item, "id")}`, { pinned: true });
  }
  await t.createInbox("other");
  await t.mail({ text: randomBytes(TEXT_BYTES).toString("hex") }, { user: "other", pass: "any" });
  await t.inboxes.indexer.caughtUp();
  await clean();
  const others = await t.call("GET", "/inboxes/other/messages");
  expect([await subjects(), listAt(others.body, "data.items")]).toEqual([["3", "2", "1"], []]);
});
