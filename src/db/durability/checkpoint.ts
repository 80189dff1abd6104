/**
 * Copies the write-ahead log into the database and lets the log begin anew, without making the event
 * loop wait for the disk. SQLite waits for it where everything stands still: twice in a checkpoint,
 * and once more in the first commit of a log that begins anew. On a busy disk each can be 50 ms and
 * more. Here a round goes like this, and only the third step takes the loop's time:
 *
 * 1. A reader begins. What it sees ends the round: SQLite copies nothing newer and does not begin
 *    the log anew as long as it is there.
 * 2. The log is brought to disk, beside the event loop.
 * 3. A connection that waits for nothing (`synchronous=OFF`) copies: about 5 µs a page.
 * 4. The database is brought to disk, beside the event loop. The reader stays until the next round.
 *
 * So a page is in the database file only after it is on disk in the log, and the log is written over
 * only after its pages are on disk in the database: what SQLite needs to survive a power cut.
 *
 * A log that has grown long begins anew once little is left to copy. Until it has, nothing may be
 * written: a last round copies all, the reader ends, and one page is written without waiting, which
 * SQLite puts at the begin of the log. More may be written when that is on disk; otherwise, after a
 * power cut, the begin of the old log might be read, up to where the new one is.
 */

import { type Database, SQLiteError } from "bun:sqlite";
import { openSync, statSync } from "node:fs";
import { isExhaustion } from "../../lib/descriptors.ts";
import { openConnection } from "../connection.ts";
import type { FaultLatch } from "../fault.ts";
import type { LogFile } from "./wal-file.ts";
import { syncToDisk } from "./sync-to-disk.ts";

export type Checkpoints = {
  /** Begins a round if enough was written since the last one. */
  consider(): void;
  /** While the log begins anew nothing may be written: resolves when it has; null otherwise. */
  pause(): Promise<void> | null;
  /** Resolves when none is under way and its connections are closed; `consider` makes new ones. */
  close(): Promise<void>;
};

/** In pages. */
export type Sizes = {
  /** Of a round: with as many, the loop is held for some three milliseconds, the disk for ten. */
  round: number;
  /** From here on the log is to begin anew. */
  longLog: number;
  /** So little that writing may wait until it is copied. */
  few: number;
};

const SIZES: Sizes = { round: 600, longLog: 16_000, few: 500 };

type Connections = {
  reader: Database;
  copier: Database;
  /** The database file, to bring it to disk. */
  file: number;
};

/** What a checkpoint answers: pages in the log, and how many of them the database has now. */
type Outcome = { busy: number; log: number; checkpointed: number };

/** What a round copied; after "none" nothing is lost, the log is only longer for a while. */
type Round = "none" | "some" | "all";

export function createCheckpoints(deps: {
  sqlite: Database;
  log: LogFile;
  fault: FaultLatch;
  /** Throws StorageFaultError where the paths do not lead to the files that `sqlite` has open. */
  ensureSound: () => void;
  /** Called when the disk did not keep what it got, and with every StorageFaultError. */
  failed: (error: unknown) => void;
  sizes?: Sizes;
}): Checkpoints {
  const { sqlite, log, fault, ensureSound, failed, sizes = SIZES } = deps;
  let connections: Connections | null = null;
  let underway: Promise<void> | null = null;
  let pause: Promise<void> | null = null;
  /**
   * How far the rounds came in this generation of the log, in pages; `passed`: where one copied
   * nothing, since somebody reads what is older, the next one comes after as many pages again.
   */
  let done = { generation: "", pages: 0, passed: 0 };

  /** Opens by path; what it copies must never go into another file. */
  function connect(): Connections {
    const file = databaseFile(sqlite.filename);
    const [reader, copier] = [openOne(), openOne()];
    try {
      ensureSound();
    } catch (error) {
      for (const connection of [reader, copier]) connection.close();
      throw error;
    }
    copier.run("PRAGMA synchronous = OFF");
    return { reader, copier, file };
  }

  const openOne = () => openConnection(sqlite.filename, fault);

  /** Whether so many pages wait to be copied. */
  function isWaiting(pages: number): boolean {
    const generation = log.generation();
    if (generation !== done.generation) done = { generation, pages: 0, passed: 0 };
    return log.hasPage(Math.max(done.pages, done.passed) + pages);
  }

  /** Copies what it may; where somebody else is at it, nothing. True if nothing is left. */
  function copy(copier: Database): boolean {
    const outcome = copier.query<Outcome, []>("PRAGMA wal_checkpoint(PASSIVE)").get();
    if (outcome === null || outcome.checkpointed <= 0) return false;
    done.pages = outcome.checkpointed;
    return outcome.checkpointed === outcome.log;
  }

  /** Null where nothing more can be opened now; then nothing is lost, and it is tried again. */
  function connected(): Connections | null {
    try {
      return (connections ??= connect());
    } catch (error) {
      if (error instanceof SQLiteError || isExhaustion(error)) return null;
      throw error;
    }
  }

  async function round(): Promise<Round> {
    ensureSound();
    const open = connected();
    if (open === null) return "none";
    const { reader, copier, file } = open;
    const before = done.pages;
    let isAll: boolean;
    try {
      if (reader.inTransaction) reader.run("COMMIT");
      reader.run("BEGIN");
      reader.query("SELECT 1 FROM sqlite_schema LIMIT 1").get();
      await log.sync();
      isAll = copy(copier);
    } catch (error) {
      if (error instanceof SQLiteError) return "none";
      throw error;
    }
    // Where this fails the reader stays, and with it the log that has what the disk may not have.
    await syncToDisk(file);
    if (isAll) return "all";
    if (done.pages !== before) return "some";
    done.passed = Math.max(done.pages, done.passed) + sizes.round;
    return "none";
  }

  async function runRounds(): Promise<void> {
    while ((await round()) !== "none" && log.hasPage(sizes.longLog)) {
      if (isWaiting(sizes.few)) continue;
      const { promise, resolve } = Promise.withResolvers<void>();
      pause = promise;
      await beginAnew().finally(() => {
        pause = null;
        resolve();
      });
      return;
    }
  }

  async function beginAnew(): Promise<void> {
    if ((await round()) !== "all" || connections === null) return;
    const { reader, copier } = connections;
    reader.run("COMMIT");
    try {
      rewriteFirstPage(sqlite);
      copier.run("BEGIN IMMEDIATE"); // Keeps other processes from writing, too.
    } catch (error) {
      if (!(error instanceof SQLiteError)) throw error; // Another process was faster.
    }
    await log.sync();
    if (copier.inTransaction) copier.run("ROLLBACK");
  }

  return {
    consider() {
      if (underway !== null || !isWaiting(sizes.round)) return;
      underway = runRounds()
        .catch(failed)
        .finally(() => (underway = null));
    },
    pause: () => pause,
    async close() {
      await underway;
      connections?.reader.close();
      connections?.copier.close();
      connections = null;
    },
  };
}

/** Without waiting for the disk. Changes nothing: SQLite does not look whether a version is new. */
function rewriteFirstPage(sqlite: Database): void {
  const safety = pragma(sqlite, "synchronous");
  sqlite.run("PRAGMA synchronous = OFF");
  try {
    sqlite.run(`PRAGMA user_version = ${pragma(sqlite, "user_version")}`);
  } finally {
    sqlite.run(`PRAGMA synchronous = ${safety}`);
  }
}

function pragma(sqlite: Database, name: string): number {
  return Number(sqlite.query(`PRAGMA ${name}`).values()[0]?.[0]);
}

/**
 * Database files that were brought to disk by this process, by inode. They stay open: closing one
 * would drop the locks that SQLite holds on it (POSIX: of a process, not of a descriptor).
 */
const databaseFiles = new Map<string, number>();

function databaseFile(path: string): number {
  const { dev, ino } = statSync(path);
  const key = `${dev}:${ino}`;
  const file = databaseFiles.get(key) ?? openSync(path, "r+");
  databaseFiles.set(key, file);
  return file;
}
