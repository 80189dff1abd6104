/** Lists of segments whose counting takes long: they show the stored counts with their times. */

import { beforeEach, expect, test } from "bun:test";
import { silentLog } from "../../../src/lib/log.ts";
import { nextIteration } from "../../../src/lib/yield.ts";
import { createDefinitions } from "../../../src/modules/segments/definitions.ts";
import { createMemberCounts } from "../../../src/modules/segments/member-counts.ts";
import type { TestApp } from "../../support/app.ts";
import { waitUntil } from "../../support/eventually.ts";
import { projectPerTest } from "../../support/project-per-test.ts";

const projects = projectPerTest();
let t: TestApp;
let now: number;
beforeEach(async () => {
  t = await projects.next();
  now = t.clock.now();
});

/** Counts of the audiences in the order in which they are counted; each waits to be given. */
type Given = { give: (total: number) => void };

function makeCounts() {
  const { db, clock } = t;
  const { writer } = t.app;
  const definitions = createDefinitions({ db, clock });
  const waiting: Given[] = [];
  const count = () => new Promise<number>((give) => waiting.push({ give }));
  const counts = createMemberCounts({ db, writer, clock, log: silentLog, definitions, count });
  const rows = () => ids.map((id) => definitions.get(t.project.seq, id));
  const list = async () => (await counts.countAll(rows())).map(([, { total, at }]) => [total, at]);
  return { counts, list, rows, waiting };
}

let ids: string[] = [];
beforeEach(async () => {
  ids = [
    await t.create("/segments", { name: "a", type: "STATIC" }, "data.id"),
    await t.create("/segments", { name: "b", type: "STATIC" }, "data.id"),
  ];
});

const stored = () =>
  t.db.sqlite
    .query(
      "SELECT member_count, member_counted_at FROM segments WHERE project_seq = ? ORDER BY seq",
    )
    .values(t.project.seq);

test("a list has new counts if they are there within 200 ms", async () => {
  const { list, waiting } = makeCounts();
  for (const totals of [
    [5, 6],
    [7, 8],
  ]) {
    const page = list();
    for (const total of totals) {
      await waitUntil(() => waiting.length > 0);
      waiting.shift()?.give(total);
    }
    expect(await page).toEqual(totals.map((total) => [total, now]));
    await waitUntil(() => stored().join() === totals.map((total) => [total, now]).join());
  }
});

test("a list has the stored counts after 200 ms, and the counting continues", async () => {
  const { list, waiting } = makeCounts();
  t.db.sqlite.run("UPDATE segments SET member_count = 3, member_counted_at = 1000");
  const page = list();
  await waitUntil(() => waiting.length > 0);
  waiting.shift()?.give(7);
  await waitUntil(() => waiting.length > 0);
  t.clock.advance(200);
  expect(await page).toEqual([
    [7, now],
    [3, 1000],
  ]);
  await waitUntil(() => stored().join() === [7, now, 3, 1000].join());
  const next = list(); // It waits for the same counting of b, and counts a again.
  waiting.shift()?.give(8);
  await nextIteration();
  expect(waiting).toEqual([]); // The counting of b took 200 ms, so there is a pause of 800.
  t.clock.advance(800);
  expect(await next).toEqual([
    [7, now],
    [8, now],
  ]);
  await waitUntil(() => waiting.length > 0);
  waiting.shift()?.give(9);
  await waitUntil(() => stored().join() === [9, now + 1000, 8, now].join());
});

test("a list waits for the count of a segment that has none, and counts it first", async () => {
  const { list, waiting } = makeCounts();
  t.db.sqlite.run(
    "UPDATE segments SET member_count = 3, member_counted_at = 1000 WHERE name = 'a'",
  );
  const page = list();
  t.clock.advance(10_000);
  await waitUntil(() => waiting.length > 0);
  waiting.shift()?.give(6);
  expect(await page).toEqual([
    [3, 1000],
    [6, now],
  ]);
});

test("a recent count of one segment is the stored one after 200 ms", async () => {
  const { counts, rows, waiting } = makeCounts();
  t.db.sqlite.run("UPDATE segments SET member_count = 3, member_counted_at = 1000");
  const [row] = rows();
  if (row === undefined) throw new Error("there is no segment");
  const quick = counts.recent(row);
  await waitUntil(() => waiting.length > 0);
  waiting.shift()?.give(7);
  expect(await quick).toEqual({ total: 7, at: now });
  const slow = counts.recent(row);
  await waitUntil(() => waiting.length > 0);
  t.clock.advance(200);
  expect(await slow).toEqual({ total: 3, at: 1000 });
  waiting.shift()?.give(8);
});

test("the recent count of a segment is requested by `counted`, and records no event", async () => {
  const id = await t.create("/segments", { name: "new", type: "STATIC" }, "data.id");
  await t.call("POST", `/segments/${id}/members`, {
    emails: ["ada@example.com"],
    createMissing: true,
  });
  const before = t.eventNames();
  for (const query of ["", "?counted=EXACT", "?counted=RECENT"]) {
    const answer = await t.call("GET", `/segments/${id}${query}`);
    expect([answer.status, answer.at("data.memberCount")]).toEqual([200, 1]);
  }
  expect((await t.call("GET", `/segments/${id}?counted=now`)).status).toBe(422);
  expect(t.eventNames()).toEqual(before);
});

test("a changed condition removes the stored count", async () => {
  const condition = (value: string) => ({
    logic: "AND",
    groups: [{ filters: [{ field: "data.plan", operator: "equals", value }] }],
  });
  const body = { name: "c", condition: condition("pro") };
  const id = await t.create("/segments", body, "data.id");
  await t.call("GET", "/segments");
  await waitUntil(() => stored().every(([count]) => count === 0));
  await t.call("PATCH", `/segments/${id}`, { name: "d" });
  expect(stored().map(([count]) => count)).toEqual([0, 0, 0]);
  await t.call("PATCH", `/segments/${id}`, { condition: condition("free") });
  expect(stored().map(([count]) => count)).toEqual([0, 0, null]);
});

test("stop waits for the counting that runs and starts no other", async () => {
  const { counts, list, waiting } = makeCounts();
  const page = Promise.allSettled([list()]);
  await waitUntil(() => waiting.length > 0);
  let isStopped = false;
  const stopped = counts.stop().then(() => (isStopped = true));
  await nextIteration();
  expect([isStopped, waiting.length]).toEqual([false, 1]);
  waiting.shift()?.give(1);
  await stopped;
  expect(await page).toMatchObject([{ status: "rejected" }]);
  expect(waiting).toEqual([]);
});

test("stop ends a pause of the background counting", async () => {
  const { counts, list, waiting } = makeCounts();
  t.db.sqlite.run("UPDATE segments SET member_count = 3, member_counted_at = 1000");
  const page = list();
  await waitUntil(() => waiting.length > 0);
  t.clock.advance(200);
  expect(await page).toEqual([
    [3, 1000],
    [3, 1000],
  ]);
  waiting.shift()?.give(7);
  await nextIteration();
  await counts.stop();
  expect(waiting).toEqual([]);
});
