/** Checks that the paths of the database and its log still lead to the files that SQLite has open. */

import type { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { createFileLengths } from "../file-lengths.ts";
import type { Db } from "../open.ts";
import type { LogFile } from "./wal-file.ts";

type FileChecks = {
  /** Returns false and raises a fault if a file was deleted, moved, replaced or truncated. */
  verify(): boolean;
  /** Throws StorageFaultError where `verify` returns false. */
  ensureSound(): void;
  /**
   * Throws StorageFaultError if the database or the log was deleted or moved. This runs after every
   * commit, so it takes only a few microseconds and allocates nothing.
   */
  ensureInPlace(): void;
};

/** https://sqlite.org/c3ref/c_fcntl_begin_atomic_write.html; Bun does not export it. */
const SQLITE_FCNTL_HAS_MOVED = 20;
const LOG_SUFFIXES = ["-wal", "-shm"] as const;

export function createFileChecks(deps: { db: Db; log: LogFile; pageBytes: number }): FileChecks {
  const { log, pageBytes } = deps;
  const { sqlite, files, fault } = deps.db;
  // The first read makes SQLite open the log and its index, if they are not open yet.
  sqlite.query("SELECT 1 FROM sqlite_schema LIMIT 1").get();
  for (const suffix of LOG_SUFFIXES) files.add(sqlite.filename + suffix);
  const lengths = createFileLengths(sqlite, log, pageBytes);

  function verify(): boolean {
    const found = fault.current() ?? files.findDisplaced() ?? lengths.findTruncated();
    if (found !== null) fault.raise(found);
    return found === null;
  }

  function ensureSound(): void {
    if (!verify()) fault.check();
  }

  return {
    verify,
    ensureSound,
    ensureInPlace() {
      if (hasMoved(sqlite) || !existsSync(log.path)) ensureSound();
      fault.check();
    },
  };
}

const moved = new Int32Array(2);

/** Whether the path of the database no longer leads to the file that SQLite has open. */
function hasMoved(sqlite: Database): boolean {
  sqlite.fileControl("main", SQLITE_FCNTL_HAS_MOVED, moved);
  return moved[0] !== 0;
}
