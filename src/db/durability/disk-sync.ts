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
import { existsSync } from "node:fs";
import { createCheckpoints } from "./checkpoint.ts";
import { createLengths } from "../lengths.ts";
import { openLogFile } from "./wal-file.ts";
import type { Db } from "../open.ts";

export type DiskSync = {
  /**
   * Resolves when all that was committed before the call is on disk, in files that were not deleted
   * or moved. Rejects with StorageFaultError if they were. Any other error is the disk's: it is
   * unknown what the disk has, and only a new start from what is there can tell.
   */
  sync(): Promise<void>;
  /** False and a fault if a file was deleted, moved, replaced or cut short. For every second. */
  verify(): boolean;
  /** Sometimes nothing may be committed until this resolves; mostly it is null. */
  pause(): Promise<void> | null;
  /** Lets go of the files until the next call. */
  release(): Promise<void>;
};

/** By then (256 MiB) our own checkpoints have been held up for long, and SQLite makes one. */
const LAST_RESORT_PAGES = 64_000;
/** https://sqlite.org/c3ref/c_fcntl_begin_atomic_write.html; Bun does not export it. */
const SQLITE_FCNTL_HAS_MOVED = 20;
const LOG_ENDINGS = ["-wal", "-shm"] as const;

/** Null for a database in memory, which has no file. Changes the connection's settings. */
export function createDiskSync({ sqlite, files, fault }: Db): DiskSync | null {
  if (!isWithLog(sqlite)) return null;
  sqlite.run("PRAGMA synchronous = NORMAL");
  sqlite.run(`PRAGMA wal_autocheckpoint = ${LAST_RESORT_PAGES}`);
  const pages = pageBytes(sqlite);
  const log = openLogFile(`${sqlite.filename}-wal`, pages);
  // The first read makes SQLite open the log and its index, where that was not done yet.
  sqlite.query("SELECT 1 FROM sqlite_schema LIMIT 1").get();
  for (const ending of LOG_ENDINGS) files.add(sqlite.filename + ending);
  const lengths = createLengths(sqlite, log, pages);
  let failure: { error: unknown } | null = null;
  const failed = (error: unknown) => void (failure ??= { error });

  function verify(): boolean {
    const found = fault.current() ?? files.findDisplaced() ?? lengths.findCut();
    if (found !== null) fault.raise(found);
    return found === null;
  }

  function ensureSound(): void {
    if (!verify()) fault.check();
  }

  /** Part of every commit: without any object that has to be collected, a few microseconds. */
  function ensureKept(): void {
    if (hasMoved(sqlite) || !existsSync(log.path)) ensureSound();
    fault.check();
  }

  const checkpoints = createCheckpoints({ sqlite, log, fault, ensureSound, failed });
  return {
    async sync() {
      // It is opened by its path, which has to lead to the log that SQLite writes.
      if (!log.isOpen()) ensureSound();
      await log.sync();
      if (failure !== null) throw failure.error;
      ensureKept();
      checkpoints.consider();
    },
    verify,
    pause: checkpoints.pause,
    async release() {
      await checkpoints.close();
      log.close();
    },
  };
}

const moved = new Int32Array(2);

/** Whether the path of the database leads to another file than the one that SQLite has open. */
function hasMoved(sqlite: Database): boolean {
  sqlite.fileControl("main", SQLITE_FCNTL_HAS_MOVED, moved);
  return moved[0] !== 0;
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
