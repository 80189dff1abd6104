import { expect, test } from "bun:test";
import { openDatabase } from "../../../src/db/open.ts";
import { createWriter } from "../../../src/db/writer.ts";
import { createLog, silentLog } from "../../../src/lib/log.ts";
import { createCollector } from "../../../src/modules/tracking/collector.ts";
import type { Count, Visit } from "../../../src/modules/tracking/count.ts";
import { manualClock } from "../../support/clock.ts";
import { quiet } from "../../support/eventually.ts";

function collecting(count?: Count) {
  const clock = manualClock();
  const db = openDatabase(":memory:");
  const counted: string[] = [];
  const lines: string[] = [];
  const collector = createCollector({
    count: count ?? (({ emailId }) => counted.push(emailId)),
    writer: createWriter(db, silentLog),
    clock,
    log: createLog({ level: "warn", format: "json", write: (line) => lines.push(line) }),
  });
  return { clock, collector, counted, db, lines };
}

const visit = (emailId: string): Visit => ({
  kind: "open",
  emailId,
  url: null,
  at: 0,
  isMachine: false,
});

test("waits a second for company, and keeps the order", async () => {
  const { clock, collector, counted } = collecting();
  collector.add(visit("a"));
  clock.advance(999);
  collector.add(visit("b"));
  await quiet();
  expect(counted).toEqual([]);
  clock.advance(1);
  await quiet();
  expect(counted).toEqual(["a", "b"]);
});

test("does not wait where there are 500", async () => {
  const { collector, counted } = collecting();
  for (let i = 0; i < 499; i++) collector.add(visit(`${i}`));
  await quiet();
  expect(counted).toHaveLength(0);
  collector.add(visit("499"));
  await quiet();
  expect(counted).toHaveLength(500);
});

test("a flush takes all, also what came while it was under way", async () => {
  const { collector, counted } = collecting();
  for (let i = 0; i < 250; i++) collector.add(visit(`${i}`));
  const flushed = collector.flush();
  for (let i = 250; i < 300; i++) collector.add(visit(`${i}`));
  await flushed;
  expect(counted).toHaveLength(300);
});

test("a visit that cannot be counted is logged and takes only its companions with it", async () => {
  const counted: string[] = [];
  const { collector, lines } = collecting(({ emailId }) => {
    if (emailId === "0") throw new Error("a fault of ours");
    counted.push(emailId);
  });
  for (let i = 0; i < 150; i++) collector.add(visit(`${i}`));
  await collector.flush();
  expect(counted.length).toBeGreaterThan(75);
  expect(counted).toContain("149");
  expect(lines.join()).toContain("a fault of ours");
});

test("memory stays bounded while the storage refuses, and the log says what was lost", async () => {
  const { clock, collector, db, lines } = collecting(() => {
    db.sqlite.run("CREATE TABLE IF NOT EXISTS t (x)");
  });
  db.sqlite.run("PRAGMA query_only = ON");
  for (let i = 0; i < 20_200; i++) collector.add(visit(`${i}`));
  await quiet();
  clock.advance(1_000);
  await quiet();
  expect(lines.join()).toMatch(/"lost":1\d\d\D/);
  db.sqlite.run("PRAGMA query_only = OFF");
  clock.advance(1_000);
  await collector.flush();
});
