import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSqliteSync } from "../../../src/db/durability/sqlite-sync.ts";
import { StorageFaultError } from "../../../src/db/fault.ts";
import { type Db, openDatabase } from "../../../src/db/open.ts";
import { createWriter, type Writer } from "../../../src/db/writer.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { startOtherProcess } from "./other-process.ts";

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

describe("with SQLite's own syncs and checkpoints", () => {
  test("a commit is on disk before it is answered", async () => {
    expect([pragma("synchronous"), pragma("wal_autocheckpoint")]).toEqual([2, 1000]);
    await add("one");
    const other = openDatabase(join(folder, "mailstead.db"));
    expect(other.sqlite.query("SELECT name FROM things").all()).toEqual([{ name: "one" }]);
    other.sqlite.close();
  });

  test("writes go on while a second process reads in transactions and makes checkpoints", async () => {
    const other = startOtherProcess(join(folder, "mailstead.db"), 0);
    for (let round = 0; round < 10; round++) {
      await other.beginRead();
      for (let n = 0; n < 5; n++) await add("during a read");
      await other.run("COMMIT");
      await Promise.all([other.truncate(), ...Array.from({ length: 5 }, () => add("beside"))]);
    }
    await other.end();
    const counted = db.sqlite.query<{ n: number }, []>("SELECT count(*) AS n FROM things").get();
    expect(counted?.n).toBe(100);
  });

  test("a database that was moved away is noticed, and nothing is answered", async () => {
    await add("one");
    renameSync(join(folder, "mailstead.db"), join(folder, "moved.db"));
    const lost = await add("two").catch((error: unknown) => error);
    expect(lost).toBeInstanceOf(StorageFaultError);
  });
});
