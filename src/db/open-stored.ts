/** Opens the database of an installation, or explains in one sentence why it cannot be used. */

import { SQLiteError } from "bun:sqlite";
import { closeSync, openSync, readSync } from "node:fs";
import { openConnection } from "./connection.ts";
import { createFaultLatch } from "./fault.ts";
import { DataFolderError } from "./folder.ts";
import { type Db, openDatabase } from "./open.ts";
import { isStorageError } from "./refusal.ts";

/** https://sqlite.org/fileformat2.html#magic_header_string */
const HEADER = "SQLite format 3\0";
const READING_CACHE_KIB = 64 * 1024;
const RESTORE = "Restore it from the newest backup, or name another folder with --data.";

/**
 * Opens an existing database with the settings of `openDatabase`. Throws DataFolderError if it is
 * not a database of Mailstead, and StorageFaultError if opening it shows that it is damaged.
 */
export function openStoredDatabase(file: string): Db {
  return opened(file, () => openDatabase(file, { create: false }));
}

/**
 * Like `openStoredDatabase`, but only for reading. A server may use the database at the same time.
 */
export function openForReading(file: string): Pick<Db, "sqlite"> {
  return opened(file, () => {
    const sqlite = openConnection(file, createFaultLatch(), { readonly: true });
    sqlite.run("PRAGMA busy_timeout = 5000");
    sqlite.run(`PRAGMA cache_size = -${READING_CACHE_KIB}`);
    return { sqlite };
  });
}

function opened<T extends Pick<Db, "sqlite">>(file: string, open: () => T): T {
  if (!hasHeader(file)) throw new DataFolderError(`${file} is not an SQLite database.`, RESTORE);
  const db = explained(file, open);
  if (explained(file, () => hasSchema(db))) return db;
  db.sqlite.close();
  throw new DataFolderError(
    `${file} is not a database of Mailstead: it has no table named migrations.`,
    `${RESTORE} If it was left by a first start of an older version, delete it.`,
  );
}

/**
 * Checks the file header. Call this before SQLite opens the file: closing a file drops all locks
 * that the process has on it.
 */
function hasHeader(file: string): boolean {
  const found = Buffer.alloc(HEADER.length);
  const opened = openSync(file, "r");
  try {
    readSync(opened, found, 0, found.length, 0);
  } finally {
    closeSync(opened);
  }
  return found.toString("latin1") === HEADER;
}

function explained<T>(file: string, use: () => T): T {
  try {
    return use();
  } catch (error) {
    if (!(error instanceof SQLiteError) || !isStorageError(error)) throw error;
    const message = `${file} cannot be used: ${error.message} (${error.code}).`;
    throw new DataFolderError(message, null, error);
  }
}

function hasSchema({ sqlite }: Pick<Db, "sqlite">): boolean {
  const find = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'";
  return sqlite.query(find).get() !== null;
}
