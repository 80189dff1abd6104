/**
 * A clock for tests. Its wall time and its monotonic time stand still until a test advances them,
 * together or separately.
 */

import { spyOn } from "bun:test";
import type { Clock } from "../../src/lib/clock.ts";
import { otherThreadsCpuMs, threadCpuMs } from "../../src/lib/thread-cpu.ts";

export type ManualClock = Clock & {
  /** Advances both times by `ms` and runs the timers that become due, in order. */
  advance(ms: number): void;
  /** Steps the wall time by `ms`, which may be negative. The monotonic time and timers do not change. */
  stepWall(ms: number): void;
  /** Advances the monotonic time only and runs the timers that become due; the wall time stands still. */
  advanceElapsed(ms: number): void;
  /** Milliseconds until the next timer becomes due; Infinity if there is none. */
  untilNextTimer(): number;
};

export function manualClock(startMs: number = Date.parse("2026-03-02T10:00:00.000Z")): ManualClock {
  let elapsedMs = 0;
  /** Wall time that corresponds to elapsedMs 0. */
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
    untilNextTimer: () => Math.min(...timers.map(({ at }) => at)) - elapsedMs,
  };
}

/** Offsets `Date.now` of this process by `ms`; the returned function restores it. */
export function stepSystemClock(ms: number): () => void {
  const trueNow = Date.now;
  const spy = spyOn(Date, "now").mockImplementation(() => trueNow() + ms);
  return () => spy.mockRestore();
}

/**
 * Runs work while the monotonic clock of this process advances only with the processor time of this
 * thread, as on a machine that does nothing else.
 */
export function withoutOtherWork<T>(work: () => T): T {
  const beganMs = performance.now();
  const beganCpuMs = threadCpuMs();
  const spy = spyOn(performance, "now").mockImplementation(
    () => beganMs + threadCpuMs() - beganCpuMs,
  );
  try {
    return work();
  } finally {
    spy.mockRestore();
  }
}

/**
 * A clock that advances only while other threads of this process have a processor, so that a thread
 * never waits for one. Its wall time stands still.
 */
export function threadsClock(): Clock {
  const beganMs = otherThreadsCpuMs();
  const elapsed = () => otherThreadsCpuMs() - beganMs;
  const wallMs = Date.parse("2026-03-02T10:00:00.000Z");
  return {
    now: () => wallMs,
    elapsed,
    after(delayMs, run) {
      const dueMs = elapsed() + delayMs;
      const timer = setInterval(() => {
        if (elapsed() < dueMs) return;
        clearInterval(timer);
        run();
      }, 5);
      return () => clearInterval(timer);
    },
  };
}
