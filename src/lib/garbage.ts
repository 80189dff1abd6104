/**
 * Runs the garbage collector after large requests. Their strings and buffers are garbage after the
 * response, but the engine counts this memory late: under load, several hundred megabytes of
 * garbage would gather before it runs by itself.
 */

import type { Clock } from "./clock.ts";

export type Garbage = {
  /** Records that `bytes` of memory have become garbage. */
  add(bytes: number): void;
};

/** Smaller amounts are not counted. */
const WORTH_COUNTING_BYTES = 64 * 1024;
/** Garbage after which the collector runs, for a few dozen milliseconds, unless the caller sets it. */
const COLLECT_AFTER_BYTES = 16 * 1024 * 1024;
const COLLECT_IN_MS = 5;

export function createGarbage({
  clock,
  collect = () => Bun.gc(true),
  collectAfterBytes = COLLECT_AFTER_BYTES,
}: {
  clock: Clock;
  collect?: () => void;
  collectAfterBytes?: number;
}): Garbage {
  let sum = 0;
  return {
    add(bytes) {
      if (bytes < WORTH_COUNTING_BYTES) return;
      sum += bytes;
      if (sum < collectAfterBytes) return;
      sum = 0;
      // The caller still refers to the garbage. A timer also keeps the collection apart from other
      // long work, which runs in immediates.
      clock.after(COLLECT_IN_MS, collect);
    },
  };
}
