/** The ways to let other work of the event loop run. */

import { systemClock } from "./clock.ts";

/** Time for all pieces of one slice, in milliseconds. A single piece may take longer. */
const SLICE_MS = 8;

/**
 * Returns a function to await before each piece. It resolves at once while the pieces of the
 * current iteration of the event loop have taken less than `sliceMs`. After that, each piece runs
 * in its own iteration, in order.
 */
export function createYield(sliceMs = SLICE_MS): () => Promise<void> {
  let sliceEndsAt = 0;
  let isSliceOpen = false;
  let last: Promise<void> = Promise.resolve();
  let queued = 0;

  function beginSlice(): void {
    isSliceOpen = true;
    sliceEndsAt = systemClock.elapsed() + sliceMs;
    setImmediate(() => {
      isSliceOpen = false;
    });
  }

  return function yieldIfBusy() {
    if (!isSliceOpen) beginSlice();
    if (queued === 0 && systemClock.elapsed() < sliceEndsAt) return Promise.resolve();
    queued++;
    last = last.then(
      () =>
        new Promise<void>((resolve) => {
          setImmediate(() => {
            queued--;
            resolve();
          });
        }),
    );
    return last;
  };
}

/** Resolves in the next iteration of the event loop, after the I/O that is ready was handled. */
export function nextIteration(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
