/**
 * Finds database files that were cut short. SQLite reads what is missing at the end of a database
 * as zeros and writes behind the end of a log, so it may notice neither for a long time.
 */

import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import type { StorageFault } from "./fault.ts";
import type { LogFile } from "./durability/wal-file.ts";

export type Lengths = {
  /** The file that is shorter than it should be; null if neither is. */
  findCut(): StorageFault | null;
};

export function createLengths(sqlite: Database, log: LogFile, pageBytes: number): Lengths {
  const { filename } = sqlite;
  let databaseBytes = 0;
  let logBytes = 0;
  let header = "";

  /** A VACUUM makes the file shorter too; then the database has fewer pages than before. */
  function isDatabaseCut(): boolean {
    const size = statSync(filename, { throwIfNoEntry: false })?.size ?? databaseBytes;
    const isShorter = size < databaseBytes;
    if (size === 0 || (isShorter && pagesOf(sqlite) * pageBytes >= databaseBytes)) return true;
    databaseBytes = size;
    return false;
  }

  /**
   * A log becomes shorter only when it begins anew, or empty when all of it was copied. What is
   * written after a cut stands where it would have stood, behind a hole.
   */
  function isLogCut(): boolean {
    const before = { logBytes, header };
    logBytes = log.sizeBytes();
    header = log.header();
    if (logBytes === 0) return false;
    if (header === "") return true;
    if (header !== before.header || logBytes === before.logBytes) return false;
    return logBytes < before.logBytes || !log.hasPageBefore(before.logBytes);
  }

  return {
    findCut() {
      if (isDatabaseCut()) return cutShort(filename);
      return isLogCut() ? cutShort(log.path) : null;
    },
  };
}

function pagesOf(sqlite: Database): number {
  return Number(sqlite.query("PRAGMA page_count").values()[0]?.[0]);
}

function cutShort(file: string): StorageFault {
  return { kind: "damaged", file, finding: "it is shorter than it was" };
}
