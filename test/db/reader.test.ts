/** Reads in threads: their limits, their order, and what they mean for the write-ahead log. */

import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createContention } from "../../src/db/durability/contention.ts";
import { createDiskSync } from "../../src/db/durability/disk-sync.ts";
import { createSqliteSync } from "../../src/db/durability/sqlite-sync.ts";
import { openDatabase } from "../../src/db/open.ts";
import {
  createDatabaseReader,
  createDirectReader,
  type DatabaseReader,
} from "../../src/db/reader.ts";
import { createWriter } from "../../src/db/writer.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { silentLog } from "../../src/lib/log.ts";
import { waitUntil } from "../support/eventually.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const MIB = 1024 * 1024;

type Options = { rows?: number; graceMs?: number; durability?: "background" | "sqlite" };

function inFile({ rows = 1000, graceMs = 1_000, durability = "background" }: Options = {}) {
  const folder = mkdtempSync(join(tmpdir(), "mailstead-reader-"));
  const file = join(folder, "test.db");
  const db = openDatabase(file);
  db.sqlite.run("CREATE TABLE things (seq INTEGER PRIMARY KEY, text TEXT)");
  db.sqlite.run(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
     INSERT INTO things SELECT i, 'Größe ' || i FROM n`,
  );
  const reader = createDatabaseReader(db, { graceMs });
  const contention = createContention(systemClock.elapsed);
  const sync =
    durability === "sqlite" ? createSqliteSync(db, reader) : createDiskSync(db, contention, reader);
  const writer = createWriter(db, silentLog, sync);
  closers.push(async () => {
    await writer.drain();
    await reader.close();
    db.sqlite.close();
    rmSync(folder, { recursive: true });
  });
  return { file, db, reader, writer };
}

const query = (sql: string, ...values: (string | number)[]) => ({ sql, values });
const endless = query(
  "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE in_time()) SELECT count(*) FROM n",
);
const noLimit = { ...query("SELECT 1"), unlessFewerThan: 0 };
const refused = { status: 503, code: "SERVICE_UNAVAILABLE" };

test("a read sees what was written before it was asked for", async () => {
  const { db, reader, writer } = inFile();
  for (let i = 1; i <= 20; i++) {
    await writer.write(() => void db.sqlite.run("INSERT INTO things (text) VALUES ('new')"));
    const found = await reader.find(1, query("SELECT count(*) FROM things WHERE in_time()"));
    expect(found.rows).toEqual([[1000 + i]]);
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
    const slow = [1, 2].map(() => reader.find(1, endless, 50).catch((error: unknown) => error));
    const next = reader.find(1, query("SELECT 1 WHERE in_time()"));
    for (const error of await Promise.all(slow)) expect(error).toMatchObject(refused);
    expect((await next).rows).toEqual([[1]]);
  });

  test("counts from the moment at which it was asked for, also while it waits", async () => {
    const { reader } = inFile();
    const part = { ...endless, isPartial: true };
    const first = [1, 2].map(() => reader.find(1, part, 300));
    const began = performance.now();
    const waited = Array.from({ length: 4 }, () => reader.find(1, part, 300));
    const late = reader
      .find(1, query("SELECT 1 WHERE in_time()"), 100)
      .catch((error: unknown) => error);
    expect((await Promise.all([...first, ...waited])).every((found) => !found.isComplete)).toBe(
      true,
    );
    expect(await late).toMatchObject(refused);
    // Two threads, 300 ms, and then 50 ms for each of the four that waited.
    expect(performance.now() - began).toBeLessThan(1_200);
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
    await expect(reader.find(1, query("SELECT 1"))).rejects.toThrow("must call in_time()");
    const counted = { ...query("SELECT 1 WHERE in_time()"), total: noLimit };
    await expect(reader.find(1, counted)).rejects.toThrow("must call in_time()");
  });

  test("occupies its thread if it does not ask for the time, and other reads go on", async () => {
    const { reader } = inFile({ rows: 32, graceMs: 100 });
    const deaf = "SELECT count(*) FROM things a, things b, things c, things d, things e";
    // The subquery is evaluated once, before in_time is called.
    const slow = reader.find(1, query(`SELECT (${deaf}) WHERE in_time()`), 50);
    const ended = slow.catch((error: unknown) => error);
    const other = await reader.find(1, query("SELECT 2 WHERE in_time()"));
    expect(other.rows).toEqual([[2]]);
    expect(await ended).toMatchObject(refused);
    expect(reader.isReading()).toBe(true);
    expect(await reader.hold(10)).toBe(false);
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

test("one project does not take all threads, and projects take turns", async () => {
  const { reader } = inFile();
  const ended: string[] = [];
  const read = (project: number, name: string, limitMs: number) =>
    reader
      .find(project, { ...endless, isPartial: true }, limitMs)
      .finally(() => void ended.push(name));
  const all = [1, 2, 3, 4, 5, 6].map((n) => read(7, `7: ${n}`, 300));
  await reader.find(8, query("SELECT 1 WHERE in_time()"));
  expect(ended).toEqual([]);
  all.push(read(8, "8: 1", 400), read(9, "9: 1", 100));
  await Promise.all(all);
  // Project 8 has the third thread. Project 9 came last and is served when the first thread is free.
  expect(ended.indexOf("9: 1")).toBeLessThan(ended.indexOf("7: 5"));
});

test("a thread cannot write, and a mistake in the SQL is an error of the program", async () => {
  const { reader } = inFile();
  const remove = query("DELETE FROM things WHERE in_time()");
  await expect(reader.find(1, remove)).rejects.toMatchObject(refused);
  const wrong = query("SELECT nothing WHERE in_time()");
  await expect(reader.find(1, wrong)).rejects.toThrow("nothing");
});

describe("a server that stops", () => {
  test("ends the reads that are under way, and refuses those that wait and new ones", async () => {
    const { reader } = inFile();
    const reads = [1, 2, 3, 4].map(() => reader.find(1, endless).catch((error: unknown) => error));
    const part = reader.find(2, { ...endless, isPartial: true });
    reader.endReads();
    for (const error of await Promise.all(reads)) expect(error).toMatchObject(refused);
    expect((await part).isComplete).toBe(false);
    await expect(reader.find(1, query("SELECT 1 WHERE in_time()"))).rejects.toMatchObject(refused);
    await reader.close();
    expect(reader.isReading()).toBe(false);
  });

  test("does not wait for a statement that cannot be ended", async () => {
    const { reader } = inFile({ rows: 36, graceMs: 100 });
    const deaf = "SELECT count(*) FROM things a, things b, things c, things d, things e";
    const slow = reader.find(1, query(`SELECT (${deaf}) WHERE in_time()`), 10);
    await slow.catch(() => undefined);
    const began = performance.now();
    await reader.close();
    expect(performance.now() - began).toBeLessThan(400);
    expect(reader.isReading()).toBe(true);
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
  await expect(reader.find(1, query("SELECT 1 WHERE in_time()"))).rejects.toMatchObject(refused);
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
    const { reader } = inFile();
    const long = reader.find(1, { ...endless, isPartial: true }, 300);
    expect(await reader.hold(20)).toBe(false);
    const next = await reader.find(2, query("SELECT 1 WHERE in_time()"));
    expect(next.rows).toEqual([[1]]);
    expect(await reader.hold(5_000)).toBe(false);
    await long;
  });
});

const searchForever = (reader: DatabaseReader, project: number, state: { isOver: boolean }) =>
  (async () => {
    while (!state.isOver) await reader.find(project, { ...endless, isPartial: true }, 100);
  })();

for (const durability of ["background", "sqlite"] as const) {
  test(`${durability}: searches without a pause do not let the write-ahead log grow, and look like no other process`, async () => {
    const { file, db, reader, writer } = inFile({ durability });
    const state = { isOver: false };
    const searches = [1, 2, 3].map((project) => searchForever(reader, project, state));
    let longest = 0;
    const insert = db.sqlite.prepare("INSERT INTO things (text) VALUES (?)");
    const text = "x".repeat(3_000);
    for (let i = 0; i < 1_300; i++) {
      await writer.write(() => {
        for (let n = 0; n < 50; n++) insert.run(text);
      });
      longest = Math.max(longest, statSync(`${file}-wal`).size);
      expect(writer.findLogHold()).toBeNull();
    }
    state.isOver = true;
    await Promise.all(searches);
    expect(longest).toBeLessThan(200 * MIB);
    expect(statSync(file).size).toBeGreaterThan(50 * MIB);
  });
}
