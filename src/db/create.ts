/**
 * Creates the database of a new installation under a temporary name, and renames it when the file
 * with its schema is on disk. An interrupted start therefore never leaves a database file that is
 * empty or has no schema; such a file is damaged.
 */

import { closeSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { openConnection } from "./connection.ts";
import { createFaultLatch } from "./fault.ts";
import { migrate } from "./migrate.ts";

const UNFINISHED_SUFFIX = ".new";
/** Suffixes of the files that SQLite may have created during an interrupted start. */
const SQLITE_SUFFIXES = ["", "-journal", "-wal", "-shm"] as const;

/**
 * Creates the database of a first start and returns the names of the applied migrations. The
 * process must hold the lock of the data folder.
 */
export function createDatabase(file: string): string[] {
  const unfinished = file + UNFINISHED_SUFFIX;
  for (const suffix of SQLITE_SUFFIXES) rmSync(unfinished + suffix, { force: true });
  const sqlite = openConnection(unfinished, createFaultLatch(), { create: true });
  // Without a write-ahead log the database is one file, which can be renamed. It is synced once, at
  // the end: an unfinished file is discarded at the next start anyway.
  sqlite.run("PRAGMA journal_mode = MEMORY");
  sqlite.run("PRAGMA synchronous = OFF");
  const applied = migrate(sqlite);
  sqlite.close();
  sync(unfinished);
  renameSync(unfinished, file);
  // The new name of a file survives a power cut only after its folder is synced.
  sync(dirname(file));
  return applied;
}

function sync(path: string): void {
  const opened = openSync(path, "r");
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
