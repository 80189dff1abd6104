/**
 * Opens the SQLite database with the settings that every connection needs.
 *
 * The files of this folder, in the order in which a server uses them:
 *
 * 1. `folder.ts` finds and locks the data folder; `create.ts` makes the database of a first start.
 * 2. `open-stored.ts` checks that the file is a database of Mailstead and opens it; `missing-pages.ts`
 *    refuses a database that was cut short; `migrate.ts` applies new migrations.
 * 3. `writer.ts` runs all changes. `durability/` brings them to disk outside the event loop.
 * 4. `fault.ts`, `open-files.ts` and `file-lengths.ts` detect damaged, displaced and truncated
 *    files; `refusal.ts` turns storage errors into answers.
 * 5. `close.ts` closes the database.
 *
 * `schema/` declares the tables, and `usage.ts` counts the bytes and mails of each project.
 */

import type { Database } from "bun:sqlite";
import { type BunSQLiteDatabase, drizzle } from "drizzle-orm/bun-sqlite";
import { openConnection } from "./connection.ts";
import { createFaultLatch, type FaultLatch } from "./fault.ts";
import { createOpenFiles, type OpenFiles } from "./open-files.ts";

/** The query builder with its connection as `sqlite`, and the state of the database files. */
export type Db = BunSQLiteDatabase & { sqlite: Database; fault: FaultLatch; files: OpenFiles };

/**
 * The write-ahead log is truncated only if it has become longer than this. A file system that
 * reports freed blocks to the disk (TRIM) takes tens of milliseconds for a truncation.
 */
export const JOURNAL_SIZE_LIMIT_BYTES = 256 * 1024 * 1024;
/**
 * Longest time to wait for a lock of another process. A checkpoint of a replication tool has the
 * write lock for up to the tool's own timeout, which is usually 5 s. `write-lock.ts` waits this
 * long too, without blocking the event loop.
 */
export const LOCK_TIMEOUT_MS = 10_000;
/**
 * The system caches the file as well: with 60 MiB neither campaigns nor requests nor segments of
 * 100,000 contacts were faster. Between 24 and 12 MiB there was no difference. With 8 MiB, `/v1/send` took
 * a tenth longer.
 */
const PAGE_CACHE_KIB = 16 * 1024;

const IN_MEMORY = ":memory:";

/** Opens `file` (":memory:" in tests). `create`: creates the file if it is missing. */
export function openDatabase(file: string, { create = true } = {}): Db {
  const fault = createFaultLatch();
  const files = createOpenFiles();
  const sqlite = openConnection(file, fault, create ? { create } : { readwrite: true });
  if (file !== IN_MEMORY) files.add(file);
  return withSettings(sqlite, { fault, files });
}

/** Opens a copy of a database in memory; `image` has the bytes of its file. */
export function openCopy(image: Uint8Array): Db {
  const fault = createFaultLatch();
  const sqlite = openConnection(IN_MEMORY, fault, {}, image);
  return withSettings(sqlite, { fault, files: createOpenFiles() });
}

function withSettings(sqlite: Database, { fault, files }: Pick<Db, "fault" | "files">): Db {
  // With WAL and FULL, a commit survives a power cut. None of these settings is a default.
  sqlite.run(`PRAGMA busy_timeout = ${LOCK_TIMEOUT_MS}`);
  sqlite.run("PRAGMA journal_mode = WAL");
  sqlite.run("PRAGMA synchronous = FULL");
  sqlite.run("PRAGMA foreign_keys = ON");
  // SQLite clears deleted content in the pages that stay in use; erasures clear the other pages
  // (modules/privacy/secure-delete.ts).
  sqlite.run("PRAGMA secure_delete = FAST");
  sqlite.run("PRAGMA temp_store = MEMORY");
  sqlite.run(`PRAGMA journal_size_limit = ${JOURNAL_SIZE_LIMIT_BYTES}`);
  sqlite.run(`PRAGMA cache_size = -${PAGE_CACHE_KIB}`);
  return Object.assign(drizzle({ client: sqlite }), { sqlite, fault, files });
}
