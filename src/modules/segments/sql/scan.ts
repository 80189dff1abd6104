/**
 * Scans contacts in slices. After every few milliseconds other work of the event loop runs, and no
 * read transaction is open between two slices. Each contact is evaluated once, when its slice is
 * read. Contacts that are created after the start are not included.
 */

import type { Database } from "bun:sqlite";
import { systemClock } from "../../../lib/clock.ts";
import type { Range, Slices } from "./slices.ts";
import type { SliceQueue } from "../../../lib/slice-queue.ts";

/** After this time the scan lets other work run before it continues. */
const YIELD_AFTER_MS = 8;
/** If a slice took longer, the next one is half as wide. */
const SLICE_MS = 4;
const FIRST_WIDTH = 64;
const SMALLEST_WIDTH = 8;
/** Limits the cost of one slice when contacts suddenly become expensive to evaluate. */
const LARGEST_WIDTH = 2048;

/**
 * Yields the result of each slice. `from` is the `contacts.seq` at which the scan starts; for a
 * descending scan this is the largest one. The consumer may wait between two results.
 */
export async function* scan(
  { sqlite, queue }: { sqlite: Database; queue: SliceQueue },
  open: () => Slices,
  from?: number,
): AsyncGenerator<number[]> {
  await queue.nextSlice();
  let yieldAt = systemClock.elapsed() + YIELD_AFTER_MS;
  const slices = open();
  try {
    let width = FIRST_WIDTH;
    let left = wholeRange(sqlite, slices, from);
    for (;;) {
      if (systemClock.elapsed() > yieldAt) {
        await queue.nextSlice();
        yieldAt = systemClock.elapsed() + YIELD_AFTER_MS;
      }
      const startedAt = systemClock.elapsed();
      const slice = slices.next(left, width);
      if (slice === null) return;
      const found = slices.read(slice);
      width = nextWidth(width, systemClock.elapsed() - startedAt);
      left = after(slice, left, slices);
      yield found;
    }
  } finally {
    slices.close();
  }
}

function wholeRange(sqlite: Database, { order }: Slices, from?: number): Range {
  const [row] = sqlite.query("SELECT max(seq) FROM contacts").values();
  const newest = Number(row?.[0] ?? 0);
  return order === "ascending"
    ? { first: from ?? 1, last: newest }
    : { first: 1, last: Math.min(from ?? newest, newest) };
}

function after(slice: Range, left: Range, { order }: Slices): Range {
  return order === "ascending"
    ? { ...left, first: slice.last + 1 }
    : { ...left, last: slice.first - 1 };
}

function nextWidth(width: number, elapsedMs: number): number {
  if (elapsedMs > SLICE_MS) return Math.max(SMALLEST_WIDTH, Math.floor(width / 2));
  return elapsedMs < SLICE_MS / 2 ? Math.min(LARGEST_WIDTH, width * 2) : width;
}
