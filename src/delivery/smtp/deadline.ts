/**
 * One timer for a whole session. Each step moves a number; the timer itself is only set anew when
 * it would fire too late, so a fast session touches it once in a while, not at every reply.
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

  /** Starts the watchdog anew; it bites only while a step is armed. */
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

  /** Gives the timer back; the session is over. */
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
