/** Reads in threads: their limits, their order, and what they mean for the write-ahead log. */

import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createContention } from "../../src/db/durability/contention.ts";
import { createDiskSync } from "../../src/db/durability/disk-sync.ts";
import { openDatabase } from "../../src/db/open.ts";
import { createDatabaseReader, createDirectReader } from "../../src/db/reader.ts";
import { createWriter } from "../../src/db/writer.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { silentLog } from "../../src/lib/log.ts";
import { waitUntil } from "../support/eventually.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const MIB = 1024 * 1024;

function inFile(rows = 1000) {
  const folder = mkdtempSync(join(tmpdir(), "mailstead-reader-"));
  const file = join(folder, "test.db");
  const db = openDatabase(file);
  db.sqlite.run("CREATE TABLE things (seq INTEGER PRIMARY KEY, text TEXT)");
  db.sqlite.run(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
     INSERT INTO things SELECT i, 'Größe ' || i FROM n`,
  );
  const reader = createDatabaseReader(db);
  const contention = createContention(systemClock.elapsed);
  const writer = createWriter(db, silentLog, createDiskSync(db, contention, reader));
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
    expect(reader.find(1, endless, 50)).rejects.toMatchObject(refused);
    const next = await reader.find(1, query("SELECT 1 WHERE in_time()"));
    expect(next.rows).toEqual([[1]]);
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
    expect(reader.find(1, query("SELECT 1"))).rejects.toThrow("must call in_time()");
  });

  test("occupies its thread if it does not ask for the time, and other reads go on", async () => {
    const { reader } = inFile(40);
    const deaf = "SELECT count(*) FROM things a, things b, things c, things d, things e";
    // The subquery is evaluated once, before in_time is called.
    const slow = reader.find(1, query(`SELECT (${deaf}) WHERE in_time()`), 50);
    expect(slow).rejects.toMatchObject(refused);
    const other = await reader.find(1, query("SELECT 2 WHERE in_time()"));
    expect(other.rows).toEqual([[2]]);
    await slow.catch(() => undefined);
    expect(reader.isReading()).toBe(true);
    await waitUntil(() => !reader.isReading());
  });
});

test("one project does not take all threads, and projects take turns", async () => {
  const { reader } = inFile();
  const ended: string[] = [];
  const long = [1, 2, 3, 4].map((n) =>
    reader.find(7, endless, 300).catch(() => ended.push(`long ${n}`)),
  );
  await reader.find(8, query("SELECT 1 WHERE in_time()"));
  expect(ended).toEqual([]);
  await Promise.all(long);
});

test("a thread cannot write, and a mistake in the SQL is an error of the program", async () => {
  const { reader } = inFile();
  const remove = query("DELETE FROM things WHERE in_time()");
  expect(reader.find(1, remove)).rejects.toMatchObject(refused);
  expect(reader.find(1, query("SELECT nothing WHERE in_time()"))).rejects.toThrow("nothing");
});

test("searches without a pause do not let the write-ahead log grow, and look like no other process", async () => {
  const { file, db, reader, writer } = inFile();
  const state = { isOver: false };
  const searches = [1, 2, 3].map(async (project) => {
    while (!state.isOver) await reader.find(project, { ...endless, isPartial: true }, 100);
  });
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
  expect(statSync(file).size).toBeGreaterThan(150 * MIB);
  expect(longest).toBeLessThan(160 * MIB);
});
