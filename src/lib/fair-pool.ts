/**
 * A pool of a bounded capacity, such as bytes of memory, from which holders take shares. When the
 * capacity is used up, they wait in order, for a limited time and up to a limited total cost. One
 * holder gets only a part of the capacity and of that cost, so it cannot keep others out.
 */

import type { Clock } from "./clock.ts";

type PoolOptions = {
  clock: Clock;
  capacity: number;
  /** Cost of a waiter; `mostWaitingCost` limits the costs of all waiters together. */
  waitingCost: (amount: number) => number;
  maxWaitingCost: number;
  waitMs: number;
  /** Part of the capacity and of the waiting costs that one holder may have, from 0 to 1. */
  maxShareOfOne: number;
};

type Ask = {
  amount: number;
  /** A project or a client. */
  holder: number | string;
  /** Returns the signal that ends the wait. It is called only if there is a wait. */
  signal: () => AbortSignal;
};

export type Share = {
  /** Returns all of the share; a second call does nothing. */
  release(): void;
  /** Returns all of the share but `amount`. */
  shrinkTo(amount: number): void;
};

type FairPool = {
  /**
   * Takes a share, without waiting if possible. It rejects with `PoolExhaustedError` or the
   * signal's reason.
   */
  take(ask: Ask): Share | Promise<Share>;
  /** Amount of the capacity that is in use. */
  taken(): number;
  waiting(): number;
};

/** There was no free capacity within the time limit, or too many holders wait already. */
export class PoolExhaustedError extends Error {}

type Waiter = Ask & { grant: (share: Share) => void };

export function createFairPool(options: PoolOptions): FairPool {
  const {
    clock,
    capacity,
    waitingCost,
    maxWaitingCost: mostWaitingCost,
    waitMs,
    maxShareOfOne: partOfOne,
  } = options;
  const maxPerHolder = Math.floor(capacity * partOfOne);
  const heldBy = new Map<Ask["holder"], number>();
  let taken = 0;
  let waiters: Waiter[] = [];

  function hasPart({ amount, holder }: Ask): boolean {
    return (heldBy.get(holder) ?? 0) + amount <= maxPerHolder;
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

  function add(holder: Ask["holder"], amount: number): void {
    taken += amount;
    const held = (heldBy.get(holder) ?? 0) + amount;
    if (held === 0) heldBy.delete(holder);
    else heldBy.set(holder, held);
  }

  /**
   * Grants shares in order. A waiter whose holder has its part already does not block the next
   * ones.
   */
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
    const holderCost = costOf(waiters.filter((waiter) => waiter.holder === holder)) + cost;
    if (costOf(waiters) + cost > mostWaitingCost || holderCost > mostWaitingCost * partOfOne) {
      return Promise.reject(new PoolExhaustedError());
    }
    const { promise, resolve, reject } = Promise.withResolvers<Share>();
    const waiter: Waiter = { ...ask, grant: settle(resolve) };
    const cancelWait = settle((reason: unknown) => {
      waiters = waiters.filter((other) => other !== waiter);
      reject(reason);
      grantWaiting();
    });
    const onAbort = () => cancelWait(signal.reason);
    const cancelTimer = clock.after(waitMs, () => cancelWait(new PoolExhaustedError()));
    signal.addEventListener("abort", onAbort);
    waiters.push(waiter);
    grantWaiting(); // All earlier waiters may be blocked only by the part of their own holder.
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
      const ask = { ...given, amount: Math.min(given.amount, maxPerHolder) };
      const isFree = waiters.length === 0 && taken + ask.amount <= capacity;
      return isFree && hasPart(ask) ? hold(ask) : wait(ask);
    },
    taken: () => taken,
    waiting: () => waiters.length,
  };
}
