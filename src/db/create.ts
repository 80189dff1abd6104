/**
 * Makes the database of a new installation under another name, with its schema, and gives it its
 * own name once all of it is on disk. So a database file that is empty or has no schema is never the
 * work of a start that was interrupted: it is damaged.
 */

import { closeSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { openConnection } from "./connection.ts";
import { createFaultLatch } from "./fault.ts";
import { migrate } from "./migrate.ts";

const UNFINISHED = ".new";
/** The files that SQLite may have made for a start that was interrupted. */
const ENDINGS = ["", "-journal", "-wal", "-shm"] as const;

/**
 * Part of a first start, for the process that has the lock of the folder. Returns the names of the
 * migrations that made the schema.
 */
export function createDatabase(file: string): string[] {
  const unfinished = file + UNFINISHED;
  for (const ending of ENDINGS) rmSync(unfinished + ending, { force: true });
  const sqlite = openConnection(unfinished, createFaultLatch(), { create: true });
  // Without a write-ahead log the database is this one file, and nothing else knows its first name.
  sqlite.run("PRAGMA journal_mode = DELETE");
  sqlite.run("PRAGMA synchronous = EXTRA");
  const applied = migrate(sqlite);
  sqlite.close();
  renameSync(unfinished, file);
  syncFolder(dirname(file));
  return applied;
}

/** A name survives a power cut once its folder is on disk. */
function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
