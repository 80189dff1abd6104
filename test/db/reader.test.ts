/** Reads in threads: their limits and their order. */

import { Database } from "bun:sqlite";
import { afterEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { createDatabaseReader, createDirectReader, isEndOfReads } from "../../src/db/reader.ts";
import { manualClock } from "../support/clock.ts";
import { migratedFile } from "../support/database.ts";
import { waitUntil } from "../support/eventually.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const GRACE_MS = 1_000_000;

type Options = { isLockable?: boolean };

function inFile({ isLockable = false }: Options = {}) {
  const db = migratedFile();
  const file = db.sqlite.filename;
  if (isLockable) db.sqlite.run("PRAGMA journal_mode = DELETE");
  db.sqlite.run("CREATE TABLE things (seq INTEGER PRIMARY KEY, text TEXT)");
  db.sqlite.run(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
     INSERT INTO things SELECT i, 'Größe ' || i FROM n`,
  );
  const clock = manualClock();
  const reader = createDatabaseReader(db, { graceMs: GRACE_MS, clock });
  closers.push(async () => {
    const closed = reader.close();
    clock.advance(GRACE_MS);
    await closed;
    db.sqlite.close();
  });
  return { file, db, clock, reader };
}

/**
 * Threads whose reads of the table wait in SQLite, without the processor, until `unlock`. They do not
 * ask for the time meanwhile, so nothing ends them.
 */
async function withLockedTable() {
  const world = inFile({ isLockable: true });
  // A thread cannot start while the file is locked.
  await Promise.all([1, 1, 2].map((project) => world.reader.find(project, all)));
  const locker = new Database(world.file);
  locker.run("BEGIN EXCLUSIVE");
  const unlock = () => locker.close();
  closers.push(unlock);
  return { ...world, unlock };
}

/** The number of threads of this process that the program has started. */
const workers = () =>
  readdirSync("/proc/self/task").filter((id) => {
    try {
      return readFileSync(`/proc/self/task/${id}/comm`, "utf8") === "Worker\n";
    } catch {
      return false; // It ended meanwhile.
    }
  }).length;

const query = (sql: string, ...values: (string | number)[]) => ({ sql, values });
const endless = query(
  "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE in_time()) SELECT count(*) FROM n",
);
const all = query("SELECT count(*) FROM things WHERE in_time()");
const noLimit = { ...query("SELECT 1"), unlessFewerThan: 0 };
const errorOf = (read: Promise<unknown>): Promise<unknown> =>
  read.then(
    () => null,
    (error: unknown) => error,
  );
const refused = { status: 503, code: "SERVICE_UNAVAILABLE" };

test("a read sees what was written before it was asked for", async () => {
  const { db, reader } = inFile();
  for (let i = 1; i <= 20; i++) {
    db.sqlite.run("INSERT INTO things (text) VALUES ('new')");
    expect((await reader.find(1, all)).rows).toEqual([[1000 + i]]);
  }
});

test("a text is found in any letter case, also beyond ASCII", async () => {
  const { reader } = inFile();
  const sql = "SELECT seq FROM things WHERE in_time() AND has_text(text, ?)";
  expect((await reader.find(1, query(sql, "größe 77"))).rows.flat()).toContain(770);
});

describe("a read that takes too long", () => {
  test("is refused, and its thread goes on with the next one", async () => {
    const { reader } = inFile();
    // Project 1 has two of three threads.
    const slow = [1, 2].map(() => errorOf(reader.find(1, endless, 50)));
    const next = reader.find(1, query("SELECT 1 WHERE in_time()"));
    for (const error of await Promise.all(slow)) expect(error).toMatchObject(refused);
    expect((await next).rows).toEqual([[1]]);
  });

  test("counts from the moment at which it was asked for, also while it waits", async () => {
    const { reader, clock } = inFile();
    const part = { ...endless, isPartial: true };
    const first = [1, 2].map(() => reader.find(1, part, 50));
    const waited = Array.from({ length: 4 }, () => reader.find(1, part, 100_000));
    const late = errorOf(reader.find(1, all, 100));
    // The others have 1 ms left when a thread is free, and run for 50 ms because a part is enough.
    clock.advance(99_999);
    const ended = await Promise.all([...first, ...waited]);
    expect(ended.every((found) => !found.isComplete)).toBe(true);
    expect(await late).toMatchObject(refused);
  });

  test("returns what it found, and where it stopped, if a part is enough", async () => {
    const { db } = inFile();
    let now = 0;
    const reader = createDirectReader(db, () => now++);
    const sql = "SELECT seq FROM things WHERE in_time(seq) AND seq % 2 = 0 ORDER BY seq";
    const found = await reader.find(1, { ...query(sql), isPartial: true }, 10);
    expect(found).toMatchObject({ isComplete: false, stoppedAt: 10 });
    expect(found.rows).toEqual([[2], [4], [6], [8]]);
  });

  test("is a mistake of the program if it cannot be ended", async () => {
    const { reader } = inFile();
    expect(String(await errorOf(reader.find(1, query("SELECT 1"))))).toContain(
      "must call in_time()",
    );
    const counted = { ...query("SELECT 1 WHERE in_time()"), total: noLimit };
    expect(String(await errorOf(reader.find(1, counted)))).toContain("must call in_time()");
  });

  test("occupies its thread if it does not ask for the time, and other reads go on", async () => {
    const { reader, clock, unlock } = await withLockedTable();
    const slow = errorOf(reader.find(1, all, 50));
    const other = await reader.find(1, query("SELECT 2 WHERE in_time()"));
    expect(other.rows).toEqual([[2]]);
    clock.advance(50 + GRACE_MS);
    expect(await slow).toMatchObject(refused);
    expect(reader.isReading()).toBe(true);
    expect(await reader.hold(10)).toBe(false);
    unlock();
    await waitUntil(() => !reader.isReading());
    expect(await reader.hold(10)).toBe(true);
  });
});

test("a page and its total are of the same moment, and a short first page counts itself", async () => {
  const { reader } = inFile();
  const page = (limit: number) =>
    query("SELECT seq FROM things WHERE in_time() AND seq <= 30 LIMIT ?", limit);
  const total = { ...query("SELECT count(*) FROM things WHERE in_time() AND seq <= 30") };
  const find = (limit: number, unlessFewerThan: number) =>
    reader.find(1, { ...page(limit), total: { ...total, unlessFewerThan } });
  expect(await find(10, 10)).toMatchObject({ total: 30 });
  expect(await find(50, 50)).toMatchObject({ total: 30 });
  expect(await find(50, 0)).toMatchObject({ total: 30 });
});

test("a thread without a read ends after a minute, and the next read starts another one", async () => {
  const { db, clock, reader } = inFile();
  await reader.find(7, all);
  clock.advance(59_999);
  await reader.find(7, all);
  clock.advance(59_999);
  const withThread = workers();
  clock.advance(1);
  await waitUntil(() => workers() < withThread);
  db.sqlite.run("DELETE FROM things WHERE seq > 10");
  expect((await reader.find(7, all)).rows).toEqual([[10]]);
});

test("one project does not take all threads, and projects take turns", async () => {
  const { reader, unlock } = await withLockedTable();
  const ended: string[] = [];
  const part = { ...endless, isPartial: true };
  const read = (project: number, name: string, asked: Parameters<typeof reader.find>[1]) =>
    reader.find(project, asked, 50).finally(() => void ended.push(name));
  const reads = [1, 2].map((n) => read(7, `7: ${n}`, { ...all, isPartial: true }));
  reads.push(...[3, 4, 5, 6].map((n) => read(7, `7: ${n}`, part)));
  await reader.find(8, query("SELECT 1 WHERE in_time()"));
  expect(ended).toEqual([]);
  reads.push(read(8, "8: 1", { ...all, isPartial: true }));
  reads.push(read(9, "9: 1", { ...query("SELECT 1 WHERE in_time()"), isPartial: true }));
  unlock();
  await Promise.all(reads);
  // Project 8 has the third thread. Project 9 came last and is served when the second thread is free.
  expect(ended.indexOf("9: 1")).toBeLessThan(ended.indexOf("7: 5"));
});

test("a thread cannot write, and a mistake in the SQL is an error of the program", async () => {
  const { reader } = inFile();
  const remove = query("DELETE FROM things WHERE in_time()");
  expect(await errorOf(reader.find(1, remove))).toMatchObject(refused);
  const wrong = query("SELECT nothing WHERE in_time()");
  expect(String(await errorOf(reader.find(1, wrong)))).toContain("nothing");
});

describe("a server that stops", () => {
  test("ends the reads that are under way, and refuses those that wait and new ones", async () => {
    const { reader } = inFile();
    const reads = [1, 2, 3, 4].map(() => errorOf(reader.find(1, endless)));
    const part = reader.find(2, { ...endless, isPartial: true });
    reader.endReads();
    for (const error of await Promise.all(reads)) {
      expect(error).toMatchObject(refused);
      expect(isEndOfReads(error)).toBe(true);
    }
    expect((await part).isComplete).toBe(false);
    expect(await errorOf(reader.find(1, query("SELECT 1 WHERE in_time()")))).toMatchObject(refused);
    await reader.close();
    expect(reader.isReading()).toBe(false);
  });

  test("does not wait for a statement that cannot be ended", async () => {
    const { reader, clock, unlock } = await withLockedTable();
    const slow = errorOf(reader.find(1, all, 10));
    clock.advance(10 + GRACE_MS);
    expect(await slow).toMatchObject(refused);
    const closed = reader.close();
    clock.advance(GRACE_MS);
    await closed;
    expect(reader.isReading()).toBe(true);
    unlock();
    await waitUntil(() => !reader.isReading());
  });
});

test("after a storage fault the connection of the server reads", async () => {
  const { db, file, reader } = inFile();
  db.fault.raise({ kind: "displaced", file, finding: "a test" });
  const found = await reader.find(1, query("SELECT count(*) FROM things WHERE in_time()"));
  expect(found.rows).toEqual([[1000]]);
});

test("a thread whose path led to another file is not believed", async () => {
  const { db } = inFile();
  const reader = createDatabaseReader(db, { verify: () => false });
  closers.push(() => reader.close());
  expect(await errorOf(reader.find(1, query("SELECT 1 WHERE in_time()")))).toMatchObject(refused);
});

describe("a hold", () => {
  test("waits for the reads under way, and those after it wait for its end", async () => {
    const { reader } = inFile();
    const long = reader.find(1, { ...endless, isPartial: true }, 100);
    expect(await reader.hold(5_000)).toBe(true);
    const next = reader.find(2, query("SELECT 1 WHERE in_time()"));
    expect(reader.isReading()).toBe(false);
    reader.release();
    expect((await next).rows).toEqual([[1]]);
    expect((await long).isComplete).toBe(false);
  });

  test("is given up after its time, and not tried again at once", async () => {
    const { reader, clock, unlock } = await withLockedTable();
    const long = reader.find(1, all, 10_000);
    const held = reader.hold(20);
    clock.advance(20);
    expect(await held).toBe(false);
    const next = await reader.find(2, query("SELECT 1 WHERE in_time()"));
    expect(next.rows).toEqual([[1]]);
    unlock();
    await long;
    expect(await reader.hold(5_000)).toBe(false);
    clock.advance(1_000);
    expect(await reader.hold(5_000)).toBe(true);
  });
});
