/**
 * The prefetch limit: how many mails are leased and prepared before the pace lets them leave. It
 * follows the time that a mail needs until it has an open session.
 */

import type { Clock } from "../lib/clock.ts";
import type { Pace } from "./pace.ts";

/**
 * A mail that waits for a connection three times as long as usual, within these bounds, no longer
 * counts against the prefetch limit: mails to servers that stay silent must not hold up the others.
 */
const PREFETCH_TIMEOUT_MS = { least: 200, most: 1000 };
const PREFETCH_TIMEOUT_FACTOR = 3;
/** Prefetch slots reserved for transactional mail, so that campaign mail cannot delay it. */
export const TRANSACTIONAL_RESERVE = 1;
/** Weight of the latest mail in the mean latency. */
const LATEST_WEIGHT = 0.1;

export type Prefetch = ReturnType<typeof createPrefetch>;

/** `onRelease` is called when there is room for another mail. */
export function createPrefetch(deps: { pace: Pace; clock: Clock; onRelease: () => void }) {
  const { pace, clock, onRelease } = deps;
  /** Number of prefetched mails that count against the prefetch limit. */
  let prefetched = 0;
  /** Mean time to prepare a mail and get an open session for it, in milliseconds. */
  let connectLatencyMs = 0;

  return {
    /** Number of mails that may be leased while `underWay` mails are under way. */
    capacity(underWay: number): number {
      const limit = pace.prefetchLimit(connectLatencyMs) + TRANSACTIONAL_RESERVE;
      return Math.max(0, Math.min(limit - prefetched, limit + pace.concurrency - underWay));
    },

    /** Counts a mail against the prefetch limit until it is released or its connection times out. */
    reserve(): { stopTimeout: () => void; release: () => void } {
      let isReserved = true;
      prefetched++;
      const release = () => {
        stopTimeout();
        if (!isReserved) return;
        isReserved = false;
        prefetched--;
        onRelease();
      };
      const { least, most } = PREFETCH_TIMEOUT_MS;
      const timeoutMs = Math.min(Math.max(PREFETCH_TIMEOUT_FACTOR * connectLatencyMs, least), most);
      const stopTimeout = clock.after(timeoutMs, release);
      return { stopTimeout, release };
    },

    noteLatency(ms: number): void {
      connectLatencyMs +=
        LATEST_WEIGHT * (Math.min(ms, PREFETCH_TIMEOUT_MS.most) - connectLatencyMs);
    },
  };
}
