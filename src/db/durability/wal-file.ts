/** The write-ahead log as a file: brought to disk, and how long it is (sqlite.org/fileformat2 §4). */

import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { syncToDisk } from "./sync-to-disk.ts";

export type LogFile = {
  path: string;
  sizeBytes(): number;
  /** Resolves when all that was committed before the call is on disk. */
  sync(): Promise<void>;
  /** Another one whenever the log began anew. */
  generation(): string;
  /** Whether the log has so many pages, of this generation. */
  hasPage(number: number): boolean;
  /** As `generation`, but "" where the file does not begin with the header of a log. */
  header(): string;
  /** The numbers in the database of the first pages of the log, as many as are asked for. */
  pageNumbers(count: number): Set<number>;
  /** Whether something was written where the last whole page before this byte stands. */
  hasPageBefore(end: number): boolean;
  isOpen(): boolean;
  /** Until the next call. SQLite keeps no locks on this file, so closing it drops none. */
  close(): void;
};

const HEADER_BYTES = 32;
const PAGE_HEADER_BYTES = 24;
/** Each page repeats the salts of the header; those left from before have others. */
const SALTS_BYTES = 8;
const SALTS_AT = 16;
/** The last bit tells the byte order of the checksums. */
const MAGIC = 0x377f0682;
const MAGIC_MASK = 0xfffffffe;
const PAGE_SALTS_AT = 8;
const PAGE_NUMBER_BYTES = 4;

export function openLogFile(path: string, pageBytes: number): LogFile {
  const salts = Buffer.alloc(SALTS_BYTES);
  const header = Buffer.alloc(SALTS_AT + SALTS_BYTES);
  let file: number | null = null;

  // There since the first commit, and the same file as long as the connection is open.
  const opened = () => (file ??= openSync(path, "r+"));

  /** Empty where the file ends before. */
  function saltsAt(position: number): string {
    const read = readSync(opened(), salts, 0, SALTS_BYTES, position);
    return read === SALTS_BYTES ? salts.toString("latin1") : "";
  }

  const generation = () => saltsAt(SALTS_AT);
  const frameBytes = PAGE_HEADER_BYTES + pageBytes;
  const startOf = (number: number) => HEADER_BYTES + (number - 1) * frameBytes;

  function hasMagic(): boolean {
    const read = readSync(opened(), header, 0, header.length, 0);
    // `>>> 0`: bitwise operators give signed numbers.
    return read === header.length && (header.readUInt32BE(0) & MAGIC_MASK) >>> 0 === MAGIC;
  }

  return {
    path,
    sizeBytes: () => fstatSync(opened()).size,
    sync: () => syncToDisk(opened()),
    generation,
    hasPage(number) {
      const found = saltsAt(startOf(number) + PAGE_SALTS_AT);
      return found !== "" && found === generation();
    },
    header: () => (hasMagic() ? header.toString("latin1", SALTS_AT) : ""),
    pageNumbers(count) {
      const number = Buffer.alloc(PAGE_NUMBER_BYTES);
      return new Set(
        Array.from({ length: count }, (_, i) => {
          readSync(opened(), number, 0, number.length, startOf(i + 1));
          return number.readUInt32BE(0);
        }),
      );
    },
    hasPageBefore(end) {
      const number = Math.floor((end - HEADER_BYTES) / frameBytes);
      // A hole in a file reads as zeros.
      return number < 1 || /[^\0]/.test(saltsAt(startOf(number) + PAGE_SALTS_AT));
    },
    isOpen: () => file !== null,
    close() {
      if (file !== null) closeSync(file);
      file = null;
    },
  };
}
