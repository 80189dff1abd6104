/** The connections and the file of a database that checkpoints use. */

import { type Database, SQLiteError } from "bun:sqlite";
import { openSync, statSync } from "node:fs";
import { isExhaustion } from "../../lib/descriptors.ts";
import { openConnection } from "../connection.ts";
import type { FaultLatch } from "../fault.ts";

export type Connections = {
  reader: Database;
  copier: Database;
  /** Descriptor of the database file, to sync it. */
  file: number;
};

type Options = {
  path: string;
  fault: FaultLatch;
  /** Throws StorageFaultError if the paths do not lead to the files that the server has open. */
  ensureSound: () => void;
};

/**
 * Opens the files by path, and throws StorageFaultError if a path leads to another file. Returns
 * null if no more files can be opened now.
 */
export function tryConnect(options: Options): Connections | null {
  try {
    return connect(options);
  } catch (error) {
    if (error instanceof SQLiteError || isExhaustion(error)) return null;
    throw error;
  }
}

function connect({ path, fault, ensureSound }: Options): Connections {
  const file = databaseFile(path);
  const [reader, copier] = [openConnection(path, fault), openConnection(path, fault)];
  try {
    ensureSound();
  } catch (error) {
    for (const connection of [reader, copier]) connection.close();
    throw error;
  }
  copier.run("PRAGMA synchronous = OFF");
  return { reader, copier, file };
}

/**
 * Open descriptors of database files, by device and inode. They are never closed: a POSIX lock
 * belongs to the process, so closing any descriptor of a file releases the locks that SQLite has on
 * it.
 */
const databaseFiles = new Map<string, number>();

function databaseFile(path: string): number {
  const { dev, ino } = statSync(path);
  const key = `${dev}:${ino}`;
  const file = databaseFiles.get(key) ?? openSync(path, "r+");
  databaseFiles.set(key, file);
  return file;
}
