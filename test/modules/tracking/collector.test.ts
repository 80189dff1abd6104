import { expect, test } from "bun:test";
import { openDatabase } from "../../../src/db/open.ts";
import { createWriter } from "../../../src/db/writer.ts";
import { createLog, silentLog } from "../../../src/lib/log.ts";
import { createCollector } from "../../../src/modules/tracking/collector.ts";
import type { CountHit, Hit } from "../../../src/modules/tracking/service.ts";
import { manualClock } from "../../support/clock.ts";
import { settleEventLoop } from "../../support/eventually.ts";

function startCollector(count?: CountHit) {
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

const hit = (emailId: string): Hit => ({
  kind: "open",
  emailId,
  url: null,
  at: 0,
  isMachine: false,
});

test("counts hits after a second, in their order", async () => {
  const { clock, collector, counted } = startCollector();
  collector.add(hit("a"));
  clock.advance(999);
  collector.add(hit("b"));
  await settleEventLoop();
  expect(counted).toEqual([]);
  clock.advance(1);
  await settleEventLoop();
  expect(counted).toEqual(["a", "b"]);
});

test("counts at once when 500 hits are queued", async () => {
  const { collector, counted } = startCollector();
  for (let i = 0; i < 499; i++) collector.add(hit(`${i}`));
  await settleEventLoop();
  expect(counted).toHaveLength(0);
  collector.add(hit("499"));
  await settleEventLoop();
  expect(counted).toHaveLength(500);
});

test("a flush also counts hits that arrive while it runs", async () => {
  const { collector, counted } = startCollector();
  for (let i = 0; i < 250; i++) collector.add(hit(`${i}`));
  const flushed = collector.flush();
  for (let i = 250; i < 300; i++) collector.add(hit(`${i}`));
  await flushed;
  expect(counted).toHaveLength(300);
});

test("a hit that cannot be counted is logged and loses only the hits of its change", async () => {
  const counted: string[] = [];
  const { collector, lines } = startCollector(({ emailId }) => {
    if (emailId === "0") throw new Error("a bug");
    counted.push(emailId);
  });
  for (let i = 0; i < 150; i++) collector.add(hit(`${i}`));
  await collector.flush();
  expect(counted.length).toBeGreaterThan(75);
  expect(counted).toContain("149");
  expect(lines.join()).toContain("a bug");
});

test("drops hits above the limit while the storage refuses, and logs their number", async () => {
  const { clock, collector, db, lines } = startCollector(() => {
    db.sqlite.run("CREATE TABLE IF NOT EXISTS t (x)");
  });
  db.sqlite.run("PRAGMA query_only = ON");
  for (let i = 0; i < 20_200; i++) collector.add(hit(`${i}`));
  await settleEventLoop();
  clock.advance(1_000);
  await settleEventLoop();
  expect(lines.join()).toMatch(/"lost":1\d\d\D/);
  db.sqlite.run("PRAGMA query_only = OFF");
  clock.advance(1_000);
  await collector.flush();
});
