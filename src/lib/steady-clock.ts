/**
 * A clock whose wall time never jumps by itself. When the system clock is set, `now()` first goes on
 * as if it had not been. The application then moves its due times by the step and adopts the new time
 * in one change, so that no due time is ever compared with a time of the other reckoning.
 */

import type { Clock } from "./clock.ts";

export type SteadyClock = Clock & {
  /**
   * How far the system clock is ahead of `now()`, in milliseconds: negative after it was set back, 0
   * unless it was set.
   */
  stepMs(): number;
  /** From now on `now()` is the time of the system clock; the returned function undoes this. */
  adopt(): () => void;
};

/** How stored due times move when the system clock was set. */
export type DueShift = {
  /** Milliseconds; negative after the clock was set back. */
  byMs: number;
  /** Times up to this one do not move: they are due already. */
  after: number;
};

/** Smaller differences are ordinary corrections, which the clock follows at once. */
export const SMALLEST_STEP_MS = 1000;

export function createSteadyClock(system: Clock): SteadyClock {
  /** The latest moment at which the system clock was followed, by both of its clocks. */
  let anchorWallMs = system.now();
  let anchorElapsedMs = system.elapsed();

  /** The time that the wall clock should show. */
  function expected(elapsedMs: number): number {
    return Math.round(anchorWallMs + elapsedMs - anchorElapsedMs);
  }

  function follow(wallMs: number, elapsedMs: number): void {
    anchorWallMs = wallMs;
    anchorElapsedMs = elapsedMs;
  }

  /** How far the clock was set; 0 for an ordinary correction, which is followed. */
  function step(wallMs: number, elapsedMs: number): number {
    const stepMs = wallMs - expected(elapsedMs);
    if (Math.abs(stepMs) >= SMALLEST_STEP_MS) return stepMs;
    follow(wallMs, elapsedMs);
    return 0;
  }

  return {
    now() {
      const wallMs = system.now();
      return wallMs - step(wallMs, system.elapsed());
    },
    elapsed: system.elapsed,
    after: system.after,
    stepMs: () => step(system.now(), system.elapsed()),
    adopt() {
      const [wallMs, elapsedMs] = [anchorWallMs, anchorElapsedMs];
      follow(system.now(), system.elapsed());
      return () => follow(wallMs, elapsedMs);
    },
  };
}
