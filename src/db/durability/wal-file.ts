/**
 * The file of the write-ahead log: syncs it and reads its headers. The log is a header and frames;
 * each frame is a frame header and a database page
 * (https://sqlite.org/fileformat2.html#the_wal_index).
 */

import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { syncToDisk } from "./sync-to-disk.ts";

export type LogFile = {
  path: string;
  sizeBytes(): number;
  /** Resolves when all changes that were committed before the call are on disk. */
  sync(): Promise<void>;
  /** Identifies the current generation of the log. It changes when SQLite restarts the log. */
  generation(): string;
  /** Whether the log has at least `number` frames of this generation, or else of the current one. */
  hasFrame(number: number, generation?: string): boolean;
  /** The number of the last frame of the current generation, which is at least `from`. */
  lastFrame(from: number): number;
  /** Like `generation`, but "" if the file does not start with the header of a log. */
  header(): string;
  /** Returns the database page numbers of the first `count` frames. */
  pageNumbers(count: number): Set<number>;
  /** Whether the last complete frame before the byte `end` was written. */
  hasFrameBefore(end: number): boolean;
  isOpen(): boolean;
  /**
   * Closes the file; the next call opens it again. SQLite has no locks on it that this would drop.
   */
  close(): void;
};

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** Each frame repeats the salts of the header. Frames of older generations have other salts. */
const SALTS_BYTES = 8;
const SALTS_AT = 16;
/** The mask ignores the last bit, which is the byte order of the checksums. */
const MAGIC = 0x377f0682;
const MAGIC_MASK = 0xfffffffe;
const FRAME_SALTS_AT = 8;
const PAGE_NUMBER_BYTES = 4;

export function openLogFile(path: string, pageBytes: number): LogFile {
  const salts = Buffer.alloc(SALTS_BYTES);
  const header = Buffer.alloc(SALTS_AT + SALTS_BYTES);
  let file: number | null = null;

  // The file exists from the first commit on and stays the same until the connection is closed.
  const opened = () => (file ??= openSync(path, "r+"));

  /** Returns "" if the file is shorter. */
  function saltsAt(position: number): string {
    const read = readSync(opened(), salts, 0, SALTS_BYTES, position);
    return read === SALTS_BYTES ? salts.toString("latin1") : "";
  }

  const generation = () => saltsAt(SALTS_AT);
  const frameBytes = FRAME_HEADER_BYTES + pageBytes;
  const startOf = (number: number) => HEADER_BYTES + (number - 1) * frameBytes;

  function hasMagic(): boolean {
    const read = readSync(opened(), header, 0, header.length, 0);
    // Bitwise operators return signed numbers; `>>> 0` makes them unsigned.
    return read === header.length && (header.readUInt32BE(0) & MAGIC_MASK) >>> 0 === MAGIC;
  }

  function hasFrame(number: number, of = generation()): boolean {
    const found = saltsAt(startOf(number) + FRAME_SALTS_AT);
    return found !== "" && found === of;
  }

  return {
    path,
    sizeBytes: () => fstatSync(opened()).size,
    sync: () => syncToDisk(opened()),
    generation,
    hasFrame,
    lastFrame: (from) => lastFrom(from, hasFrame),
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
    hasFrameBefore(end) {
      const number = Math.floor((end - HEADER_BYTES) / frameBytes);
      // A hole in a file reads as zeros.
      return number < 1 || /[^\0]/.test(saltsAt(startOf(number) + FRAME_SALTS_AT));
    },
    isOpen: () => file !== null,
    close() {
      if (file !== null) closeSync(file);
      file = null;
    },
  };
}

/** The last number that `exists`; `from` and all numbers before the last one exist. */
function lastFrom(from: number, exists: (number: number) => boolean): number {
  let [known, step] = [from, 1];
  while (exists(known + step)) [known, step] = [known + step, step * 2];
  // The last one is less than `step` after `known`.
  for (; step >= 1; step /= 2) if (exists(known + step)) known += step;
  return known;
}
