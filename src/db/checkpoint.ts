/**
 * Copies the write-ahead log into the database, without making the event loop wait for the disk.
 * SQLite's own checkpoint waits twice while everything stands still, 50 to 100 ms where 30 MiB have
 * gathered. Here a round goes like this, and only the third step takes the loop's time:
 *
 * 1. A reader begins. What it sees ends the round: SQLite copies nothing newer and does not begin
 *    the log anew as long as it is there.
 * 2. The log is brought to disk, beside the event loop.
 * 3. A connection that waits for nothing (`synchronous=OFF`) copies: about 5 µs a page.
 * 4. The database is brought to disk, beside the event loop; then the reader ends.
 *
 * So a page is in the database file only after it is on disk in the log, and the log is written over
 * only after its pages are on disk in the database: what SQLite needs to survive a power cut. A log
 * that has grown long is finished by a checkpoint of SQLite's own kind, when little is left for it.
 */

import { Database, SQLiteError } from "bun:sqlite";
import { openSync, statSync } from "node:fs";
import type { LogFile } from "./log-file.ts";
import { syncToDisk } from "./sync-to-disk.ts";

export type Checkpoints = {
  /** Begins a round if enough was written since the last one. */
  consider(): void;
  /** Resolves when none is under way and its connections are closed; `consider` makes new ones. */
  close(): Promise<void>;
};

/** In pages. */
export type Sizes = {
  /** Of a round: with as many, the loop is held for some three milliseconds, the disk for ten. */
  round: number;
  /** From here on the log is to begin anew. */
  longLog: number;
  /** So little that waiting for the disk takes milliseconds. */
  few: number;
};

const SIZES: Sizes = { round: 600, longLog: 16_000, few: 500 };

type Connections = { reader: Database; copier: Database };

/** What a checkpoint answers: pages in the log, and how many of them the database has now. */
type Outcome = { busy: number; log: number; checkpointed: number };

export function createCheckpoints(deps: {
  sqlite: Database;
  log: LogFile;
  /** Hears of a disk that did not keep what it got. */
  failed: (error: unknown) => void;
  sizes?: Sizes;
}): Checkpoints {
  const { sqlite, log, failed, sizes = SIZES } = deps;
  let connections: Connections | null = null;
  let underway: Promise<void> | null = null;
  /**
   * How far the rounds came in this generation of the log, in pages; `passed`: where one copied
   * nothing, since somebody reads what is older, the next one comes after as many pages again.
   */
  let done = { generation: "", pages: 0, passed: 0 };

  function connect(): Connections {
    const [reader, copier] = [new Database(sqlite.filename), new Database(sqlite.filename)];
    copier.run("PRAGMA synchronous = OFF");
    return { reader, copier };
  }

  /** Whether so many pages wait to be copied. */
  function isWaiting(pages: number): boolean {
    const generation = log.generation();
    if (generation !== done.generation) done = { generation, pages: 0, passed: 0 };
    return log.hasPage(Math.max(done.pages, done.passed) + pages);
  }

  /** Copies what it may; where somebody else is at it, nothing. */
  function checkpoint(connection: Database): void {
    const outcome = connection.query<Outcome, []>("PRAGMA wal_checkpoint(PASSIVE)").get();
    if (outcome !== null && outcome.checkpointed > 0) done.pages = outcome.checkpointed;
  }

  /** False where nothing was copied: nothing is lost, the log is only longer for a while. */
  async function round(): Promise<boolean> {
    const { reader, copier } = (connections ??= connect());
    const before = done.pages;
    try {
      reader.run("BEGIN");
      reader.query("SELECT 1 FROM sqlite_schema LIMIT 1").get();
      await log.sync();
      checkpoint(copier);
    } catch (error) {
      if (reader.inTransaction) reader.run("ROLLBACK");
      if (error instanceof SQLiteError) return false;
      throw error;
    }
    // Where this fails the reader stays, and with it the log that has what the disk may not have.
    await syncToDisk(databaseFile(sqlite.filename));
    reader.run("COMMIT");
    const hasProgress = done.pages !== before;
    if (!hasProgress) done.passed = Math.max(done.pages, done.passed) + sizes.round;
    return hasProgress;
  }

  async function runRounds(): Promise<void> {
    while ((await round()) && log.hasPage(sizes.longLog)) {
      if (!isWaiting(sizes.few)) return finish();
    }
  }

  /** The log begins anew with the next write. */
  function finish(): void {
    try {
      checkpoint(sqlite);
    } catch (error) {
      if (!(error instanceof SQLiteError)) throw error;
    }
  }

  return {
    consider() {
      if (underway !== null || !isWaiting(sizes.round)) return;
      underway = runRounds()
        .catch(failed)
        .finally(() => (underway = null));
    },
    async close() {
      await underway;
      connections?.reader.close();
      connections?.copier.close();
      connections = null;
    },
  };
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
