/**
 * One timer for a whole session. Each step only stores its deadline; the timer itself is set again
 * only if it would fire too late, so a fast session rarely sets it.
 */

import { systemClock } from "../../lib/clock.ts";

export class Deadline {
  readonly #expired: (waitedMs: number) => void;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #firesAt = Infinity;
  #stepAt = Infinity;
  #stepMs = 0;
  #watchdogAt = Infinity;
  #watchdogMs = 0;

  constructor(expired: (waitedMs: number) => void) {
    this.#expired = expired;
  }

  /** Restarts the watchdog, which can expire only while a step is armed. */
  watch(ms: number): void {
    this.#watchdogAt = systemClock.elapsed() + ms;
    this.#watchdogMs = ms;
  }

  arm(ms: number): void {
    const now = systemClock.elapsed();
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
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#firesAt = Infinity;
  }

  #schedule(at: number, now: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#firesAt = at;
    this.#timer = setTimeout(() => this.#fire(), Math.max(0, Math.ceil(at - now)));
  }

  #fire(): void {
    this.#timer = null;
    this.#firesAt = Infinity;
    if (this.#stepAt === Infinity) return;
    const now = systemClock.elapsed();
    const at = Math.min(this.#stepAt, this.#watchdogAt);
    if (now < at) return this.#schedule(at, now);
    const waitedMs = at === this.#stepAt ? this.#stepMs : this.#watchdogMs;
    this.disarm();
    this.#expired(waitedMs);
  }
}
