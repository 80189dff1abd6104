/** Opens the one SQLite file with the settings that every connection of ours needs. */

import type { Database } from "bun:sqlite";
import { type BunSQLiteDatabase, drizzle } from "drizzle-orm/bun-sqlite";
import { openConnection } from "./connection.ts";
import { createFaultLatch, type FaultLatch } from "./fault.ts";
import { createOpenFiles, type OpenFiles } from "./open-files.ts";

/** The query builder, the connection beneath it as `sqlite`, and the state of its files. */
export type Db = BunSQLiteDatabase & { sqlite: Database; fault: FaultLatch; files: OpenFiles };

/**
 * Cuts the write-ahead log only after it was extraordinarily long: a file system that tells the disk
 * what it freed takes tens of milliseconds.
 */
const JOURNAL_SIZE_LIMIT_BYTES = 256 * 1024 * 1024;
const PAGE_CACHE_KIB = 60 * 1024;

const IN_MEMORY = ":memory:";

/** Opens `file` (":memory:" for tests). `create`: makes it if it is not there. */
export function openDatabase(file: string, { create = true } = {}): Db {
  const fault = createFaultLatch();
  const files = createOpenFiles();
  const sqlite = openConnection(file, fault, create ? { create } : { readwrite: true });
  if (file !== IN_MEMORY) files.add(file);
  // WAL + FULL: a commit that was answered survives a power cut. None of these is a default.
  sqlite.run("PRAGMA busy_timeout = 5000");
  sqlite.run("PRAGMA journal_mode = WAL");
  sqlite.run("PRAGMA synchronous = FULL");
  sqlite.run("PRAGMA foreign_keys = ON");
  sqlite.run("PRAGMA temp_store = MEMORY");
  sqlite.run(`PRAGMA journal_size_limit = ${JOURNAL_SIZE_LIMIT_BYTES}`);
  sqlite.run(`PRAGMA cache_size = -${PAGE_CACHE_KIB}`);
  return Object.assign(drizzle({ client: sqlite }), { sqlite, fault, files });
}
