/**
 * The valve: how many mails may start per second and be under way at once. A p-queue in strict
 * mode, so no sliding second ever sees more starts than the rate. It holds permits, not mails:
 * which mail leaves is decided when a permit is used.
 */

import PQueue from "p-queue";

export type Pace = {
  /** Runs `task` as soon as a permit is free. */
  add(task: () => Promise<void>): void;
  /** Permits asked for and not yet used. */
  waiting(): number;
  /** Tasks under way. */
  active(): number;
  /** Forgets waiting permits. */
  clear(): void;
  idle(): Promise<void>;
};

/**
 * What happens between a start here and its arrival there takes a varying time; the little extra
 * keeps the rate at the receiver too, and costs one percent.
 */
const GUARD = 1.01;
const SECOND_MS = 1000;

/**
 * `ratePerSecond` 0: no limit. Below 1: one mail every 1/rate seconds. Above 1 a fraction does not
 * count: no second can hold half a mail.
 */
export function createPace(options: { ratePerSecond: number; concurrency: number }): Pace {
  const { ratePerSecond, concurrency } = options;
  const queue = new PQueue({ concurrency, ...limitOf(ratePerSecond) });
  return {
    // The promise of a task that `clear` forgot rejects: nobody waits for it.
    add: (task) => void queue.add(task).catch(ignoreAbort),
    waiting: () => queue.size,
    active: () => queue.pending,
    clear: () => queue.clear(),
    idle: () => queue.onIdle(),
  };
}

/** Never below a second: a shorter interval would let two bursts into one. */
function limitOf(ratePerSecond: number) {
  if (ratePerSecond === 0) return {};
  const intervalCap = Math.max(1, Math.floor(ratePerSecond));
  const interval = Math.ceil(Math.max(SECOND_MS, SECOND_MS / ratePerSecond) * GUARD);
  return { intervalCap, interval, strict: true };
}

function ignoreAbort(error: unknown): void {
  if (error instanceof DOMException && error.name === "AbortError") return;
  throw error;
}
