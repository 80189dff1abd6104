/**
 * A clock whose wall time never jumps by itself. When the system clock is set, `now()` first
 * continues as if it had not been set. The application then moves its due times by the step and
 * adopts the new time in one change, so that stored due times and `now()` always use the same time.
 */

import type { Clock } from "./clock.ts";

export type SteadyClock = Clock & {
  /**
   * Difference between the system clock and `now()` in milliseconds: 0 if the system clock was not
   * set, negative if it was set back.
   */
  stepMs(): number;
  /** Makes `now()` return the time of the system clock; the returned function undoes this. */
  adopt(): () => void;
};

/** The change of stored due times after the system clock was set. */
export type DueShift = {
  /** Milliseconds; negative after the clock was set back. */
  byMs: number;
  /** Times up to this one do not move, because they are already due. */
  after: number;
};

/** Smaller differences are ordinary corrections, which `now()` follows at once. */
export const SMALLEST_STEP_MS = 1000;

export function createSteadyClock(system: Clock): SteadyClock {
  /** Wall time and monotonic time at which `now()` last followed the system clock. */
  let anchorWallMs = system.now();
  let anchorElapsedMs = system.elapsed();

  /** Returns the wall time that is expected for a monotonic time. */
  function expected(elapsedMs: number): number {
    return Math.round(anchorWallMs + elapsedMs - anchorElapsedMs);
  }

  function follow(wallMs: number, elapsedMs: number): void {
    anchorWallMs = wallMs;
    anchorElapsedMs = elapsedMs;
  }

  /** Returns by how much the clock was set. An ordinary correction is followed and gives 0. */
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
