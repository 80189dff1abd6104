/** The number of messages that an inbox keeps: no read finds more. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type InboxApp, inboxApp } from "../../support/inbox.ts";
import { listAt, stringAt, valueAt } from "../../support/json.ts";
import { sendRaw } from "../../support/smtp-client.ts";

const LIMIT = 3;
const MESSAGES = "/inboxes/default/messages";
/** A message with this field is parsed after it was answered. */
const PARSED_LATER = "X-Tags: a\r\n";

let t: InboxApp;
beforeAll(async () => {
  t = await inboxApp({ config: { captureMaxMessages: LIMIT } });
});
afterAll(() => t.close());

async function sendAll(subjects: readonly string[], fields = ""): Promise<void> {
  const client = await t.connect();
  for (const subject of subjects) {
    expect(await sendRaw(client, `${fields}Subject: ${subject}\r\n\r\nx`)).toMatch(/^250 /);
  }
  client.end();
}

async function read(): Promise<unknown[]> {
  const { body } = await t.call("GET", MESSAGES);
  const subjects = listAt(body, "data.items").map((item) => stringAt(item, "subject"));
  return [valueAt(body, "data.total"), ...subjects];
}

test("a read finds the newest messages, and no more, right after they were sent", async () => {
  await sendAll(["1", "2", "3", "4"]);
  expect(await read()).toEqual([3, "4", "3", "2"]);
  await sendAll(["5", "6"], PARSED_LATER);
  expect(await read()).toEqual([3, "6", "5", "4"]);
  expect([t.countRows("inbox_raw"), t.countRows("inbox_texts")]).toEqual([3, 3]);
});

test("messages that arrive together remove as many, and clients are told of each", async () => {
  await read();
  const before = t.inboxes.changes.latest();
  await Promise.all(["a", "b", "c", "d", "e"].map((subject) => sendAll([subject])));
  const [total, ...subjects] = await read();
  expect([total, subjects.length]).toEqual([3, 3]);
  const inboxSeq = (await t.caught())[0]?.inboxSeq ?? 0;
  const events = t.inboxes.changes.since(inboxSeq, before)?.map(({ change }) => change) ?? [];
  const added = events.flatMap((each) => (each.type === "message" ? [each.message.id] : []));
  const removed = events.flatMap((each) => (each.type === "deleted" ? [each.id] : []));
  expect([added.length, removed.length]).toEqual([5, 5]);
  // Each is told to be removed after it was told to be there.
  const places = removed
    .filter((id) => added.includes(id))
    .map((id) => ({
      added: events.findIndex((each) => each.type === "message" && each.message.id === id),
      removed: events.findIndex((each) => each.type === "deleted" && each.id === id),
    }));
  expect(places.length).toBe(2);
  expect(places.every((place) => place.added < place.removed)).toBe(true);
});

test("a pinned message stays beside them", async () => {
  const [newest] = await t.caught();
  await t.call("PATCH", `${MESSAGES}/${newest?.id ?? ""}`, { pinned: true });
  await sendAll(["7", "8", "9", "10"]);
  expect(await read()).toEqual([4, "10", "9", "8", newest?.subject ?? ""]);
});

test("messages beyond the number are removed together, or before a read", async () => {
  const larger = await inboxApp({ config: { captureMaxMessages: 30 } });
  const client = await larger.connect();
  const send = async (messages: number): Promise<number> => {
    for (let i = 0; i < messages; i++) await sendRaw(client, "Subject: x\r\n\r\nx");
    return larger.countRows("inbox_messages");
  };
  const total = async () => valueAt((await larger.call("GET", MESSAGES)).body, "data.total");
  expect([await send(32), await send(3), await send(1)]).toEqual([30, 33, 30]);
  expect([await send(2), await total()]).toEqual([32, 30]);
  // While an inbox is read, it has no more at any time.
  expect([await send(1), await send(1)]).toEqual([30, 30]);
  larger.clock.advance(15_000);
  expect(await send(3)).toBe(33);
  const unsubscribe = larger.inboxes.changes.subscribe(1, () => {});
  expect(await send(1)).toBe(30);
  unsubscribe();
  client.end();
  await larger.close();
});
