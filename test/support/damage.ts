/** Damages the files of a database, as failing disks and operating errors do. */

import { randomFillSync } from "node:crypto";
import { closeSync, openSync, readFileSync, statSync, truncateSync, writeSync } from "node:fs";
import { writeFileSync } from "node:fs";

export const PAGE_BYTES = 4096;
const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** Overwrites the file with random bytes from `start` to its end. */
export function scramble(file: string, start: number): void {
  const noise = randomFillSync(Buffer.alloc(statSync(file).size - start));
  const descriptor = openSync(file, "r+");
  writeSync(descriptor, noise, 0, noise.length, start);
  closeSync(descriptor);
}

/** Overwrites one page of a database with random bytes; pages are numbered from 1. */
export function scramblePage(file: string, number: number): void {
  const descriptor = openSync(file, "r+");
  writeSync(
    descriptor,
    randomFillSync(Buffer.alloc(PAGE_BYTES)),
    0,
    PAGE_BYTES,
    (number - 1) * PAGE_BYTES,
  );
  closeSync(descriptor);
}

/** Overwrites the content of every page in a write-ahead log; its headers stay as they are. */
export function scrambleFrames(file: string): void {
  const bytes = readFileSync(file);
  const frameBytes = FRAME_HEADER_BYTES + PAGE_BYTES;
  for (let start = LOG_HEADER_BYTES; start < bytes.length; start += frameBytes) {
    randomFillSync(bytes, start + FRAME_HEADER_BYTES, PAGE_BYTES);
  }
  writeFileSync(file, bytes, { flag: "r+" });
}

/** Truncates the file to the given size. */
export function cutShort(file: string, bytes: number): void {
  truncateSync(file, bytes);
}
