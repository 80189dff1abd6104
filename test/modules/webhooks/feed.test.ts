import { afterEach, expect, spyOn, test } from "bun:test";
import { createLog } from "../../../src/lib/log.ts";
import { webhookDispatcher } from "../../../src/modules/webhooks/dispatcher.ts";
import { webhookFeed } from "../../../src/modules/webhooks/feed.ts";
import { webhookLog } from "../../../src/modules/webhooks/webhooks.ts";
import { waitUntil, settleEventLoop } from "../../support/eventually.ts";
import { closeAll, webhookApp, SECOND, observe } from "./setup.ts";

afterEach(closeAll);

/** Creates a feed on the database of an application that is not started. */
async function setUp(fail: () => boolean = () => false) {
  const t = await webhookApp();
  const { db } = t;
  const lines: string[] = [];
  const found: number[] = [];
  const app = {
    ...t.app.app,
    log: createLog({ level: "warn", format: "json", write: (line) => lines.push(line) }),
  };
  db.sqlite.function("fails", () => (fail() ? 1 : 0));
  db.sqlite.run(`CREATE TEMP TRIGGER failing BEFORE INSERT ON webhook_deliveries WHEN fails()
                 BEGIN SELECT RAISE(ABORT, 'no'); END`);
  spyOn(webhookDispatcher(app), "wake").mockImplementation((seqs) => void found.push(...seqs));
  const [feed, reader] = [webhookFeed(app), webhookLog(app)];
  const listenTo = (event: string) =>
    t.create("/webhooks", { url: "https://a.test/", events: [event] }, "data.id");
  return { t, feed, reader, lines, found, listenTo, ...observe(t) };
}

test("skips events that no webhook needs without a write, and stores the position later", async () => {
  const { feed, reader, listenTo, track, rows, found } = await setUp();
  await listenTo("x");
  for (let i = 0; i < 450; i++) await track("a");
  feed.start();
  await settleEventLoop();
  expect(reader.place()).toBe(0);
  await feed.advancePosition();
  expect(reader.place()).toBe(451);
  await track("x");
  await feed.advancePosition();
  await feed.stop();
  expect([rows().length, found]).toEqual([0, []]);
  feed.start();
  await waitUntil(() => rows().length === 1);
  await waitUntil(() => found.length === 1);
  expect(reader.place()).toBe(452);
  await feed.stop();
});

test("skips the log while no webhook exists, and stores its position when it stops", async () => {
  const { feed, reader, listenTo, track } = await setUp();
  await track("a");
  feed.start();
  await feed.advancePosition();
  expect(reader.place()).toBe(2);
  await listenTo("x");
  await track("a");
  await feed.stop();
  feed.start();
  await settleEventLoop();
  expect(reader.place()).toBe(2);
  await feed.stop();
  expect(reader.place()).toBe(3);
});

test("repeats a failed slice as a whole after a pause", async () => {
  let failures = 2;
  const calls: number[] = [];
  const { t, feed, reader, listenTo, track, rows, lines } = await setUp(() => {
    calls.push(1);
    return calls.length > 1 && failures-- > 0;
  });
  await listenTo("x");
  for (const email of ["a@b.example", "b@b.example", "c@b.example"]) await track("x", email);
  feed.start();
  for (const count of [1, 2]) {
    await waitUntil(() => lines.length === count);
    await settleEventLoop();
    expect([rows().length, reader.place(), lines.length]).toEqual([0, 0, count]);
    t.clock.advance(SECOND);
    if (count === 1) calls.length = 1;
  }
  await waitUntil(() => rows().length === 3);
  expect(lines[0]).toContain("events could not be read for webhooks");
  await feed.stop();
});
