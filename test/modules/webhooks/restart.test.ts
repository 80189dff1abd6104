/**
 * A process that dies at any moment leaves a database behind: a copy made at that moment is what the
 * next process finds.
 */

import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../../src/db/open.ts";
import type { TestApp } from "../../support/app.ts";
import { manualClock } from "../../support/clock.ts";
import { eventually, quiet } from "../../support/eventually.ts";
import {
  arrived,
  closeAll,
  hookedApp,
  MINUTE,
  receiver,
  startHooked,
  verified,
  watching,
} from "./hooked.ts";

const folders: string[] = [];

afterEach(async () => {
  await closeAll();
  for (const each of folders.splice(0)) rmSync(each, { recursive: true, force: true });
});

/**
 * An application on what `t` would leave behind if it died now. It is not started. Its clock is its
 * own: for `t` time stands still.
 */
async function afterCrash({ db, clock }: TestApp) {
  const copy = mkdtempSync(join(tmpdir(), "mailstead-test-"));
  folders.push(copy);
  const file = join(copy, "copy.db");
  db.sqlite.run("VACUUM INTO ?", [file]);
  const t = await hookedApp({ db: openDatabase(file), clock: manualClock(clock.now()) });
  return { t, ...watching(t) };
}

test("what was on its way is sent again, with the same id and a good signature", async () => {
  const before = await startHooked({ events: ["a"], answer: () => ({ write: () => {} }) });
  const { t, server, secret, track } = before;
  await track("a");
  await eventually(() => server.requests.length === 1);
  const after = await afterCrash(t);
  server.answer = () => ({});
  await after.t.deliver();
  await after.tried(1);
  expect(server.requests.length).toBe(2);
  const [first, second] = server.requests;
  if (first === undefined || second === undefined) throw new Error("two requests");
  expect(second.headers["webhook-id"]).toBe(String(first.headers["webhook-id"]));
  expect(second.body).toBe(first.body);
  expect(verified(secret, second)).toMatchObject({ type: "a" });
  expect(after.rows()).toMatchObject([{ status: "SUCCEEDED", attempts: 1 }]);
  await server.close();
});

test("a stop waits a little for what is under way; it is due still", async () => {
  const hooked = await startHooked({ events: ["a"], answer: () => ({ write: () => {} }) });
  const { t, server, track, rows } = hooked;
  await track("a");
  await eventually(() => server.requests.length === 1);
  const startedAt = t.clock.now();
  let isStopped = false;
  const stopping = t.app.stop().then(() => (isStopped = true));
  await eventually(() => {
    t.clock.advance(100);
    return isStopped;
  });
  await stopping;
  expect(t.clock.now() - startedAt).toBeGreaterThanOrEqual(3_000);
  expect(rows()).toMatchObject([{ status: "PENDING", attempts: 0, nextAt: startedAt }]);
  await eventually(() => server.connections() === 0);
});

test("events that nobody had read yet are delivered, each once", async () => {
  const t = await hookedApp();
  const { track } = watching(t);
  const server = await receiver();
  await t.call("POST", "/webhooks", { url: server.origin, events: ["a", "b"] });
  // Not started: as if it had died between the answer and the next turn.
  for (const event of ["a", "x", "b", "a"]) await track(event);
  expect(t.countRows("webhook_deliveries")).toBe(0);
  const after = await afterCrash(t);
  await after.t.deliver();
  await after.settled(3);
  expect(arrived(server)).toEqual(["a", "b", "a"]);
  const again = await afterCrash(after.t);
  await again.t.deliver();
  await quiet();
  expect([again.rows().length, server.requests.length]).toEqual([3, 3]);
});

test("more events than one batch holds are all delivered", async () => {
  const t = await hookedApp();
  const { track } = watching(t);
  const server = await receiver();
  await t.call("POST", "/webhooks", { url: server.origin, events: ["a"] });
  for (let i = 0; i < 250; i++) await track("a", `person-${i % 50}@example.net`);
  const after = await afterCrash(t);
  await after.t.deliver();
  await after.settled(250);
  expect(server.requests.length).toBe(250);
});

test("retries, order and disabling are as they were", async () => {
  const { t, id, server, track, tried } = await startHooked({
    events: ["a", "b", "c"],
    answer: () => ({ status: 500 }),
  });
  await track("a");
  await track("b");
  await track("c", "bea@example.net");
  await tried(2);
  const after = await afterCrash(t);
  await after.t.deliver();
  await quiet();
  expect(after.tries()).toBe(2);
  server.requests.length = 0;
  server.answer = () => ({});
  after.t.clock.advance(MINUTE);
  await eventually(() => after.rows().every(({ status }) => status === "SUCCEEDED"));
  const order = arrived(server);
  expect(order.indexOf("a")).toBeLessThan(order.indexOf("b"));
  expect(order.length).toBe(3);
  await after.t.call("PATCH", `/webhooks/${id}`, { enabled: false });
  const later = await afterCrash(after.t);
  await later.t.deliver();
  await later.track("a");
  await quiet();
  expect(server.requests.length).toBe(3);
});
