/**
 * Many timeouts with one timer, for timeouts that are nearly always cancelled: to start and to cancel
 * one takes a fraction of the time that a timer of its own takes.
 */

import type { Clock } from "./clock.ts";

type Timeout = { atMs: number; run: () => void };

export function createSharedTimer(clock: Pick<Clock, "elapsed" | "after">) {
  const timeouts = new Set<Timeout>();
  /** When the timer fires; Infinity if none is set. It may fire earlier than any timeout needs. */
  let firesAtMs = Infinity;
  let cancelTimer: () => void = () => {};

  function fire(): void {
    firesAtMs = Infinity;
    const nowMs = clock.elapsed();
    let nextMs = Infinity;
    for (const timeout of timeouts) {
      if (timeout.atMs > nowMs) nextMs = Math.min(nextMs, timeout.atMs);
      else {
        timeouts.delete(timeout);
        timeout.run();
      }
    }
    if (nextMs < firesAtMs) setTimer(nextMs);
  }

  function setTimer(atMs: number): void {
    cancelTimer();
    firesAtMs = atMs;
    cancelTimer = clock.after(Math.max(0, atMs - clock.elapsed()), fire);
  }

  return {
    /** Calls `run` after so many milliseconds, unless the returned function was called before. */
    after(ms: number, run: () => void): () => void {
      const timeout = { atMs: clock.elapsed() + ms, run };
      timeouts.add(timeout);
      if (timeout.atMs < firesAtMs) setTimer(timeout.atMs);
      return () => void timeouts.delete(timeout);
    },
  };
}
