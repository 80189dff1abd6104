/**
 * The valve: how many mails may leave per second and be under way at once. A p-queue in strict mode,
 * so no sliding second ever sees more starts than the rate. A second one before it spreads what
 * comes at once over half of the second.
 */

import PQueue from "p-queue";

export type Pace = {
  /** Runs `task` when its turn comes: the more urgent, the sooner among those that wait. */
  run<T>(task: () => Promise<T>, urgency?: number): Promise<T>;
  /**
   * How many mails should be on their way to their turn or wait for it, where the way takes so long:
   * enough that none is late, few enough that one which is more urgent hardly waits behind them.
   */
  aheadFor(wayMs: number): number;
  readonly concurrency: number;
};

/**
 * What happens between a start here and its arrival there takes a varying time; the little extra
 * keeps the rate at the receiver too, and costs one percent.
 */
const GUARD = 1.01;
const SECOND_MS = 1000;
/** What leaves within this time is made ready: longer than the storage usually takes for a lease. */
const AHEAD_SECONDS = 1 / 3;
/** Shorter distances between two mails than this are left to chance: timers are no finer. */
const LEAST_DISTANCE_MS = 5;

/**
 * `ratePerSecond` 0: no limit. Below 1: one mail every 1/rate seconds. Above 1 a fraction does not
 * count: no second can hold half a mail.
 */
export function createPace(options: {
  ratePerSecond: number;
  concurrency: number;
  /** Where each has a place of its own, all may be ahead. */
  mostAhead?: number | undefined;
}): Pace {
  const { ratePerSecond, concurrency, mostAhead = Math.ceil(concurrency / 2) } = options;
  const limited = new PQueue({ concurrency, ...limitOf(ratePerSecond) });
  const spread = spreadFor(ratePerSecond);
  return {
    run(task, urgency = 0) {
      const options = { priority: urgency };
      const enter = () => limited.add(task, options);
      return spread === null ? enter() : spread.add(enter, options);
    },
    aheadFor(wayMs) {
      if (ratePerSecond === 0) return mostAhead;
      const seconds = AHEAD_SECONDS + wayMs / SECOND_MS;
      return Math.min(mostAhead, Math.ceil(ratePerSecond * seconds));
    },
    concurrency,
  };
}

/** Never below a second: a shorter interval would let two bursts into one. */
function limitOf(ratePerSecond: number) {
  if (ratePerSecond === 0) return {};
  const intervalCap = Math.max(1, Math.floor(ratePerSecond));
  const interval = Math.ceil(Math.max(SECOND_MS, SECOND_MS / ratePerSecond) * GUARD);
  return { intervalCap, interval, strict: true };
}

/**
 * A burst that is held up for a moment on its way would arrive together with the next one. Mails
 * that start one by one would not, and what was spread once stays so from second to second.
 */
function spreadFor(ratePerSecond: number): PQueue | null {
  const interval = Math.floor(SECOND_MS / ratePerSecond / 2);
  const isUseful = ratePerSecond > 1 && interval >= LEAST_DISTANCE_MS;
  return isUseful ? new PQueue({ intervalCap: 1, interval, strict: true }) : null;
}
