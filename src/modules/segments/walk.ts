/**
 * Goes through contacts in slices of a few milliseconds, without holding the event loop or a read
 * transaction in between. Each contact is judged once, at the moment that its slice is read; those
 * that come after the start are not visited.
 */

import type { Database } from "bun:sqlite";
import { systemClock } from "../../lib/clock.ts";
import type { Range, Slices } from "./slices.ts";
import type { Turns } from "../../lib/turns.ts";

const TURN_MS = 8;
/** A slice that took longer is followed by one of half its width. */
const SLICE_MS = 4;
const FIRST_WIDTH = 64;
const SMALLEST_WIDTH = 8;
/** Bounds what one slice costs where contacts suddenly become expensive. */
const LARGEST_WIDTH = 2048;

/**
 * Yields what the slices hold, one after the other. `from`: the first `contacts.seq` to be visited,
 * or the last one where the order is descending. The consumer may wait in between.
 */
export async function* walk(
  { sqlite, turns }: { sqlite: Database; turns: Turns },
  open: () => Slices,
  from?: number,
): AsyncGenerator<number[]> {
  await turns.next();
  let turnEndsAt = systemClock.elapsed() + TURN_MS;
  const slices = open();
  try {
    let width = FIRST_WIDTH;
    let left = wholeRange(sqlite, slices, from);
    for (;;) {
      if (systemClock.elapsed() > turnEndsAt) {
        await turns.next();
        turnEndsAt = systemClock.elapsed() + TURN_MS;
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
