/**
 * When the engine compiles functions to machine code. The executable starts with a policy that
 * multiplies the number of calls after which a function is compiled by a thousand
 * (scripts/build.ts): compiling code that runs only at the start took 40 % of the processor time of
 * a start, and 20 MiB. The normal policy begins when the server has work, so a server that only
 * answers health checks stays small. Programs that run from the sources always have the normal one.
 */

/**
 * Pieces of work within a second that show that the server is in use. A health check makes two, a
 * request and a write, and a start seven.
 */
const BUSY_PIECES = 20;
const WINDOW_MS = 1_000;

export function compileHotCode(): void {
  Bun.unsafe.setJITPolicy(1);
}

/** Returns a function to call when a piece of work begins; it calls `onBusy` once. */
export function createBusyDetector(deps: {
  /** Monotonic milliseconds. */
  elapsed: () => number;
  onBusy: () => void;
}): () => void {
  let isBusy = false;
  let windowFrom = -Infinity;
  let pieces = 0;
  return () => {
    if (isBusy) return;
    const now = deps.elapsed();
    if (now - windowFrom >= WINDOW_MS) {
      windowFrom = now;
      pieces = 0;
    }
    pieces++;
    if (pieces < BUSY_PIECES) return;
    isBusy = true;
    deps.onBusy();
  };
}
