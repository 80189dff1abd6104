/**
 * Detects truncated database files. SQLite reads the missing end of a database as zeros, and it
 * writes beyond the end of a truncated log, so it may not notice a truncation for a long time.
 */

import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import type { StorageFault } from "./fault.ts";
import type { LogFile } from "./durability/wal-file.ts";

type FileLengths = {
  /** Returns a fault if the database or the log was truncated, and null if neither was. */
  findTruncated(): StorageFault | null;
};

export function createFileLengths(sqlite: Database, log: LogFile, pageBytes: number): FileLengths {
  const { filename } = sqlite;
  let databaseBytes = 0;
  let logBytes = 0;
  let header = "";

  /** A VACUUM makes the file shorter too, but then the database also has fewer pages. */
  function isDatabaseTruncated(): boolean {
    const size = statSync(filename, { throwIfNoEntry: false })?.size ?? databaseBytes;
    const isShorter = size < databaseBytes;
    if (size === 0 || (isShorter && pagesOf(sqlite) * pageBytes >= databaseBytes)) return true;
    databaseBytes = size;
    return false;
  }

  /** Another process may restart or empty the log between two reads; then this examines it again. */
  function isLogTruncated(): boolean {
    const before = { logBytes, header };
    for (;;) {
      logBytes = log.sizeBytes();
      header = log.header();
      const isTruncated = isTruncatedSince(before);
      if (log.sizeBytes() === logBytes && log.header() === header) return isTruncated;
    }
  }

  /**
   * A log becomes shorter only when SQLite restarts it, and empty only when all of it was copied.
   * After a truncation SQLite writes the next frames at their old position, which leaves a hole.
   */
  function isTruncatedSince(before: { logBytes: number; header: string }): boolean {
    if (logBytes === 0) return false;
    if (header === "") return true;
    if (header !== before.header || logBytes === before.logBytes) return false;
    return logBytes < before.logBytes || !log.hasFrameBefore(before.logBytes);
  }

  return {
    findTruncated() {
      if (isDatabaseTruncated()) return truncationOf(filename);
      return isLogTruncated() ? truncationOf(log.path) : null;
    },
  };
}

function pagesOf(sqlite: Database): number {
  return Number(sqlite.query("PRAGMA page_count").values()[0]?.[0]);
}

function truncationOf(file: string): StorageFault {
  return { kind: "damaged", file, finding: "it is shorter than it was" };
}
