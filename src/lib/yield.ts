/** The ways to let other work of the event loop run. */

import { systemClock } from "./clock.ts";

/** Time for all pieces of one slice, in milliseconds. A single piece may take longer. */
const SLICE_MS = 8;

/**
 * Returns a function to await before each piece. Pieces run one after another, in the order of the
 * calls: within one iteration of the event loop while they have taken less than `sliceMs` together,
 * and the others in the next one.
 */
export function createYield(sliceMs = SLICE_MS): () => Promise<void> {
  const waiting: (() => void)[] = [];
  let isRunning = false;
  let isSliceOpen = false;
  let sliceEndsAt = 0;

  function beginSlice(): void {
    isSliceOpen = true;
    sliceEndsAt = systemClock.elapsed() + sliceMs;
    setImmediate(() => {
      isSliceOpen = false;
    });
  }

  async function runAll(): Promise<void> {
    isRunning = true;
    for (let begin = waiting.shift(); begin !== undefined; begin = waiting.shift()) {
      if (isSliceOpen && systemClock.elapsed() >= sliceEndsAt) await nextIteration();
      if (!isSliceOpen) beginSlice();
      begin();
      // The caller awaits directly, so its piece has run when this loop goes on.
      await Promise.resolve();
    }
    isRunning = false;
  }

  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (!isRunning) void runAll();
    });
}

/**
 * Returns a function that runs pieces of work in the order of the calls: at once while those of this
 * iteration of the event loop have taken less than `sliceMs` together, and the others in later ones.
 */
export function createSlicedRun(sliceMs = SLICE_MS): (piece: () => void) => void {
  const waiting: (() => void)[] = [];
  let isRunning = false;
  let isSliceOpen = false;
  let sliceEndsAt = 0;

  function beginSlice(): void {
    isSliceOpen = true;
    sliceEndsAt = systemClock.elapsed() + sliceMs;
    setImmediate(() => {
      isSliceOpen = false;
      runWaiting();
    });
  }

  function runWaiting(): void {
    if (isRunning) return;
    isRunning = true;
    try {
      while (waiting.length > 0) {
        if (!isSliceOpen) beginSlice();
        else if (systemClock.elapsed() >= sliceEndsAt) return;
        waiting.shift()?.();
      }
    } finally {
      isRunning = false;
    }
  }

  return (piece) => {
    waiting.push(piece);
    runWaiting();
  };
}

/** Resolves in the next iteration of the event loop, after the I/O that is ready was handled. */
export function nextIteration(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
