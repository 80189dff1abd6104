/**
 * A bounded amount of something (memory, say) that holders take shares of. Beyond the capacity they
 * wait in order, bounded in number and time. One holder never has more than a part of the capacity,
 * nor of what waiting may cost, so that no holder keeps out all the others.
 */

import type { Clock } from "./clock.ts";

export type PoolOptions = {
  clock: Clock;
  capacity: number;
  /** What a waiter costs meanwhile, and how much all of them may cost. */
  waitingCost: (amount: number) => number;
  mostWaitingCost: number;
  waitMs: number;
  /** What one holder may have of the capacity and of the cost of waiting, 0 to 1. */
  partOfOne: number;
};

export type Ask = {
  amount: number;
  holder: number;
  /** Aborts the wait. A function, since many signals are made only when they are asked for. */
  signal: () => AbortSignal;
};

export type Share = {
  /** Gives all of it back; a second call does nothing. */
  release(): void;
  /** Gives back all but `amount`. */
  shrinkTo(amount: number): void;
};

export type FairPool = {
  /** A share, at once where that is possible. Rejects with `PoolExhaustedError`, or with the signal's reason. */
  take(ask: Ask): Share | Promise<Share>;
  /** How much of the capacity is taken. */
  taken(): number;
  waiting(): number;
};

/** There was no capacity within the time, or too many wait for it already. */
export class PoolExhaustedError extends Error {}

type Waiter = Ask & { grant: (share: Share) => void };

export function createFairPool(options: PoolOptions): FairPool {
  const { clock, capacity, waitingCost, mostWaitingCost, waitMs, partOfOne } = options;
  const mostOfOne = Math.floor(capacity * partOfOne);
  const heldBy = new Map<number, number>();
  let taken = 0;
  let waiters: Waiter[] = [];

  function hasPart({ amount, holder }: Ask): boolean {
    return (heldBy.get(holder) ?? 0) + amount <= mostOfOne;
  }

  function hold({ amount, holder }: Ask): Share {
    let held = amount;
    add(holder, held);
    function shrinkTo(left: number): void {
      if (left >= held) return;
      add(holder, left - held);
      held = left;
      if (waiters.length > 0) grantWaiting();
    }
    return { shrinkTo, release: () => shrinkTo(0) };
  }

  function add(holder: number, amount: number): void {
    taken += amount;
    const held = (heldBy.get(holder) ?? 0) + amount;
    if (held === 0) heldBy.delete(holder);
    else heldBy.set(holder, held);
  }

  /** In order; a holder that has its part already does not keep back those behind it. */
  function grantWaiting(): void {
    let isFull = false;
    const granted = waiters.filter((waiter) => {
      if (isFull || !hasPart(waiter)) return false;
      isFull = taken + waiter.amount > capacity;
      if (!isFull) waiter.grant(hold(waiter));
      return !isFull;
    });
    if (granted.length > 0) waiters = waiters.filter((waiter) => !granted.includes(waiter));
  }

  const costOf = (some: readonly Waiter[]): number =>
    some.reduce((sum, { amount }) => sum + waitingCost(amount), 0);

  function wait(ask: Ask): Promise<Share> {
    const { holder } = ask;
    const signal = ask.signal();
    if (signal.aborted) return Promise.reject(signal.reason);
    const cost = waitingCost(ask.amount);
    const ofOne = costOf(waiters.filter((waiter) => waiter.holder === holder)) + cost;
    if (costOf(waiters) + cost > mostWaitingCost || ofOne > mostWaitingCost * partOfOne) {
      return Promise.reject(new PoolExhaustedError());
    }
    const { promise, resolve, reject } = Promise.withResolvers<Share>();
    const waiter: Waiter = { ...ask, grant: settle(resolve) };
    const giveUp = settle((reason: unknown) => {
      waiters = waiters.filter((other) => other !== waiter);
      reject(reason);
      grantWaiting();
    });
    const onAbort = () => giveUp(signal.reason);
    const cancelTimer = clock.after(waitMs, () => giveUp(new PoolExhaustedError()));
    signal.addEventListener("abort", onAbort);
    waiters.push(waiter);
    grantWaiting(); // Those ahead may wait for nothing but their own holder.
    return promise;

    function settle<T>(end: (value: T) => void): (value: T) => void {
      return (value) => {
        cancelTimer();
        signal.removeEventListener("abort", onAbort);
        end(value);
      };
    }
  }

  return {
    take(given) {
      const ask = { ...given, amount: Math.min(given.amount, mostOfOne) };
      const isFree = waiters.length === 0 && taken + ask.amount <= capacity;
      return isFree && hasPart(ask) ? hold(ask) : wait(ask);
    },
    taken: () => taken,
    waiting: () => waiters.length,
  };
}
