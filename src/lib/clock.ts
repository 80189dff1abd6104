/**
 * The clock: all code that reads the time or waits gets a Clock as an argument. The wall clock
 * gives dates for people and stored due times; it can be set back or forward at any moment. All
 * intervals inside the process (rates, timeouts, backoffs, lifetimes of cached values) use
 * elapsed() instead.
 */

export type Clock = {
  /** Wall clock: milliseconds since the Unix epoch. */
  now(): number;
  /**
   * Monotonic clock: milliseconds since an arbitrary moment, so only differences mean something.
   */
  elapsed(): number;
  /** Runs `run` once after `delayMs` of monotonic time; the returned function cancels it. */
  after(delayMs: number, run: () => void): () => void;
};

/** Timers of the platform hold at most 2^31-1 ms; longer waits are split into several timers. */
const MAX_TIMER_MS = 2 ** 31 - 1;

const elapsed = (): number => performance.now();

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed,
  after(delayMs, run) {
    const dueAt = elapsed() + delayMs;
    let timer = setTimeout(step, Math.min(delayMs, MAX_TIMER_MS));
    function step() {
      const leftMs = dueAt - elapsed();
      if (leftMs <= 0) run();
      else timer = setTimeout(step, Math.min(leftMs, MAX_TIMER_MS));
    }
    return () => clearTimeout(timer);
  },
};

/** Formats a time in ISO 8601, UTC, with milliseconds. */
export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/** Like `isoTime`; null if there is no time. */
export function isoTimeOrNull(epochMs: number | null): string | null {
  return epochMs === null ? null : isoTime(epochMs);
}
