import { afterEach, expect, test } from "bun:test";
import { createLog } from "../../../src/lib/log.ts";
import { createReader } from "../../../src/modules/events/reader.ts";
import { createFeed } from "../../../src/modules/webhooks/feed.ts";
import { createRoster } from "../../../src/modules/webhooks/roster.ts";
import { createDeliveryRows } from "../../../src/modules/webhooks/rows.ts";
import { eventually, quiet } from "../../support/eventually.ts";
import { closeAll, hookedApp, SECOND, watching } from "./hooked.ts";

afterEach(closeAll);

/** A feed on the database of an application that does not run itself. */
async function setUp(fail: () => boolean = () => false) {
  const t = await hookedApp();
  const { db, clock } = t;
  const reader = createReader({ db, name: "webhooks" });
  const rows = createDeliveryRows(db);
  const lines: string[] = [];
  const found: number[] = [];
  const feed = createFeed({
    reader,
    roster: createRoster(db),
    rows: {
      add: (delivery) => {
        if (fail()) throw new Error("no");
        rows.add(delivery);
      },
    },
    writer: t.app.writer,
    clock,
    log: createLog({ level: "warn", format: "json", write: (line) => lines.push(line) }),
    onRows: (seqs) => found.push(...seqs),
  });
  const listenTo = (event: string) =>
    t.create("/webhooks", { url: "https://a.test/", events: [event] }, "data.id");
  return { t, feed, reader, lines, found, listenTo, ...watching(t) };
}

test("passes by what nobody listens to without a write; the stored place follows", async () => {
  const { feed, reader, listenTo, track, rows, found } = await setUp();
  await listenTo("x");
  for (let i = 0; i < 450; i++) await track("a");
  feed.start();
  await quiet();
  expect(reader.place()).toBe(0);
  await feed.keepUp();
  expect(reader.place()).toBe(451);
  await track("x");
  await feed.keepUp();
  await feed.stop();
  expect([rows().length, found]).toEqual([0, []]);
  feed.start();
  await eventually(() => rows().length === 1);
  await eventually(() => found.length === 1);
  expect(reader.place()).toBe(452);
  await feed.stop();
});

test("follows the log where there is no webhook at all, and stores its place when it stops", async () => {
  const { feed, reader, listenTo, track } = await setUp();
  await track("a");
  feed.start();
  await feed.keepUp();
  expect(reader.place()).toBe(2);
  await listenTo("x");
  await track("a");
  await feed.stop();
  feed.start();
  await quiet();
  expect(reader.place()).toBe(2);
  await feed.stop();
  expect(reader.place()).toBe(3);
});

test("makes a step again that failed, all of it, after a while", async () => {
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
    await eventually(() => lines.length === count);
    await quiet();
    expect([rows().length, reader.place(), lines.length]).toEqual([0, 0, count]);
    t.clock.advance(SECOND);
    if (count === 1) calls.length = 1;
  }
  await eventually(() => rows().length === 3);
  expect(lines[0]).toContain("events could not be read for webhooks");
  await feed.stop();
});
