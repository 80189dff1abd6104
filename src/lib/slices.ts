/** Divides long work into slices, so that other work runs between them. */

import { systemClock } from "./clock.ts";
import type { SliceQueue } from "./slice-queue.ts";

type Slices = {
  /** Whether the slice has used its time. The work must then wait for `next()`. */
  isOver(): boolean;
  /** Resolves when the next slice begins. */
  next(): Promise<void>;
};

const SLICE_MS = 8;

/** Resolves when the first slice begins. */
export async function startSlices(queue: SliceQueue): Promise<Slices> {
  let endsAt = 0;

  async function next(): Promise<void> {
    await queue.nextSlice();
    endsAt = systemClock.elapsed() + SLICE_MS;
  }

  await next();
  return { isOver: () => systemClock.elapsed() >= endsAt, next };
}
