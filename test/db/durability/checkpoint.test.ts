import { Database } from "bun:sqlite";
import { afterEach, expect, test } from "bun:test";
import {
  closeSync,
  copyFileSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCheckpoints } from "../../../src/db/durability/checkpoint.ts";
import { type LogFile, openLogFile } from "../../../src/db/durability/wal-file.ts";
import { openDatabase } from "../../../src/db/open.ts";
import { waitUntil, settleEventLoop } from "../../support/eventually.ts";

const PAGE_BYTES = 4096;
const SIZES = { roundPages: 20, restartPages: 100, pausePages: 10, urgentPages: 32_000 };

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function inFile() {
  const folder = mkdtempSync(join(tmpdir(), "mailstead-checkpoint-"));
  folders.push(folder);
  const file = join(folder, "test.db");
  const { sqlite, fault } = openDatabase(file);
  sqlite.run("PRAGMA wal_autocheckpoint = 0");
  sqlite.run("CREATE TABLE things (bytes BLOB)");
  const log = openLogFile(`${file}-wal`, PAGE_BYTES);
  const failures: unknown[] = [];
  const failed = (error: unknown) => void failures.push(error);
  const ensureSound = () => fault.check();
  const contention = { note() {}, isRecent: () => false };
  const start = (used: LogFile) =>
    createCheckpoints({ sqlite, log: used, fault, ensureSound, failed, contention, sizes: SIZES });
  const write = (pages: number) =>
    sqlite.run("INSERT INTO things VALUES (zeroblob(?))", [pages * PAGE_BYTES]);
  const databaseBytes = () => statSync(file).size;
  return { file, sqlite, log, failures, start, write, databaseBytes };
}

/** A log whose syncs end when the test calls `finish`. */
function slowLog(log: LogFile) {
  const waiting: (() => void)[] = [];
  const sync = () => new Promise<void>((resolve) => waiting.push(resolve));
  return { slow: { ...log, sync }, finish: () => waiting.shift()?.() };
}

/** Starts a round on a log that is long enough to be restarted. The round waits for the sync. */
function withLongLog() {
  const world = inFile();
  const { slow, finish } = slowLog(world.log);
  const checkpoints = world.start(slow);
  const generation = world.log.generation();
  world.write(SIZES.restartPages + 10);
  checkpoints.consider();
  return { ...world, checkpoints, finish, generation };
}

const blocksOf = (bytes: Buffer) =>
  Array.from({ length: Math.ceil(bytes.length / PAGE_BYTES) }, (_, i) => i * PAGE_BYTES);

const blockAt = (bytes: Buffer, at: number) => bytes.subarray(at, at + PAGE_BYTES);

test("a short log is not copied", async () => {
  const { log, start, write, databaseBytes } = inFile();
  const checkpoints = start(log);
  const before = databaseBytes();
  write(SIZES.roundPages / 2);
  checkpoints.consider();
  await checkpoints.close();
  expect(databaseBytes()).toBe(before);
});

test("a round copies only the frames that were in the log when it began, after the log is on disk", async () => {
  const { log, start, write, databaseBytes } = inFile();
  const { slow, finish } = slowLog(log);
  const checkpoints = start(slow);
  const before = databaseBytes();
  write(30);
  checkpoints.consider();
  write(50);
  await settleEventLoop();
  expect(databaseBytes()).toBe(before);
  finish();
  await checkpoints.close();
  expect(databaseBytes()).toBeGreaterThan(30 * PAGE_BYTES);
  expect(databaseBytes()).toBeLessThan(50 * PAGE_BYTES);
});

test("a long log is restarted, again and again", async () => {
  const { file, log, start, write, sqlite } = inFile();
  const checkpoints = start(log);
  const generations = new Set<string>();
  for (let i = 0; i < 100; i++) {
    write(15);
    generations.add(log.generation());
    checkpoints.consider();
    await checkpoints.close();
  }
  expect(generations.size).toBeGreaterThan(5);
  expect(statSync(`${file}-wal`).size).toBeLessThan(3 * SIZES.restartPages * PAGE_BYTES);
  expect(sqlite.query("SELECT count(*) AS n FROM things").get()).toEqual({ n: 100 });
  expect(sqlite.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
});

test("a restart pauses writing, copies the remaining frames, and waits for the disk without blocking", async () => {
  const { log, write, databaseBytes, checkpoints, finish, generation } = withLongLog();
  write(SIZES.pausePages / 2);
  finish(); // Ends the sync of the round.
  await waitUntil(() => checkpoints.pause() !== null);
  const paused = checkpoints.pause();
  const copied = databaseBytes();
  finish(); // Ends the sync of the last round.
  await waitUntil(() => log.generation() !== generation);
  expect(databaseBytes()).toBeGreaterThan(copied);
  expect(log.hasFrame(2)).toBe(false);
  expect(checkpoints.pause()).toBe(paused);
  const closed = checkpoints.close();
  finish(); // Ends the sync of the restarted log.
  await paused;
  expect(checkpoints.pause()).toBeNull();
  await closed;
});

test("a power cut during the restart of the log loses nothing", async () => {
  const { file, log, checkpoints, finish, generation } = withLongLog();
  const before = readFileSync(`${file}-wal`);
  finish();
  await waitUntil(() => checkpoints.pause() !== null);
  finish();
  await waitUntil(() => log.generation() !== generation);
  const after = readFileSync(`${file}-wal`);
  const changed = blocksOf(after).filter((at) => !blockAt(before, at).equals(blockAt(after, at)));
  expect(changed).toEqual([0]); // Only the header and the first page changed.
  for (const wal of [before, after]) {
    const left = `${file}-left`;
    copyFileSync(file, left);
    writeFileSync(`${left}-wal`, wal);
    const copy = new Database(left);
    expect(copy.query("SELECT count(*) AS n FROM things").get()).toEqual({ n: 1 });
    expect(copy.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
    copy.close();
    rmSync(left);
  }
  finish();
  await checkpoints.close();
});

test("a log that another connection reads is not restarted, and writing continues", async () => {
  const { file, log, start, write, sqlite } = inFile();
  const checkpoints = start(log);
  write(SIZES.restartPages);
  const reader = new Database(file);
  reader.run("BEGIN");
  reader.query("SELECT count(*) FROM things").get();
  const generation = log.generation();
  for (let i = 0; i < 10; i++) {
    write(15);
    checkpoints.consider();
    await checkpoints.close();
    expect(checkpoints.pause()).toBeNull();
  }
  expect(log.generation()).toBe(generation);
  reader.close();
  write(SIZES.roundPages);
  checkpoints.consider();
  await checkpoints.close();
  expect(log.generation()).not.toBe(generation);
  expect(sqlite.query("SELECT count(*) AS n FROM things").get()).toEqual({ n: 12 });
  expect(sqlite.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
});

test("the files that a process leaves in the middle of a round are complete", async () => {
  const { file, log, start, write } = inFile();
  const { slow, finish } = slowLog(log);
  const checkpoints = start(slow);
  write(30);
  checkpoints.consider();
  write(40);
  await settleEventLoop();
  const left = `${file}-left`;
  for (const ending of ["", "-wal"]) copyFileSync(file + ending, left + ending);
  finish();
  await checkpoints.close();
  const copy = new Database(left);
  expect(copy.query("SELECT count(*) AS n FROM things").get()).toEqual({ n: 2 });
  expect(copy.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
});

test("while a reader blocks copying, rounds are rare; after it ends, all frames are copied", async () => {
  const { file, log, start, write, databaseBytes } = inFile();
  let syncs = 0;
  const counted = { ...log, sync: () => (syncs++, log.sync()) };
  const checkpoints = start(counted);
  const reader = new Database(file);
  reader.run("BEGIN");
  reader.query("SELECT count(*) FROM things").get();
  const before = databaseBytes();
  for (let i = 0; i < 20; i++) {
    write(5);
    checkpoints.consider();
    await checkpoints.close();
  }
  // There is one round for each 20 of about 160 pages, not one for each write.
  expect(syncs).toBeLessThan(12);
  expect(databaseBytes()).toBe(before);
  expect(reader.query("SELECT count(*) AS n FROM things").get()).toEqual({ n: 0 });
  reader.close();
  for (let i = 0; i < 20; i++) {
    write(5);
    checkpoints.consider();
    await checkpoints.close();
  }
  expect(databaseBytes()).toBeGreaterThan(20 * 5 * PAGE_BYTES);
});

test("a disk error is reported", async () => {
  const { log, start, write, failures } = inFile();
  const broken = { ...log, sync: () => Promise.reject(new Error("EIO")) };
  const checkpoints = start(broken);
  write(30);
  checkpoints.consider();
  await checkpoints.close();
  expect(failures).toEqual([new Error("EIO")]);
});

test("an SQLite error in a round is not a disk error, and the next round copies the frames", async () => {
  const { log, sqlite, start, write, failures, databaseBytes } = inFile();
  let isFull = true;
  const sync = async () => {
    if (isFull) sqlite.run("INSERT INTO nowhere VALUES (1)");
    await log.sync();
  };
  const checkpoints = start({ ...log, sync });
  const before = databaseBytes();
  write(30);
  checkpoints.consider();
  await checkpoints.close();
  expect([databaseBytes(), failures]).toEqual([before, []]);
  isFull = false;
  checkpoints.consider();
  await checkpoints.close();
  expect(databaseBytes()).toBeGreaterThan(30 * PAGE_BYTES);
});

test("without free file descriptors nothing is copied; the next round copies all frames", async () => {
  const { log, start, write, failures, databaseBytes } = inFile();
  const checkpoints = start(log);
  const before = databaseBytes();
  write(30);
  log.generation(); // Opens the log, which is already open in a server.
  const held = takeAllDescriptors();
  checkpoints.consider();
  await settleEventLoop();
  for (const file of held) closeSync(file);
  expect([databaseBytes(), failures]).toEqual([before, []]);
  checkpoints.consider();
  await checkpoints.close();
  expect(databaseBytes()).toBeGreaterThan(before + 25 * PAGE_BYTES);
});

function takeAllDescriptors(): number[] {
  const held: number[] = [];
  try {
    for (;;) held.push(openSync("/dev/null", "r"));
  } catch (error) {
    if (!(error instanceof Error && Reflect.get(error, "code") === "EMFILE")) throw error;
    return held;
  }
}
