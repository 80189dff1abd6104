import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDiskSync, type DiskSync } from "../../../src/db/durability/disk-sync.ts";
import { type Db, openDatabase } from "../../../src/db/open.ts";
import { createWriter } from "../../../src/db/writer.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { settleEventLoop } from "../../support/eventually.ts";

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function inFile() {
  const folder = mkdtempSync(join(tmpdir(), "mailstead-disk-"));
  folders.push(folder);
  const file = join(folder, "test.db");
  return { file, db: withTable(openDatabase(file)) };
}

function withTable(db: Db): Db {
  db.sqlite.run("CREATE TABLE IF NOT EXISTS things (name TEXT)");
  return db;
}

/** A disk whose syncs end when the test calls `finish`. */
function slowDisk() {
  const waiting: (() => void)[] = [];
  let syncs = 0;
  const disk: DiskSync = {
    sync() {
      syncs++;
      return new Promise((resolve) => waiting.push(resolve));
    },
    verify: () => true,
    pause: () => pause?.promise ?? null,
    yieldLog() {},
    findHold: () => null,
    emptyLog: () => Promise.resolve(true),
    async release() {},
  };
  let pause: PromiseWithResolvers<void> | null = null;
  return {
    disk,
    syncs: () => syncs,
    finish: () => waiting.shift()?.(),
    beginPause: () => void (pause = Promise.withResolvers()),
    endPause() {
      pause?.resolve();
      pause = null;
    },
  };
}

function writingTo(db: Db, disk: DiskSync) {
  const writer = createWriter(db, silentLog, disk);
  const answered: string[] = [];
  return {
    writer,
    answered,
    write: (name: string) =>
      void writer
        .write(() => {
          db.sqlite.run("INSERT INTO things VALUES (?)", [name]);
          writer.afterCommit(() => answered.push(`effect of ${name}`));
        })
        .then(() => answered.push(name)),
  };
}

describe("a write", () => {
  test("is answered after the sync, and its effects run then too", async () => {
    const db = withTable(openDatabase(":memory:"));
    const { disk, finish } = slowDisk();
    const { write, answered } = writingTo(db, disk);
    write("a");
    await settleEventLoop();
    expect(db.sqlite.query("SELECT name FROM things").all()).toEqual([{ name: "a" }]);
    expect(answered).toEqual([]);
    finish();
    await settleEventLoop();
    expect(answered).toEqual(["effect of a", "a"]);
  });

  test("that is requested during a sync waits for the next sync and shares it with others", async () => {
    const db = withTable(openDatabase(":memory:"));
    const { disk, syncs, finish } = slowDisk();
    const { write, answered } = writingTo(db, disk);
    write("a");
    await settleEventLoop();
    for (const name of ["b", "c"]) {
      write(name);
      await settleEventLoop();
    }
    expect(syncs()).toBe(1);
    finish();
    await settleEventLoop();
    expect(answered).toEqual(["effect of a", "a"]);
    expect(syncs()).toBe(2);
    finish();
    await settleEventLoop();
    expect(answered.filter((line) => !line.startsWith("effect"))).toEqual(["a", "b", "c"]);
  });

  test("gathers during a sync: the requests are committed together, or when there are many", async () => {
    const db = withTable(openDatabase(":memory:"));
    const { disk, finish } = slowDisk();
    const { write } = writingTo(db, disk);
    const countRows = () => db.sqlite.query("SELECT count(*) FROM things").values()[0]?.[0];
    write("first");
    await settleEventLoop();
    for (let i = 0; i < 31; i++) write(String(i));
    await settleEventLoop();
    expect(countRows()).toBe(1);
    write("last");
    await settleEventLoop();
    expect(countRows()).toBe(33);
    write("late");
    await settleEventLoop();
    expect(countRows()).toBe(33);
    finish();
    await settleEventLoop();
    expect(countRows()).toBe(34);
  });

  test("waits during a pause and keeps its order", async () => {
    const db = withTable(openDatabase(":memory:"));
    const { disk, finish, beginPause, endPause } = slowDisk();
    const { write, writer, answered } = writingTo(db, disk);
    const names = () => db.sqlite.query("SELECT name FROM things").values().flat();
    write("a");
    await settleEventLoop();
    beginPause();
    for (let i = 0; i < 40; i++) write(String(i));
    const awaited = writer.commit(() => db.sqlite.run("INSERT INTO things VALUES ('z')").changes);
    await settleEventLoop();
    finish();
    await settleEventLoop();
    expect([names(), answered]).toEqual([["a"], ["effect of a", "a"]]);
    endPause();
    await awaited;
    expect(names()).toEqual(["a", ...Array.from({ length: 40 }, (_, i) => String(i)), "z"]);
    const drained = writer.drain();
    finish();
    await drained;
    expect(answered).toHaveLength(2 * 41);
  });

  test("requested with commit() resolves at the commit, and onDisk after the sync", async () => {
    const db = withTable(openDatabase(":memory:"));
    const { disk, finish } = slowDisk();
    const { writer, write, answered } = writingTo(db, disk);
    const names = () => db.sqlite.query("SELECT name FROM things").values().flat();
    write("a");
    await settleEventLoop();
    write("b");
    await settleEventLoop();
    expect(names()).toEqual(["a"]);
    const insert = () => db.sqlite.run("INSERT INTO things VALUES ('c')").changes;
    const { value, onDisk } = await writer.commit(insert);
    expect([value, names()]).toEqual([1, ["a", "b", "c"]]);
    void onDisk.then(() => answered.push("c"));
    const answeredWrites = () => answered.filter((line) => !line.startsWith("effect"));
    finish();
    await settleEventLoop();
    expect(answeredWrites()).toEqual(["a"]);
    finish();
    await settleEventLoop();
    expect(answeredWrites()).toEqual(["a", "b", "c"]);
  });

  test("requested with commit() rejects if the change throws", async () => {
    const { writer } = writingTo(withTable(openDatabase(":memory:")), slowDisk().disk);
    const refused = writer.commit(() => {
      throw new Error("refused");
    });
    expect(refused).rejects.toThrow("refused");
    await settleEventLoop();
  });

  test("that is refused does not wait for a sync", async () => {
    const { disk, syncs } = slowDisk();
    const { writer } = writingTo(withTable(openDatabase(":memory:")), disk);
    const refused = writer.write(() => {
      throw new Error("refused");
    });
    expect(refused).rejects.toThrow("refused");
    await settleEventLoop();
    expect(syncs()).toBe(0);
  });

  test("keeps drain waiting until it is on disk", async () => {
    const { disk, finish } = slowDisk();
    const { writer, write } = writingTo(withTable(openDatabase(":memory:")), disk);
    write("a");
    let isDrained = false;
    const drained = writer.drain().then(() => (isDrained = true));
    await settleEventLoop();
    expect(isDrained).toBe(false);
    finish();
    await drained;
  });
});

test("a fault found after the commit rejects the committed changes and runs no effect", async () => {
  const db = withTable(openDatabase(":memory:"));
  const { disk } = slowDisk();
  const fault = { kind: "displaced", file: "/data/test.db", finding: "test" } as const;
  disk.sync = () => Promise.reject(db.fault.raise(fault));
  const { writer } = writingTo(db, disk);
  const effects: string[] = [];
  const change = () => writer.afterCommit(() => effects.push("effect"));
  const written = writer.write(change).catch((error: unknown) => error);
  const { onDisk } = await writer.commit(change);
  // A rejection that nothing handles until the next await would fail the test.
  const synced = onDisk.catch((reason: unknown) => reason);
  const error = db.fault.error();
  expect(error).toMatchObject({ status: 503, fault });
  expect(await written).toBe(error);
  expect(await synced).toBe(error);
  expect(effects).toEqual([]);
});

describe("a database in a file", () => {
  test("is synced outside the event loop, and SQLite uses synchronous=NORMAL", async () => {
    const { file, db } = inFile();
    const writer = createWriter(db, silentLog);
    expect(db.sqlite.query("PRAGMA synchronous").get()).toEqual({ synchronous: 1 });
    await writer.write(() => void db.sqlite.run("INSERT INTO things VALUES ('a')"));
    await writer.drain();
    db.sqlite.close();
    expect(openDatabase(file).sqlite.query("SELECT name FROM things").all()).toEqual([
      { name: "a" },
    ]);
  });

  test("can be written to after drain has closed its log", async () => {
    const { db } = inFile();
    const writer = createWriter(db, silentLog);
    for (const name of ["a", "b"]) {
      await writer.write(() => void db.sqlite.run("INSERT INTO things VALUES (?)", [name]));
      await writer.drain();
    }
    expect(db.sqlite.query("SELECT count(*) AS n FROM things").get()).toEqual({ n: 2 });
  });

  test("keeps its rows when the log is restarted", async () => {
    const { file, db } = inFile();
    const writer = createWriter(db, silentLog);
    for (const name of ["a", "b", "c"]) {
      await writer.write(() => void db.sqlite.run("INSERT INTO things VALUES (?)", [name]));
      db.sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
    }
    const other = openDatabase(file);
    expect(other.sqlite.query("SELECT count(*) AS n FROM things").get()).toEqual({ n: 3 });
  });

  test("in memory has no disk to sync", () => {
    expect(createDiskSync(openDatabase(":memory:"))).toBeNull();
  });
});

test("a failed sync ends the process, because it is unknown what was stored", async () => {
  const script = `
    import { openDatabase } from "./src/db/open.ts";
    import { createWriter } from "./src/db/writer.ts";
    import { createLog } from "./src/lib/log.ts";
    const sync = () => Promise.reject(new Error("EIO"));
    const disk = { sync, verify: () => true, pause: () => null, async release() {} };
    const writer = createWriter(
      openDatabase(":memory:"), createLog({ level: "error", format: "json" }), disk);
    void writer.write(() => 1).then(() => console.log("answered"));
    setTimeout(() => console.log("still there"), 200);`;
  const child = Bun.spawn([process.execPath, "-e", script], {
    cwd: join(import.meta.dir, "../../.."),
    stdout: "pipe",
    stderr: "pipe",
  });
  expect(await child.exited).toBe(1);
  expect(await child.stdout.text()).toBe("");
  expect(await child.stderr.text()).toContain("EIO");
});
