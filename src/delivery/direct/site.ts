/**
 * One receiving site as we have come to know it (delivery rule S7): how many mails it takes at once,
 * how long it needs for one, whether it asked for a rest, whether it can be reached at all.
 *
 * It begins with two at a time. Each full round of acceptances adds one, a failure halves, a reply
 * about our rate brings it down to one and pauses it: additive increase, multiplicative decrease.
 */

/**
 * How an attempt ended, as far as the site is concerned.
 * - accepted: it took the mail.
 * - answered: it refused for the mail's or the recipient's sake.
 * - failed: it broke off, was silent or is in trouble.
 * - unreachable: there was no session at all.
 * - limited: it gets too much from us.
 */
export type SiteResult =
  | { kind: "accepted" | "answered" | "failed" }
  | { kind: "unreachable"; reason: string }
  | { kind: "limited"; retryAfterMs: number | undefined };

/** Somebody's place at the site. */
export type Stay = { since: number };

export const FIRST_LIMIT = 2;
export const HIGHEST_LIMIT = 20;

const SLOW_MS = 2_000;
/** What is assumed of a site that has finished nothing yet. */
const UNKNOWN_MS = 100;
/** Weight of the latest mail in the mean. */
const LATEST = 0.2;

const FIRST_PAUSE_MS = 60_000;
const LONGEST_PAUSE_MS = 3_600_000;
const MOST_DOUBLINGS = 4;

/** After so many attempts in a row without a session, others are spared the same wait. */
const UNREACHABLE_IN_A_ROW = 3;
const SUSPENSION_MS = 60_000;

export class Site {
  limit = FIRST_LIMIT;
  readonly #stays = new Set<Stay>();
  #acceptedInRound = 0;
  #wasFull = false;
  #meanMs: number | null = null;
  #pausedUntil = -Infinity;
  #pauses = 0;
  #unreachable = 0;
  #suspension: { until: number; reason: string } | null = null;

  get active(): number {
    return this.#stays.size;
  }

  get isFull(): boolean {
    return this.active >= this.limit;
  }

  /** How long one mail takes, as far as it is known; not less than one has been waiting now. */
  paceMs(now: number): number {
    const [oldest] = this.#stays;
    const waitedMs = oldest === undefined ? 0 : now - oldest.since;
    return Math.max(waitedMs, this.#meanMs ?? UNKNOWN_MS);
  }

  /** How long it rests from now on; zero if it does not. */
  pauseMs(now: number): number {
    return Math.max(0, this.#pausedUntil - now);
  }

  /** Why nothing is tried for a while, or null. */
  suspensionAt(now: number): string | null {
    const suspension = this.#suspension;
    return suspension !== null && now < suspension.until ? suspension.reason : null;
  }

  /**
   * - slow: it has been slow, or keeps somebody waiting at this moment.
   * - unknown: it has finished nothing yet.
   */
  speedAt(now: number): "fast" | "slow" | "unknown" {
    if (this.paceMs(now) >= SLOW_MS) return "slow";
    return this.#meanMs === null ? "unknown" : "fast";
  }

  begin(now: number): Stay {
    const stay = { since: now };
    this.#stays.add(stay);
    this.#wasFull ||= this.isFull;
    return stay;
  }

  /** Ended before anything was tried. */
  leave(stay: Stay): void {
    this.#stays.delete(stay);
  }

  end(stay: Stay, result: SiteResult, now: number): void {
    this.leave(stay);
    const ms = now - stay.since;
    this.#meanMs = this.#meanMs === null ? ms : this.#meanMs + LATEST * (ms - this.#meanMs);
    if (result.kind !== "unreachable") this.#unreachable = 0;
    switch (result.kind) {
      case "accepted":
        return this.#grow();
      case "answered":
        return;
      case "failed":
        return this.#shrink();
      case "unreachable":
        return this.#suspend(result.reason, now);
      case "limited":
        return this.#pause(result.retryAfterMs ?? 0, now);
    }
  }

  /** Only a site that was used up to its limit shows that it could take more. */
  #grow(): void {
    this.#pauses = 0;
    this.#acceptedInRound++;
    if (this.#acceptedInRound < this.limit) return;
    if (this.#wasFull) this.limit = Math.min(this.limit + 1, HIGHEST_LIMIT);
    this.#beginRound();
  }

  #shrink(): void {
    this.limit = Math.max(1, Math.floor(this.limit / 2));
    this.#beginRound();
  }

  #beginRound(): void {
    this.#acceptedInRound = 0;
    this.#wasFull = this.isFull;
  }

  #suspend(reason: string, now: number): void {
    this.#shrink();
    this.#unreachable++;
    if (this.#unreachable < UNREACHABLE_IN_A_ROW) return;
    this.#suspension = { until: now + SUSPENSION_MS, reason };
  }

  /** Mails under way hear the same: together they are one pause, and the longest wish counts. */
  #pause(wishMs: number, now: number): void {
    this.limit = 1;
    this.#beginRound();
    const isNew = this.pauseMs(now) === 0;
    const ownMs = isNew ? FIRST_PAUSE_MS * 2 ** Math.min(this.#pauses, MOST_DOUBLINGS) : 0;
    if (isNew) this.#pauses++;
    const pauseMs = Math.min(Math.max(wishMs, ownMs), LONGEST_PAUSE_MS);
    this.#pausedUntil = Math.max(this.#pausedUntil, now + pauseMs);
  }
}
