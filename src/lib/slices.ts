/** Long work in short turns of the event loop, so that nothing else waits for all of it. */

import { systemClock } from "./clock.ts";
import type { SliceQueue } from "./slice-queue.ts";

export type Slices = {
  /** Whether this turn has lasted long enough: then wait for `next()`. */
  isOver(): boolean;
  /** Resolves at the next turn. */
  next(): Promise<void>;
};

const SLICE_MS = 8;

/** Resolves when the first turn has come. */
export async function startSlices(queue: SliceQueue): Promise<Slices> {
  let endsAt = 0;

  async function next(): Promise<void> {
    await queue.nextSlice();
    endsAt = systemClock.elapsed() + SLICE_MS;
  }

  await next();
  return { isOver: () => systemClock.elapsed() >= endsAt, next };
}
