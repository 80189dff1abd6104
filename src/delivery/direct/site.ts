/**
 * What is known of one receiving site: how many mails it takes at once, how long it needs for one,
 * whether it ever answered, whether it asked for a pause, whether it can be reached.
 *
 * The limit of mails at once begins with two. Each full round of acceptances adds one, a failure
 * halves it, and a reply about our rate sets it to one and pauses the site: additive increase,
 * multiplicative decrease. All moments are milliseconds of the monotonic clock.
 */

/**
 * How an attempt ended, as far as the site is concerned.
 * - accepted: it took the mail.
 * - rerouted: one of its hosts took the mail after another one had failed.
 * - answered: it refused because of the mail or its recipient.
 * - failed: it broke the session off, was silent or had an internal error.
 * - unreachable: there was no session at all.
 * - limited: it gets too much mail from us.
 */
export type SiteResult =
  | { kind: "accepted" | "rerouted" | "answered" | "failed" }
  | { kind: "unreachable"; reason: string }
  | { kind: "limited"; retryAfterMs: number | undefined };

/** A slot of the site: one mail is being delivered to it. */
export type SiteSlot = { since: number };

/**
 * - fast: it had a good session, and mails take less than SLOW_MS.
 * - slow: it had a good session, and mails take longer, or one has already waited longer.
 * - unknown: it had no good session so far, and no mail has waited that long.
 * - unresponsive: it had no good session so far, and mails take or wait longer.
 */
export type Speed = "fast" | "slow" | "unknown" | "unresponsive";

/** What outlives the process. */
export type SiteState = {
  /** It answered a mail at least once: a server that never did may be a tarpit. */
  hasGoodSession: boolean;
  /** Mean time of one mail; null before the first one has ended. */
  meanMs: number | null;
  limit: number;
  /** Pauses in a row. */
  pauses: number;
  /** What is left of the pause it asked for. */
  pauseMs: number;
};

export const FIRST_LIMIT = 2;
export const HIGHEST_LIMIT = 20;

/** From this time for one mail on a site counts as slow. */
export const SLOW_MS = 2_000;
/** Assumed of a site where no mail has ended yet. */
const UNKNOWN_MS = 100;
/** Weight of the latest mail in the mean. */
const LATEST = 0.2;

const FIRST_PAUSE_MS = 60_000;
export const LONGEST_PAUSE_MS = 3_600_000;
const MOST_DOUBLINGS = 4;

/** After so many attempts in a row without a session, other mails are spared the same wait. */
const UNREACHABLE_IN_A_ROW = 3;
const SUSPENSION_MS = 60_000;

export class Site {
  limit = FIRST_LIMIT;
  hasGoodSession = false;
  readonly #slots = new Set<SiteSlot>();
  #acceptedInRound = 0;
  #wasFull = false;
  #meanMs: number | null = null;
  #pausedUntil = -Infinity;
  #pauses = 0;
  #unreachable = 0;
  #suspension: { until: number; reason: string } | null = null;

  /** A site as it was known to an earlier process; a new one without `state`. */
  constructor(state: SiteState | null = null, now = 0) {
    if (state === null) return;
    this.limit = state.limit;
    this.hasGoodSession = state.hasGoodSession;
    this.#meanMs = state.meanMs;
    this.#pauses = state.pauses;
    this.#pausedUntil = now + state.pauseMs;
  }

  get active(): number {
    return this.#slots.size;
  }

  get isFull(): boolean {
    return this.active >= this.limit;
  }

  /** Where no mail has ended yet, the longest wait stands for the mean: that of a tarpit, perhaps. */
  stateAt(now: number): SiteState {
    const { hasGoodSession, limit } = this;
    const meanMs = this.#meanMs ?? this.#waitedMs(now);
    return { hasGoodSession, limit, meanMs, pauses: this.#pauses, pauseMs: this.pauseMs(now) };
  }

  /** Milliseconds for one mail, as far as known; at least the longest wait at this moment. */
  paceMs(now: number): number {
    return Math.max(this.#waitedMs(now) ?? 0, this.#meanMs ?? UNKNOWN_MS);
  }

  /** What is left of the pause, zero if there is none. */
  pauseMs(now: number): number {
    return Math.max(0, this.#pausedUntil - now);
  }

  /** Why nothing is tried for a while, or null. */
  suspensionAt(now: number): string | null {
    const suspension = this.#suspension;
    return suspension !== null && now < suspension.until ? suspension.reason : null;
  }

  speedAt(now: number): Speed {
    return speedOf({ isSlow: this.paceMs(now) >= SLOW_MS, hasGoodSession: this.hasGoodSession });
  }

  begin(now: number): SiteSlot {
    const slot = { since: now };
    this.#slots.add(slot);
    this.#wasFull ||= this.isFull;
    return slot;
  }

  /** Gives a slot back in which nothing was tried. */
  leave(slot: SiteSlot): void {
    this.#slots.delete(slot);
  }

  end(slot: SiteSlot, result: SiteResult, now: number): void {
    this.leave(slot);
    const ms = now - slot.since;
    this.#meanMs = this.#meanMs === null ? ms : this.#meanMs + LATEST * (ms - this.#meanMs);
    if (result.kind !== "unreachable") this.#unreachable = 0;
    if (result.kind !== "unreachable" && result.kind !== "failed") this.hasGoodSession = true;
    switch (result.kind) {
      case "accepted":
        return this.#grow();
      case "answered":
        return;
      case "rerouted":
      case "failed":
        return this.#shrink();
      case "unreachable":
        return this.#suspend(result.reason, now);
      case "limited":
        return this.#pause(result.retryAfterMs ?? 0, now);
    }
  }

  /** The longest wait of the mails under way; null if there are none. */
  #waitedMs(now: number): number | null {
    const [oldest] = this.#slots;
    return oldest === undefined ? null : now - oldest.since;
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

  /** Mails under way get the same reply: together they are one pause, and the longest one counts. */
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

export function speedOf(known: { isSlow: boolean; hasGoodSession: boolean }): Speed {
  if (known.hasGoodSession) return known.isSlow ? "slow" : "fast";
  return known.isSlow ? "unresponsive" : "unknown";
}
