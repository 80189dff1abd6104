/**
 * The valve: how many mails may leave per second and be under way at once. A p-queue in strict mode,
 * so no sliding second ever sees more starts than the rate.
 */

import PQueue from "p-queue";

export type Pace = {
  /** Runs `task` when its turn comes. */
  run<T>(task: () => Promise<T>): Promise<T>;
  /**
   * How many mails should be ready for their turn: enough that none is late, few enough that one
   * which is more urgent hardly waits behind them.
   */
  readonly ahead: number;
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

/**
 * `ratePerSecond` 0: no limit. Below 1: one mail every 1/rate seconds. Above 1 a fraction does not
 * count: no second can hold half a mail.
 */
export function createPace(options: { ratePerSecond: number; concurrency: number }): Pace {
  const { ratePerSecond, concurrency } = options;
  const queue = new PQueue({ concurrency, ...limitOf(ratePerSecond) });
  const most = Math.ceil(concurrency / 2);
  return {
    run: (task) => queue.add(task),
    concurrency,
    ahead: ratePerSecond === 0 ? most : Math.min(most, Math.ceil(ratePerSecond * AHEAD_SECONDS)),
  };
}

/** Never below a second: a shorter interval would let two bursts into one. */
function limitOf(ratePerSecond: number) {
  if (ratePerSecond === 0) return {};
  const intervalCap = Math.max(1, Math.floor(ratePerSecond));
  const interval = Math.ceil(Math.max(SECOND_MS, SECOND_MS / ratePerSecond) * GUARD);
  return { intervalCap, interval, strict: true };
}
