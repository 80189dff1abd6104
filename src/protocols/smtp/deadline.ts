/**
 * One timer for a whole session. Each step only stores its deadline; the timer itself is set again
 * only if it would fire too late, so a fast session rarely sets it.
 */

import type { Clock } from "../../lib/clock.ts";

export class Deadline {
  readonly #clock: Clock;
  readonly #expired: (waitedMs: number) => void;
  #cancelTimer = () => {};
  #firesAt = Infinity;
  #stepAt = Infinity;
  #stepMs = 0;
  #watchdogAt = Infinity;
  #watchdogMs = 0;

  constructor(clock: Clock, expired: (waitedMs: number) => void) {
    this.#clock = clock;
    this.#expired = expired;
  }

  /** Restarts the watchdog, which can expire only while a step is armed. */
  watch(ms: number): void {
    this.#watchdogAt = this.#clock.elapsed() + ms;
    this.#watchdogMs = ms;
  }

  arm(ms: number): void {
    const now = this.#clock.elapsed();
    this.#stepAt = now + ms;
    this.#stepMs = ms;
    const at = Math.min(this.#stepAt, this.#watchdogAt);
    if (at < this.#firesAt) this.#schedule(at, now);
  }

  disarm(): void {
    this.#stepAt = Infinity;
  }

  /** Stops the timer at the end of the session. */
  clear(): void {
    this.disarm();
    this.#cancelTimer();
    this.#firesAt = Infinity;
  }

  #schedule(at: number, now: number): void {
    this.#cancelTimer();
    this.#firesAt = at;
    this.#cancelTimer = this.#clock.after(Math.max(0, at - now), () => this.#fire());
  }

  #fire(): void {
    this.#firesAt = Infinity;
    if (this.#stepAt === Infinity) return;
    const now = this.#clock.elapsed();
    const at = Math.min(this.#stepAt, this.#watchdogAt);
    if (now < at) return this.#schedule(at, now);
    const waitedMs = at === this.#stepAt ? this.#stepMs : this.#watchdogMs;
    this.disarm();
    this.#expired(waitedMs);
  }
}
