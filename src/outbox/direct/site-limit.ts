/**
 * The concurrency limit of one site. It starts at two. Each full round of acceptances adds one, a
 * failure halves it, and a reply about our rate sets it to one: additive increase, multiplicative
 * decrease. `active` is the number of mails under way.
 */

const FIRST_LIMIT = 2;
export const HIGHEST_LIMIT = 20;

export class SiteLimit {
  #value: number;
  #acceptedInRound = 0;
  #wasReached = false;

  constructor(value = FIRST_LIMIT) {
    this.#value = value;
  }

  get value(): number {
    return this.#value;
  }

  isReached(active: number): boolean {
    return active >= this.#value;
  }

  /** A mail has begun; `active` includes it. */
  noteBegin(active: number): void {
    this.#wasReached ||= this.isReached(active);
  }

  /**
   * The limit grows only if it was reached: otherwise the site has not shown that it allows more.
   */
  noteAcceptance(active: number): void {
    this.#acceptedInRound++;
    if (this.#acceptedInRound < this.#value) return;
    const grown = this.#wasReached ? Math.min(this.#value + 1, HIGHEST_LIMIT) : this.#value;
    this.#beginRound(grown, active);
  }

  halve(active: number): void {
    this.#beginRound(Math.max(1, Math.floor(this.#value / 2)), active);
  }

  reset(active: number): void {
    this.#beginRound(1, active);
  }

  #beginRound(value: number, active: number): void {
    this.#value = value;
    this.#acceptedInRound = 0;
    this.#wasReached = this.isReached(active);
  }
}
