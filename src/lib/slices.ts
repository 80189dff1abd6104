/** Long work in short turns of the event loop, so that nothing else waits for all of it. */

export type Slices = {
  /** Whether this turn has lasted long enough: then wait for `next()`. */
  isOver(): boolean;
  /** Resolves in another turn of the event loop. */
  next(): Promise<void>;
};

const SLICE_MS = 8;

export function createSlices(): Slices {
  let endsAt = performance.now() + SLICE_MS;
  return {
    isOver: () => performance.now() >= endsAt,
    next: () =>
      new Promise((resolve) => {
        setImmediate(() => {
          endsAt = performance.now() + SLICE_MS;
          resolve();
        });
      }),
  };
}
