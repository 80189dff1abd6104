/**
 * Takes the waiting for the disk out of the event loop. With `synchronous=FULL` each COMMIT blocks
 * until the disk has the write-ahead log, and everything else waits with it: for tenths of a
 * millisecond, or for a hundred. With NORMAL a COMMIT only writes the log; SQLite still syncs
 * wherever a crash could damage the file (checkpoints, the log's header). What is left to do for
 * durability is to sync the log before anybody is told, and that a thread can do.
 *
 * The log is read in order after a crash: whatever is on disk stands on everything before it.
 */

import type { Database } from "bun:sqlite";
import { closeSync, fdatasync, openSync } from "node:fs";

export type DiskSync = {
  /**
   * Resolves when all that was committed before the call is on disk. Rejects where the disk failed:
   * then nobody knows what it has, and only a new start from what is there can tell.
   */
  sync(): Promise<void>;
  /** Lets go of the file until the next call. */
  release(): void;
};

/**
 * The log is copied into the database at this size (32 MiB), while everything waits: rarely, since
 * most pages have been written many times by then and are copied once.
 */
const CHECKPOINT_PAGES = 8_000;

/** Null for a database in memory, which no disk will ever have. Changes the connection's settings. */
export function createDiskSync(sqlite: Database): DiskSync | null {
  const log = `${sqlite.filename}-wal`;
  if (!isWithLog(sqlite)) return null;
  sqlite.run("PRAGMA synchronous = NORMAL");
  sqlite.run(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  let file: number | null = null;
  return {
    sync() {
      // There since the first commit, and the same file as long as the connection is open.
      const opened = (file ??= openSync(log, "r+"));
      return new Promise((resolve, reject) => {
        fdatasync(opened, (error) => (error === null ? resolve() : reject(error)));
      });
    },
    release() {
      if (file !== null) closeSync(file);
      file = null;
    },
  };
}

function isWithLog(sqlite: Database): boolean {
  const mode = sqlite.query<{ journal_mode: string }, []>("PRAGMA journal_mode").get();
  return mode?.journal_mode === "wal";
}
