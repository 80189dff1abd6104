/**
 * Takes the waiting for the disk out of the event loop. With `synchronous=FULL` each COMMIT blocks
 * until the disk has the write-ahead log, and everything else waits with it: for tenths of a
 * millisecond, or for a hundred. With NORMAL a COMMIT only writes the log. What is left to do for
 * durability is to sync the log before anybody is told, and that a thread can do; `checkpoint` does
 * the same for copying the log into the database.
 *
 * The log is read in order after a crash: whatever is on disk stands on everything before it.
 */

import type { Database } from "bun:sqlite";
import { createCheckpoints } from "./checkpoint.ts";
import { openLogFile } from "./log-file.ts";

export type DiskSync = {
  /**
   * Resolves when all that was committed before the call is on disk. Rejects where the disk failed:
   * then nobody knows what it has, and only a new start from what is there can tell.
   */
  sync(): Promise<void>;
  /** Sometimes nothing may be committed until this resolves; mostly it is null. */
  pause(): Promise<void> | null;
  /** Lets go of the files until the next call. */
  release(): Promise<void>;
};

/** By then (256 MiB) our own checkpoints have been held up for long, and SQLite makes one. */
const LAST_RESORT_PAGES = 64_000;

/** Null for a database in memory, which no disk will ever have. Changes the connection's settings. */
export function createDiskSync(sqlite: Database): DiskSync | null {
  if (!isWithLog(sqlite)) return null;
  sqlite.run("PRAGMA synchronous = NORMAL");
  sqlite.run(`PRAGMA wal_autocheckpoint = ${LAST_RESORT_PAGES}`);
  const log = openLogFile(`${sqlite.filename}-wal`, pageBytes(sqlite));
  let failure: { error: unknown } | null = null;
  const failed = (error: unknown) => void (failure ??= { error });
  const checkpoints = createCheckpoints({ sqlite, log, failed });
  return {
    async sync() {
      await log.sync();
      if (failure !== null) throw failure.error;
      checkpoints.consider();
    },
    pause: checkpoints.pause,
    async release() {
      await checkpoints.close();
      log.close();
    },
  };
}

function isWithLog(sqlite: Database): boolean {
  const mode = sqlite.query<{ journal_mode: string }, []>("PRAGMA journal_mode").get();
  return mode?.journal_mode === "wal";
}

function pageBytes(sqlite: Database): number {
  const size = sqlite.query<{ page_size: number }, []>("PRAGMA page_size").get()?.page_size;
  if (size === undefined) throw new Error("the database does not know its page size");
  return size;
}
