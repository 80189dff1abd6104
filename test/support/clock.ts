/** A clock for tests: it stands still until a test moves it, and its two kinds of time move apart on request. */

import { spyOn } from "bun:test";
import type { Clock } from "../../src/lib/clock.ts";

export type ManualClock = Clock & {
  /** Lets `ms` pass on both clocks and runs the timers that come due, in order. */
  advance(ms: number): void;
  /** Sets the wall clock forward, or back by a negative number. No time passes, so no timer runs. */
  stepWall(ms: number): void;
  /** Lets `ms` pass on the monotonic clock only: the wall clock stands still while timers run. */
  advanceElapsed(ms: number): void;
};

export function manualClock(startMs: number = Date.parse("2026-03-02T10:00:00.000Z")): ManualClock {
  let elapsedMs = 0;
  /** Wall time at the moment when elapsedMs is 0. */
  let wallOffsetMs = startMs;
  let timers: { at: number; run: () => void }[] = [];
  function advance(ms: number): void {
    const until = elapsedMs + ms;
    for (;;) {
      const due = timers.filter((timer) => timer.at <= until).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      timers = timers.filter((other) => other !== due);
      elapsedMs = Math.max(elapsedMs, due.at);
      due.run();
    }
    elapsedMs = until;
  }
  return {
    now: () => Math.floor(wallOffsetMs + elapsedMs),
    elapsed: () => elapsedMs,
    after(delayMs, run) {
      const timer = { at: elapsedMs + delayMs, run };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    advance,
    stepWall(ms) {
      wallOffsetMs += ms;
    },
    advanceElapsed(ms) {
      wallOffsetMs -= ms;
      advance(ms);
    },
  };
}

/** Sets the wall clock of this process off by `ms` while it goes on; the returned function sets it right. */
export function stepSystemClock(ms: number): () => void {
  const trueNow = Date.now;
  const spy = spyOn(Date, "now").mockImplementation(() => trueNow() + ms);
  return () => spy.mockRestore();
}
