/** The write-ahead log as a file: brought to disk, and how long it is (sqlite.org/fileformat2 §4). */

import { closeSync, openSync, readSync } from "node:fs";
import { syncToDisk } from "./sync-to-disk.ts";

export type LogFile = {
  /** Resolves when all that was committed before the call is on disk. */
  sync(): Promise<void>;
  /** Another one whenever the log began anew. */
  generation(): string;
  /** Whether the log has so many pages, of this generation. */
  hasPage(number: number): boolean;
  /** Until the next call. SQLite keeps no locks on this file, so closing it drops none. */
  close(): void;
};

const HEADER_BYTES = 32;
const PAGE_HEADER_BYTES = 24;
/** Each page repeats the salts of the header; those left from before have others. */
const SALTS_BYTES = 8;
const SALTS_AT = 16;
const PAGE_SALTS_AT = 8;

export function openLogFile(path: string, pageBytes: number): LogFile {
  const salts = Buffer.alloc(SALTS_BYTES);
  let file: number | null = null;

  // There since the first commit, and the same file as long as the connection is open.
  const opened = () => (file ??= openSync(path, "r+"));

  /** Empty where the file ends before. */
  function saltsAt(position: number): string {
    const read = readSync(opened(), salts, 0, SALTS_BYTES, position);
    return read === SALTS_BYTES ? salts.toString("latin1") : "";
  }

  const generation = () => saltsAt(SALTS_AT);

  return {
    sync: () => syncToDisk(opened()),
    generation,
    hasPage(number) {
      const start = HEADER_BYTES + (number - 1) * (PAGE_HEADER_BYTES + pageBytes);
      const found = saltsAt(start + PAGE_SALTS_AT);
      return found !== "" && found === generation();
    },
    close() {
      if (file !== null) closeSync(file);
      file = null;
    },
  };
}
