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
  const slice = createSlice(sliceMs);

  async function runAll(): Promise<void> {
    isRunning = true;
    for (let begin = waiting.shift(); begin !== undefined; begin = waiting.shift()) {
      if (slice.isOver()) await nextIteration();
      slice.begin();
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
  const slice = createSlice(sliceMs, runWaiting);

  function runWaiting(): void {
    if (isRunning) return;
    isRunning = true;
    try {
      while (waiting.length > 0) {
        if (slice.isOver()) return;
        slice.begin();
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

/** The time for work in one iteration of the event loop. `onNext` is called in the next iteration. */
function createSlice(sliceMs: number, onNext: () => void = () => {}) {
  let isOpen = false;
  let endsAt = 0;
  return {
    /** Begins the slice of this iteration, unless it has begun. */
    begin(): void {
      if (isOpen) return;
      isOpen = true;
      endsAt = systemClock.elapsed() + sliceMs;
      setImmediate(() => {
        isOpen = false;
        onNext();
      });
    },
    isOver: () => isOpen && systemClock.elapsed() >= endsAt,
  };
}

/** Resolves in the next iteration of the event loop, after the I/O that is ready was handled. */
export function nextIteration(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
