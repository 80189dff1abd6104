/**
 * Decides whether a commit waits a fraction of a millisecond for further changes. A commit writes each
 * page that its changes share only once, and is synced once. While it waits, the event loop goes on,
 * and the writer asks again after each of its iterations.
 */

import { systemClock } from "../lib/clock.ts";

/** More changes are not waited for. */
const WANTED_GROUP = 6;

type Waiting = {
  /** Until then, by the monotonic clock, in milliseconds, the change may wait. */
  gatherUntil: number;
};

export function createCommitDelay() {
  /** Number of changes of the last commit. */
  let lastGroup = 0;

  return {
    /** The end of the time in which a change may wait; `gatherMs` is 0 for one that may not. */
    until: (gatherMs: number): number => (gatherMs === 0 ? 0 : systemClock.elapsed() + gatherMs),

    /** Whether as many changes as the last time are likely to arrive while all of these may wait. */
    isWorthwhile(waiting: readonly Waiting[]): boolean {
      if (waiting.length === 0 || waiting.length >= Math.min(lastGroup, WANTED_GROUP)) return false;
      const now = systemClock.elapsed();
      return waiting.every(({ gatherUntil }) => now < gatherUntil);
    },

    noteCommit(changes: number): void {
      lastGroup = changes;
    },
  };
}
