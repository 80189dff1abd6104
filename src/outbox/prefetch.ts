/**
 * The prefetch limit: how many mails are leased and prepared before the pace lets them leave. It
 * follows the time that a mail needs until it has an open session, and the rate at which mails
 * leave: never are more prefetched than leave in a third of a second, except the few that the pace
 * always allows. The faster they leave, the more mails share one transaction.
 */

import type { Clock } from "../lib/clock.ts";
import { createSharedTimer } from "../lib/shared-timer.ts";
import type { LeasedMail } from "./lease-rows.ts";
import type { Pace } from "./pace.ts";

/**
 * A mail that waits for a connection three times as long as usual, within these bounds, no longer
 * counts against the prefetch limit: mails to servers that stay silent must not hold up the others.
 */
const PREFETCH_TIMEOUT_MS = { least: 200, most: 1000 };
const PREFETCH_TIMEOUT_FACTOR = 3;
/** Prefetch slots reserved for transactional mail, so that campaign mail cannot delay it. */
export const TRANSACTIONAL_RESERVE = 1;
/** The same while mails leave fast. */
const FAST_TRANSACTIONAL_RESERVE = 16;
/** Weight of the latest mail in the mean latency. */
const LATEST_WEIGHT = 0.1;
/** Number of departures over which their rate is measured. */
const MEASURED_DEPARTURES = 32;
/** Prefetched mails leave within this time. */
const FAST_PREFETCH_MS = 333;
/** Memory of all prefetched mails, as long as more than the usual number are prefetched. */
const FAST_PREFETCH_BYTES = 8 * 1024 * 1024;
/** Weight of a mail in the typical size if it is smaller than those before; a larger one sets it. */
const SMALLER_WEIGHT = 0.05;
/** While mails leave fast, a lease waits until this share of the limit is free. */
const LEASED_SHARE = 0.25;

export type Prefetch = ReturnType<typeof createPrefetch>;

/**
 * `onRelease` is called when there is room for another mail. `maxFastPrefetch` is the limit
 * while mails leave fast; 0 if the transport has none.
 */
export function createPrefetch(deps: {
  pace: Pace;
  clock: Clock;
  maxFastPrefetch: number;
  onRelease: () => void;
}) {
  const { pace, clock, maxFastPrefetch, onRelease } = deps;
  /** Number of prefetched mails that count against the prefetch limit. */
  let prefetched = 0;
  /** Mean time to prepare a mail and get an open session for it, in milliseconds. */
  let connectLatencyMs = 0;
  /** Bytes of a typical mail; rather too many than too few. */
  let typicalBytes = 1;
  const departures = createDepartures(clock);
  const timeouts = createSharedTimer(clock);

  /** The limit while mails leave fast; less than the usual one if they do not. */
  function fastLimit(): number {
    const ofTime = departures.within(FAST_PREFETCH_MS);
    return Math.floor(Math.min(maxFastPrefetch, ofTime, FAST_PREFETCH_BYTES / typicalBytes));
  }

  const isFaster = (fast: number): boolean => fast > pace.prefetchLimit(connectLatencyMs);

  const reserve = (fast: number): number =>
    isFaster(fast) ? FAST_TRANSACTIONAL_RESERVE : TRANSACTIONAL_RESERVE;

  /** Number of mails that may be leased while `underWay` mails are under way. */
  function capacity(underWay: number, fast = fastLimit()): number {
    const usual = pace.prefetchLimit(connectLatencyMs);
    const limit = Math.max(usual, fast) + reserve(fast);
    return Math.max(0, Math.min(limit - prefetched, limit + pace.concurrency - underWay));
  }

  return {
    capacity: (underWay: number): number => capacity(underWay),

    /** How many of the free slots are reserved for transactional mail. */
    reserved: (): number => reserve(fastLimit()),

    /** True if so many mails may be leased that a transaction is worth it. */
    isWorthLeasing(underWay: number): boolean {
      const fast = fastLimit();
      const wanted = isFaster(fast) ? reserve(fast) + fast * LEASED_SHARE : 1;
      return capacity(underWay, fast) >= wanted;
    },

    /** Counts a mail against the prefetch limit until it is released or its connection times out. */
    reserve(mail: LeasedMail): { stopTimeout: () => void; release: () => void } {
      let isReserved = true;
      prefetched++;
      noteSize(sizeOf(mail));
      const release = () => {
        stopTimeout();
        if (!isReserved) return;
        isReserved = false;
        prefetched--;
        onRelease();
      };
      const { least, most } = PREFETCH_TIMEOUT_MS;
      const timeoutMs = Math.min(Math.max(PREFETCH_TIMEOUT_FACTOR * connectLatencyMs, least), most);
      const stopTimeout = timeouts.after(timeoutMs, release);
      return { stopTimeout, release };
    },

    /** Called when a mail has an open session: `ms` after its lease. */
    noteLatency(ms: number): void {
      connectLatencyMs +=
        LATEST_WEIGHT * (Math.min(ms, PREFETCH_TIMEOUT_MS.most) - connectLatencyMs);
    },

    /** Called when the transaction of a mail begins. */
    noteDeparture: departures.note,
  };

  function noteSize(bytes: number): void {
    const weight = bytes > typicalBytes ? 1 : SMALLER_WEIGHT;
    typicalBytes += weight * (bytes - typicalBytes);
  }
}

/** Measures how fast mails leave, from the times of the latest departures. */
function createDepartures(clock: Clock) {
  const ring = new Float64Array(MEASURED_DEPARTURES).fill(-Infinity);
  let oldest = 0;
  return {
    note(): void {
      ring[oldest] = clock.elapsed();
      oldest = (oldest + 1) % ring.length;
    },

    /** The number of mails that leave in `ms`, at the rate of the latest ones. */
    within(ms: number): number {
      const sinceMs = clock.elapsed() - (ring[oldest] ?? -Infinity);
      return (ms * (ring.length - 1)) / Math.max(1, sinceMs);
    },
  };
}

/** An estimate of the memory that a mail takes until it has left, in bytes. */
function sizeOf({ html, attachments, submitted }: LeasedMail): number {
  const own = 3 * html.length + 2 * (submitted?.byteLength ?? 0);
  return attachments.reduce((sum, { content }) => sum + 3 * content.byteLength, own);
}
