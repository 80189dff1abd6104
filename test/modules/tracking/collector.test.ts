import { expect, test } from "bun:test";
import { openDatabase } from "../../../src/db/open.ts";
import { createWriter } from "../../../src/db/writer.ts";
import { createLog, silentLog } from "../../../src/lib/log.ts";
import { createCollector, type Hit } from "../../../src/modules/tracking/collector.ts";
import { manualClock } from "../../support/clock.ts";
import { settleEventLoop } from "../../support/eventually.ts";

function startCollector(count?: (hit: Hit) => void) {
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

test.each([150, 2_500])("of %i hits, those that cannot be counted are lost alone", async (n) => {
  const { collector, db, lines } = startCollector(({ emailId }) => {
    db.sqlite.run("INSERT INTO counted VALUES (?)", [emailId]);
    if (emailId === "0" || emailId === "77") throw new Error("a bug");
  });
  db.sqlite.run("CREATE TABLE counted (id TEXT)");
  const ids = Array.from({ length: n }, (_, i) => `${i}`);
  for (const id of ids) collector.add(hit(id));
  await collector.flush();
  const counted = db.sqlite.query<{ id: string }, []>("SELECT id FROM counted").all();
  const good = ids.filter((id) => id !== "0" && id !== "77");
  expect(counted.map(({ id }) => Number(id)).sort((a, b) => a - b)).toEqual(good.map(Number));
  expect(lines.join()).toContain("a bug");
  const lost = lines.map((line): unknown => Object(JSON.parse(line)).lost);
  expect(lost.reduce((sum: number, each) => sum + Number(each), 0)).toBe(2);
});

test("hits that the storage refused are counted later, in their order", async () => {
  const { clock, collector, db, lines } = startCollector(({ emailId }) => {
    db.sqlite.run("INSERT INTO counted VALUES (?)", [emailId]);
  });
  db.sqlite.run("CREATE TABLE counted (id TEXT)");
  db.sqlite.run("PRAGMA query_only = ON");
  for (let i = 0; i < 40; i++) collector.add(hit(`${i}`));
  await collector.flush();
  db.sqlite.run("PRAGMA query_only = OFF");
  clock.advance(1_000);
  await collector.flush();
  const counted = db.sqlite.query<{ id: string }, []>("SELECT id FROM counted").all();
  expect(counted.map(({ id }) => Number(id))).toEqual(Array.from({ length: 40 }, (_, i) => i));
  expect(lines).toEqual([]);
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
