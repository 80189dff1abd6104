/** Deliveries after a crash. A copy of the database stands for the state that a crash leaves. */

import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../../src/db/open.ts";
import type { TestApp } from "../../support/app.ts";
import { manualClock } from "../../support/clock.ts";
import { waitUntil, settleEventLoop } from "../../support/eventually.ts";
import {
  receivedTypes,
  closeAll,
  webhookApp,
  MINUTE,
  startReceiver,
  startWebhook,
  verifiedBody,
  observe,
} from "./setup.ts";

const folders: string[] = [];

afterEach(async () => {
  await closeAll();
  for (const each of folders.splice(0)) rmSync(each, { recursive: true, force: true });
});

/** Creates an application on a copy of the database, with its own clock. It is not started. */
async function afterCrash({ db, clock }: TestApp) {
  const copy = mkdtempSync(join(tmpdir(), "mailstead-test-"));
  folders.push(copy);
  const file = join(copy, "copy.db");
  db.sqlite.run("VACUUM INTO ?", [file]);
  const t = await webhookApp({ db: openDatabase(file), clock: manualClock(clock.now()) });
  return { t, ...observe(t) };
}

test("a delivery under way is sent again with the same id and a valid signature", async () => {
  const before = await startWebhook({ events: ["a"], answer: () => ({ write: () => {} }) });
  const { t, server, secret, track } = before;
  await track("a");
  await waitUntil(() => server.requests.length === 1);
  const after = await afterCrash(t);
  server.answer = () => ({});
  await after.t.deliver();
  await after.attempted(1);
  expect(server.requests.length).toBe(2);
  const [first, second] = server.requests;
  if (first === undefined || second === undefined) throw new Error("two requests");
  expect(second.headers["webhook-id"]).toBe(String(first.headers["webhook-id"]));
  expect(second.body).toBe(first.body);
  expect(verifiedBody(secret, second)).toMatchObject({ type: "a" });
  expect(after.rows()).toMatchObject([{ status: "SUCCEEDED", attempts: 1 }]);
  await server.close();
});

test("a stop waits a few seconds for a delivery under way, which is still due afterwards", async () => {
  const started = await startWebhook({ events: ["a"], answer: () => ({ write: () => {} }) });
  const { t, server, track, rows } = started;
  await track("a");
  await waitUntil(() => server.requests.length === 1);
  const startedAt = t.clock.now();
  let isStopped = false;
  const stopping = t.app.stop().then(() => (isStopped = true));
  await waitUntil(() => {
    t.clock.advance(100);
    return isStopped;
  });
  await stopping;
  expect(t.clock.now() - startedAt).toBeGreaterThanOrEqual(3_000);
  expect(rows()).toMatchObject([{ status: "PENDING", attempts: 0, nextAt: startedAt }]);
  await waitUntil(() => server.connections() === 0);
});

test("events that were not read before the crash are delivered once", async () => {
  const t = await webhookApp();
  const { track } = observe(t);
  const server = await startReceiver();
  await t.call("POST", "/webhooks", { url: server.origin, events: ["a", "b"] });
  // The application is not started, as if it crashed right after its responses.
  for (const event of ["a", "x", "b", "a"]) await track(event);
  expect(t.countRows("webhook_deliveries")).toBe(0);
  const after = await afterCrash(t);
  await after.t.deliver();
  await after.settled(3);
  expect(receivedTypes(server)).toEqual(["a", "b", "a"]);
  const again = await afterCrash(after.t);
  await again.t.deliver();
  await settleEventLoop();
  expect([again.rows().length, server.requests.length]).toEqual([3, 3]);
});

test("more events than one batch are all delivered", async () => {
  const t = await webhookApp();
  const { track } = observe(t);
  const server = await startReceiver();
  await t.call("POST", "/webhooks", { url: server.origin, events: ["a"] });
  for (let i = 0; i < 250; i++) await track("a", `person-${i % 50}@example.net`);
  const after = await afterCrash(t);
  await after.t.deliver();
  await after.settled(250);
  expect(server.requests.length).toBe(250);
});

test("retries, order and disabled webhooks survive a crash", async () => {
  const { t, id, server, track, attempted } = await startWebhook({
    events: ["a", "b", "c"],
    answer: () => ({ status: 500 }),
  });
  await track("a");
  await track("b");
  await track("c", "bea@example.net");
  await attempted(2);
  const after = await afterCrash(t);
  await after.t.deliver();
  await settleEventLoop();
  expect(after.totalAttempts()).toBe(2);
  server.requests.length = 0;
  server.answer = () => ({});
  after.t.clock.advance(MINUTE);
  await waitUntil(() => after.rows().every(({ status }) => status === "SUCCEEDED"));
  const order = receivedTypes(server);
  expect(order.indexOf("a")).toBeLessThan(order.indexOf("b"));
  expect(order.length).toBe(3);
  await after.t.call("PATCH", `/webhooks/${id}`, { enabled: false });
  const later = await afterCrash(after.t);
  await later.t.deliver();
  await later.track("a");
  await settleEventLoop();
  expect(server.requests.length).toBe(3);
});
