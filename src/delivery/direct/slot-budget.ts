/**
 * Connection slots over all sites, with a budget for each speed of site. A slot counts against the
 * speed that its site has at this moment: when an unknown site turns out to be a tarpit, its slots
 * stop counting against the unknown sites, so the next unknown site finds one. The budgets bound what
 * is admitted; what has become slow since may exceed them, up to the limit of all slots together.
 */

import type { Speed } from "./site.ts";

/** Parts of the slots at once that each speed may use. */
const SHARES: Readonly<Record<Speed, number>> = {
  fast: 1,
  unknown: 0.8,
  slow: 0.5,
  unresponsive: 0.2,
};
/** All slots together, as a multiple of those at once: the others wait at slow sites. */
const ALL = 4;

export class SlotBudget {
  /** Slots at sites of any speed together. */
  readonly limit: number;
  readonly #limits: Readonly<Record<Speed, number>>;
  readonly #used: Record<Speed, number> = { fast: 0, slow: 0, unknown: 0, unresponsive: 0 };

  /** `slots`: how many mails are under way at once while no site is slow. */
  constructor(slots: number) {
    const part = (share: number) => Math.max(1, Math.floor(slots * share));
    this.limit = slots * ALL;
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

  /** Slots are scarce while unresponsive sites hold their whole budget: a fifth of those at once. */
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
