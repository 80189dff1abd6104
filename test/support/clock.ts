/** A clock that stands still until it is told to go on. */

import type { Clock } from "../../src/lib/clock.ts";

export type ManualClock = Clock & {
  /** Moves on and runs what came due, in order. */
  advance(ms: number): void;
};

export function manualClock(startMs: number = Date.parse("2026-03-02T10:00:00.000Z")): ManualClock {
  let nowMs = startMs;
  let timers: { at: number; run: () => void }[] = [];
  return {
    now: () => nowMs,
    after(delayMs, run) {
      const timer = { at: nowMs + delayMs, run };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    advance(ms) {
      const until = nowMs + ms;
      for (;;) {
        const due = timers.filter((timer) => timer.at <= until).sort((a, b) => a.at - b.at)[0];
        if (due === undefined) break;
        timers = timers.filter((other) => other !== due);
        nowMs = Math.max(nowMs, due.at);
        due.run();
      }
      nowMs = until;
    },
  };
}
