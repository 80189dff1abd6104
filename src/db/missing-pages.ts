/**
 * Checks that no page of a database is missing. A page may be in the database file, or in the log
 * that a killed server left.
 */

import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { openLogFile } from "./durability/wal-file.ts";
import type { Db } from "./open.ts";

/**
 * SQLite never uses the page with this byte
 * (https://sqlite.org/fileformat2.html#the_lock_byte_page).
 */
const LOCK_BYTE = 0x40000000;

/**
 * Throws StorageFaultError if the database file was truncated. The process must hold the lock of
 * the data folder. The check is fast if the file has the length of the database.
 */
export function refuseMissingPages({ sqlite, fault }: Db): void {
  const file = sqlite.filename;
  const pageBytes = pragma(sqlite, "page_size");
  const inFile = Math.floor(statSync(file).size / pageBytes);
  const inDatabase = pragma(sqlite, "page_count");
  if (inFile >= inDatabase) return;
  const inLog = pagesInLog(sqlite, pageBytes);
  const isUnused = (page: number) => page === LOCK_BYTE / pageBytes + 1;
  for (let page = inFile + 1; page <= inDatabase; page++) {
    if (inLog.has(page) || isUnused(page)) continue;
    if (isSound(sqlite)) return;
    throw fault.raise({ kind: "damaged", file, finding: "it was cut short" });
  }
}

/** Returns the numbers of the pages that were committed to the log. */
function pagesInLog(sqlite: Database, pageBytes: number): Set<number> {
  const log = openLogFile(`${sqlite.filename}-wal`, pageBytes);
  try {
    // NOOP copies nothing and returns the number of committed frames.
    const state = sqlite.query<{ log: number }, []>("PRAGMA wal_checkpoint(NOOP)").get();
    return log.pageNumbers(state?.log ?? 0);
  } finally {
    log.close();
  }
}

/** Reads the whole database. This is for the rare case that a missing page may not be needed. */
function isSound(sqlite: Database): boolean {
  return sqlite.query("PRAGMA quick_check(1)").values()[0]?.[0] === "ok";
}

function pragma(sqlite: Database, name: string): number {
  return Number(sqlite.query(`PRAGMA ${name}`).values()[0]?.[0]);
}
