/**
 * Computes how many mails may be leased. A leased mail has been checked against suppressions and
 * subscriptions, and waits in memory, so never are more leased than leave in a third of a second,
 * except the few that keep every session busy. The faster mails leave, the more of them share one
 * transaction.
 */

import type { Clock } from "../../lib/clock.ts";
import type { LeasedMail } from "./rows.ts";

/** The facts that the limit depends on. They are read each time, because they change with the transport. */
export type CapacityOptions = {
  /** Mails per second; 0 without a rate. */
  ratePerSecond: number;
  /** Largest number of mails that are sent at once. */
  maxUnderWay: number;
  /** Mails that wait for their turn, so that none of the sessions is ever without one. */
  mostUsual: number;
};

/** A leased mail. */
export type CountedMail = {
  readonly leasedMs: number;
  readonly hasBegun: boolean;
  /** True for transactional mail. */
  readonly isUrgent: boolean;
  /** "turn" once nothing but the mails before it and the pace keep it from leaving. */
  readonly waitsFor: "turn" | "server";
  /** True if its route has limits of its own, so that it takes no capacity of others. */
  readonly isApart?: boolean;
};

/** The number of further mails that may be leased. */
type FreeCapacity = {
  free: number;
  /** The part of it that is for transactional mail only. */
  reserved: number;
  /** Whether a transaction for them is worth it. */
  isWorth: boolean;
  /** When more may be free, even if no mail leaves meanwhile; Infinity if never. */
  moreInMs: number;
};

/** Most mails that are leased and have no stored outcome. After a crash, these are in doubt. */
export const MAX_LEASED = 256;
/** Most of them that wait. */
const MAX_WAITING = 128;
/** Leased mails leave within this time. */
const AHEAD_MS = 333;
/** Memory of the mails that wait. */
const MAX_BYTES = 8 * 1024 * 1024;
/** Leases reserved for transactional mail, so that campaign mail cannot delay it. */
const TRANSACTIONAL_RESERVE = 1;
/** The same while mails leave fast. */
const FAST_RESERVE = 16;
/**
 * A mail that needs three times as long as usual until only its turn is awaited, within these bounds, no
 * longer counts: mails to servers that stay silent, and slow templates, must not hold up the others.
 */
const SERVER_WAIT_MS = { least: 200, most: 1_000 };
const SERVER_WAIT_FACTOR = 3;
/** Number of departures over which their rate is measured. */
const MEASURED_DEPARTURES = 32;
/** Weight of the latest mail in the mean latency. */
const LATEST_WEIGHT = 0.1;
/** Weight of a mail in the typical size if it is smaller than those before; a larger one sets it. */
const SMALLER_WEIGHT = 0.05;
/** While mails leave fast, a lease waits until this share of the limit is free. */
const WORTHWHILE_SHARE = 0.25;

export function createCapacity(clock: Clock, options: CapacityOptions) {
  const departures = createDepartures(clock);
  /** Mean time from the lease of a mail until only its turn is awaited, in milliseconds. */
  let latencyMs = 0;
  /** Bytes of a typical mail; rather too many than too few. */
  let typicalBytes = 1;

  /** The number that waits while mails leave slowly. */
  function usualLimit(): number {
    const { ratePerSecond, mostUsual } = options;
    if (ratePerSecond === 0) return mostUsual;
    return Math.min(mostUsual, Math.ceil((ratePerSecond * (AHEAD_MS + latencyMs)) / 1_000));
  }

  /** The number that waits while mails leave fast; less than the usual one if they do not. */
  function fastLimit(): number {
    const ofTime = departures.within(AHEAD_MS);
    return Math.floor(Math.min(ofTime, MAX_BYTES / typicalBytes, MAX_WAITING));
  }

  /**
   * The mails that wait, all urgent ones that have not begun, and the time until one of those that wait
   * no longer counts; Infinity if all do.
   */
  function countWaiting(mails: Iterable<CountedMail>) {
    const { least, most } = SERVER_WAIT_MS;
    const longestMs = Math.min(Math.max(SERVER_WAIT_FACTOR * latencyMs, least), most);
    const now = clock.elapsed();
    let [waiting, urgent, fewerInMs] = [0, 0, Infinity];
    for (const { hasBegun, isApart = false, isUrgent, waitsFor, leasedMs } of mails) {
      if (hasBegun || isApart) continue;
      if (isUrgent) urgent++;
      const leftMs = waitsFor === "turn" ? Infinity : leasedMs + longestMs - now;
      if (leftMs <= 0) continue;
      waiting++;
      fewerInMs = Math.min(fewerInMs, leftMs);
    }
    return { waiting, urgent, fewerInMs };
  }

  return {
    of(leased: ReadonlySet<CountedMail>): FreeCapacity {
      const [usual, fast] = [usualLimit(), fastLimit()];
      const isFast = fast > usual;
      const reserved = isFast ? FAST_RESERVE : TRANSACTIONAL_RESERVE;
      const { maxUnderWay } = options;
      const limit = Math.max(usual, fast) + reserved;
      const { waiting, urgent, fewerInMs } = countWaiting(leased);
      // Large messages are never fast, so that no more of them are in memory than can be sent.
      const most = Math.max(isFast ? MAX_LEASED : 0, maxUnderWay + limit) - leased.size;
      // The reserve stays free if mails leave less fast than when those that wait were leased.
      const mostUrgent = Math.max(MAX_LEASED, maxUnderWay + limit) - leased.size;
      const ofReserve = Math.min(reserved - urgent, mostUrgent);
      const free = Math.max(0, Math.min(limit - waiting, most), ofReserve);
      const isWorth = free >= (isFast ? reserved + fast * WORTHWHILE_SHARE : 1);
      return { free, reserved, isWorth, moreInMs: fewerInMs };
    },

    noteLease({
      html,
      text,
      attachments,
      submitted,
    }: Pick<LeasedMail, "html" | "text" | "attachments" | "submitted">): void {
      const own = 3 * (html.length + (text?.length ?? 0)) + 2 * (submitted?.byteLength ?? 0);
      const bytes = attachments.reduce((sum, { content }) => sum + 3 * content.byteLength, own);
      typicalBytes += (bytes > typicalBytes ? 1 : SMALLER_WEIGHT) * (bytes - typicalBytes);
    },

    /** A mail waits only for its turn, so many milliseconds after its lease. */
    noteReady(ms: number): void {
      latencyMs += LATEST_WEIGHT * (Math.min(ms, SERVER_WAIT_MS.most) - latencyMs);
    },

    /** The transaction of a mail begins. */
    noteDeparture: departures.note,
  };
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
