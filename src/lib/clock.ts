/** Time as an argument: everything that asks for the time or waits for it goes through a Clock. */

export type Clock = {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Runs `run` once after `delayMs`; the returned function cancels it. */
  after(delayMs: number, run: () => void): () => void;
};

/** Timers of the platform hold at most 2^31-1 ms; longer waits are taken in pieces. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: Date.now,
  after(delayMs, run) {
    const dueAt = Date.now() + delayMs;
    let timer = setTimeout(step, Math.min(delayMs, MAX_TIMER_MS));
    function step() {
      const leftMs = dueAt - Date.now();
      if (leftMs <= 0) run();
      else timer = setTimeout(step, Math.min(leftMs, MAX_TIMER_MS));
    }
    return () => clearTimeout(timer);
  },
};

/** ISO 8601, UTC, milliseconds (interface decision A). */
export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/** The same for a moment that may not have come. */
export function isoTimeOrNull(epochMs: number | null): string | null {
  return epochMs === null ? null : isoTime(epochMs);
}
