import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSqliteSync } from "../../../src/db/durability/sqlite-sync.ts";
import { StorageFaultError } from "../../../src/db/fault.ts";
import { type Db, openDatabase } from "../../../src/db/open.ts";
import { createWriter, type Writer } from "../../../src/db/writer.ts";
import { silentLog } from "../../../src/lib/log.ts";

let folder: string;
let db: Db;
let writer: Writer;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mailstead-sqlite-sync-"));
  db = openDatabase(join(folder, "mailstead.db"));
  db.sqlite.run("CREATE TABLE things (name TEXT)");
  writer = createWriter(db, silentLog, createSqliteSync(db));
});
afterEach(() => {
  db.sqlite.close();
  rmSync(folder, { recursive: true });
});

const add = (name: string) =>
  writer.write(() => void db.sqlite.run("INSERT INTO things VALUES (?)", [name]));
const pragma = (name: string) => Object.values(db.sqlite.query(`PRAGMA ${name}`).get() ?? {})[0];

/** A second process reads in transactions and makes checkpoints, as replication tools do. */
function startReplicator() {
  const script = `
    import { Database } from "bun:sqlite";
    const db = new Database(process.env.FILE);
    db.run("PRAGMA busy_timeout = 0");
    for (let i = 0; i < 10; i++) {
      db.run("BEGIN");
      db.query("SELECT count(*) FROM things").get();
      await Bun.sleep(100);
      db.run("COMMIT");
      try { db.run("PRAGMA wal_checkpoint(TRUNCATE)"); } catch (error) { if (error.code !== "SQLITE_BUSY") throw error; }
    }`;
  return Bun.spawn([process.execPath, "-e", script], {
    env: { ...process.env, FILE: join(folder, "mailstead.db") },
    stderr: "inherit",
  });
}

describe("with SQLite's own syncs and checkpoints", () => {
  test("a commit is on disk before it is answered", async () => {
    expect([pragma("synchronous"), pragma("wal_autocheckpoint")]).toEqual([2, 1000]);
    await add("one");
    const other = openDatabase(join(folder, "mailstead.db"));
    expect(other.sqlite.query("SELECT name FROM things").all()).toEqual([{ name: "one" }]);
    other.sqlite.close();
  });

  test("writes go on while a second process reads in transactions and makes checkpoints", async () => {
    const replicator = startReplicator();
    let written = 0;
    while (replicator.exitCode === null) {
      await add(`thing ${written}`);
      written++;
    }
    expect(await replicator.exited).toBe(0);
    expect(written).toBeGreaterThan(100);
    const counted = db.sqlite.query<{ n: number }, []>("SELECT count(*) AS n FROM things").get();
    expect(counted?.n).toBe(written);
  });

  test("a database that was moved away is noticed, and nothing is answered", async () => {
    await add("one");
    renameSync(join(folder, "mailstead.db"), join(folder, "moved.db"));
    const lost = await add("two").catch((error: unknown) => error);
    expect(lost).toBeInstanceOf(StorageFaultError);
  });
});
