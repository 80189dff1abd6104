/** The hold of the queue: nothing leaves until it is released, by a route or a command. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FetchGuarded } from "../../src/protocols/fetch-guarded/fetch-guarded.ts";
import { holdQueue, queueHold, releaseQueueFrom } from "../../src/outbox/queue-hold.ts";
import { type TestApp, testApp } from "../support/app.ts";
import { mailstead } from "../support/command-line.ts";
import { settleEventLoop, waitUntil } from "../support/eventually.ts";
import { migratedDatabase } from "../support/database.ts";
import { valueAt } from "../support/json.ts";
import { signIn } from "../support/session.ts";

const HOOK = { url: "https://hook.example/", name: "h", events: ["contact.subscribed"] };
const mail = { to: "ada@example.com", from: "a@acme.test", subject: "Hi", body: "<p>Hi</p>" };
const CAMPAIGN = {
  name: "News",
  subject: "News",
  body: "<p>News</p>",
  from: "a@acme.test",
  audienceType: "ALL",
};

let t: TestApp;
const called: string[] = [];
const fetchGuarded: FetchGuarded = async (url) => {
  called.push(url);
  return { status: 200, headers: new Headers(), body: new Uint8Array(), isTruncated: false };
};

beforeAll(async () => {
  const db = migratedDatabase();
  holdQueue(db, Date.UTC(2026, 2, 1));
  t = await testApp({ db, fetchGuarded, config: { transport: "capture" } });
});
afterAll(() => t.close());

test("nothing leaves while it lasts, and everything goes on after the release", async () => {
  await t.create("/webhooks", HOOK, "data.id");
  await t.create("/v1/send", { ...mail, subscribed: true }, "data.emails.0.email");
  const campaign = await t.create("/campaigns", CAMPAIGN, "data.id");
  await t.call("POST", `/campaigns/${campaign}/send`, {});
  await t.start();
  await settleEventLoop();
  await t.app.writer.drain();
  const statuses = () =>
    t.db.sqlite.query<{ status: string }, []>("SELECT status FROM emails").values().flat();
  expect([statuses(), called]).toEqual([["QUEUED"], []]);
  expect((await t.call("GET", "/readyz", undefined, { key: null })).body).toEqual({
    status: "ok",
    queue: "held",
  });
  const owner = await signIn(t);
  expect((await owner.get("/system")).at("data.queue")).toMatchObject({
    waiting: 1,
    heldSince: "2026-03-01T00:00:00.000Z",
    stalledSeconds: 0,
  });

  expect((await t.call("POST", "/system/queue/release", {})).status).toBe(403);
  expect((await owner.post("/system/queue/release")).status).toBe(204);
  await waitUntil(() => statuses().join() === "SENT,SENT" && called.length > 0);
  expect((await owner.get("/system")).at("data.queue.heldSince")).toBeNull();
});

test("a server notices what a command changed, and cancels old mail before it releases", async () => {
  const hold = queueHold(t.app.app);
  await t.app.writer.write(() => holdQueue(t.db, t.clock.now()));
  await hold.refresh();
  expect(hold.isHeld()).toBe(true);
  const old = await t.create("/v1/send", mail, "data.emails.0.email");
  t.clock.advance(7_200_000);
  const young = await t.create("/v1/send", mail, "data.emails.0.email");
  await t.app.writer.write(() => releaseQueueFrom(t.db, t.clock.now() - 3_600_000));
  await hold.refresh();
  expect(hold.isHeld()).toBe(false);
  await t.deliver();
  const statusOf = async (id: string) => (await t.call("GET", `/emails/${id}`)).at("data.status");
  expect([await statusOf(old), await statusOf(young)]).toEqual(["CANCELLED", "SENT"]);
});

test("the commands hold, list with ages, and release", async () => {
  const folder = mkdtempSync(join(tmpdir(), "queue-hold-"));
  const run = (...words: string[]) => mailstead([...words, "--json", "--data", folder]);
  await run("project", "create", "Shop");
  expect((await run("queue", "hold")).json).toMatchObject({
    heldSince: expect.stringMatching(/^20/),
    waiting: 0,
  });
  const listed = await run("queue", "list", "--limit", "5");
  expect([valueAt(listed.json, "waiting"), valueAt(listed.json, "emails")]).toEqual([0, []]);
  expect((await run("queue", "list", "--limit", "0")).stderr).toContain("--limit: expected");
  const cancel = (age: string) => run("queue", "release", "--cancel-older-than", age);
  expect((await cancel("2")).stderr).toContain("expected an age such as");
  expect((await cancel("2h")).json).toMatchObject({ cancelled: 0 });
  expect((await run("queue", "release")).json).toMatchObject({ released: true, waiting: 0 });
  expect((await cancel("2h")).stderr).toContain("the queue is not held");
  expect((await run("queue", "release")).json).toMatchObject({ released: false });
  rmSync(folder, { recursive: true });
});
