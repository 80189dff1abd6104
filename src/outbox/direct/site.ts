/**
 * The state of one receiving site: its concurrency limit, how long it needs for a mail, and whether
 * it ever answered, asked for a pause, or cannot be reached.
 *
 * The concurrency limit starts at two. Each full round of acceptances adds one, a failure halves
 * it, and a reply about our rate sets it to one and pauses the site: additive increase,
 * multiplicative decrease. All moments are milliseconds of the monotonic clock.
 */

/**
 * The result of an attempt for the site.
 * - accepted: it accepted the mail.
 * - rerouted: one of its hosts accepted the mail after another one had failed.
 * - answered: it refused because of the mail or its recipient.
 * - failed: it ended the session early, was silent or had an internal error.
 * - unreachable: there was no session at all.
 * - limited: it replied that this server sends too much mail.
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

/** The part of the state that is stored. */
export type SiteState = {
  /** True if it answered a mail at least once. A server that never did may be a tarpit. */
  hasGoodSession: boolean;
  /** Mean time for one mail; null before the first one has ended. */
  meanMs: number | null;
  limit: number;
  /** Number of consecutive pauses. */
  pauses: number;
  /** Remaining time of the current pause. */
  pauseMs: number;
};

const FIRST_LIMIT = 2;
export const HIGHEST_LIMIT = 20;

/** A site counts as slow if a mail takes at least this long. */
export const SLOW_MS = 2_000;
/** Assumed time for one mail before the first one has ended. */
const UNKNOWN_MS = 100;
/** Weight of the latest mail in the mean. */
const LATEST_WEIGHT = 0.2;

const FIRST_PAUSE_MS = 60_000;
export const LONGEST_PAUSE_MS = 3_600_000;
const MAX_DOUBLINGS = 4;

/** After this many consecutive attempts without a session, no mail is tried for SUSPENSION_MS. */
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

  /** Restores a stored site, or creates a new one if `state` is null. */
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

  /**
   * Before the first mail has ended, the longest wait replaces the mean, so that a tarpit is slow.
   */
  stateAt(now: number): SiteState {
    const { hasGoodSession, limit } = this;
    const meanMs = this.#meanMs ?? this.#waitedMs(now);
    return { hasGoodSession, limit, meanMs, pauses: this.#pauses, pauseMs: this.pauseMs(now) };
  }

  /**
   * Expected milliseconds for one mail: the mean, or the longest current wait if that is longer.
   */
  paceMs(now: number): number {
    return Math.max(this.#waitedMs(now) ?? 0, this.#meanMs ?? UNKNOWN_MS);
  }

  /** Remaining time of the pause; 0 if there is none. */
  pauseMs(now: number): number {
    return Math.max(0, this.#pausedUntil - now);
  }

  /** Why no mail is tried at this moment; null if mail is tried. */
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

  /** Releases a slot in which nothing was tried. */
  release(slot: SiteSlot): void {
    this.#slots.delete(slot);
  }

  end(slot: SiteSlot, result: SiteResult, now: number): void {
    this.release(slot);
    const ms = now - slot.since;
    this.#meanMs = this.#meanMs === null ? ms : this.#meanMs + LATEST_WEIGHT * (ms - this.#meanMs);
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

  /** How long the oldest mail under way has waited; null if there is none. */
  #waitedMs(now: number): number | null {
    const [oldest] = this.#slots;
    return oldest === undefined ? null : now - oldest.since;
  }

  /**
   * The limit grows only if it was reached: otherwise the site has not shown that it allows more.
   */
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

  /** Replies to several mails under way count as one pause, of the longest time. */
  #pause(requestedMs: number, now: number): void {
    this.limit = 1;
    this.#beginRound();
    const isNew = this.pauseMs(now) === 0;
    const ownMs = isNew ? FIRST_PAUSE_MS * 2 ** Math.min(this.#pauses, MAX_DOUBLINGS) : 0;
    if (isNew) this.#pauses++;
    const pauseMs = Math.min(Math.max(requestedMs, ownMs), LONGEST_PAUSE_MS);
    this.#pausedUntil = Math.max(this.#pausedUntil, now + pauseMs);
  }
}

export function speedOf(known: { isSlow: boolean; hasGoodSession: boolean }): Speed {
  if (known.hasGoodSession) return known.isSlow ? "slow" : "fast";
  return known.isSlow ? "unresponsive" : "unknown";
}
