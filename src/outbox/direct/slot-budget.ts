/**
 * Connection slots over all sites, with a budget for each speed of site. A slot counts against the
 * speed that its site has at this moment: when an unknown site turns out to be a tarpit, its slots
 * stop counting against the unknown sites, so the next unknown site gets one. A budget limits
 * admission; slots whose site became slow later may exceed it, up to the limit of all slots.
 */

import type { Speed } from "./site.ts";

/** Share of the slots that each speed may use. */
const SHARES: Readonly<Record<Speed, number>> = {
  fast: 1,
  unknown: 0.8,
  slow: 0.5,
  unresponsive: 0.2,
};
/** The limit of all slots, as a multiple of `slots`; the additional ones wait at slow sites. */
const TOTAL_FACTOR = 4;

export class SlotBudget {
  /** Limit of all slots, at sites of any speed. */
  readonly limit: number;
  readonly #limits: Readonly<Record<Speed, number>>;
  readonly #used: Record<Speed, number> = { fast: 0, slow: 0, unknown: 0, unresponsive: 0 };

  /** `slots` is the largest number of mails under way while no site is slow. */
  constructor(slots: number) {
    const part = (share: number) => Math.max(1, Math.floor(slots * share));
    this.limit = slots * TOTAL_FACTOR;
    this.#limits = {
      fast: part(SHARES.fast),
      unknown: part(SHARES.unknown),
      slow: part(SHARES.slow),
      unresponsive: part(SHARES.unresponsive),
    };
  }

  get used(): number {
    const { fast, unknown, slow, unresponsive } = this.#used;
    return fast + unknown + slow + unresponsive;
  }

  /** True while unresponsive sites use their whole budget: a fifth of `slots`. */
  get isScarce(): boolean {
    return this.isFull("unresponsive");
  }

  usedBy(speed: Speed): number {
    return this.#used[speed];
  }

  isFull(speed: Speed): boolean {
    return this.#used[speed] >= this.#limits[speed];
  }

  add(speed: Speed): void {
    this.#used[speed]++;
  }

  remove(speed: Speed): void {
    this.#used[speed]--;
  }
}

/** One slot of the budget, which counts against one speed at a time. */
export class CountedSlot {
  readonly #budget: SlotBudget;
  #speed: Speed;

  constructor(budget: SlotBudget, speed: Speed) {
    this.#budget = budget;
    this.#speed = speed;
    budget.add(speed);
  }

  get speed(): Speed {
    return this.#speed;
  }

  countAs(speed: Speed): void {
    if (speed === this.#speed) return;
    this.#budget.remove(this.#speed);
    this.#budget.add(speed);
    this.#speed = speed;
  }

  /** To be called once. */
  release(): void {
    this.#budget.remove(this.#speed);
  }
}
