/**
 * The state of one receiving site: its mails under way and their limit, how long it needs for a mail,
 * whether it ever answered, and when it gets no mail. All moments are milliseconds of the monotonic
 * clock.
 *
 * The limit starts at two. Each full round of acceptances adds one, a failure halves it, and a reply
 * about our rate sets it to one: additive increase, multiplicative decrease.
 */

/**
 * The result of an attempt for the site.
 * - accepted: it accepted the mail.
 * - rerouted: one of its hosts accepted the mail after another one had failed.
 * - answered: it refused because of the mail or its recipient.
 * - failed: it ended the session early, was silent or had an internal error.
 * - unreachable: there was no session at all.
 * - limited: it replied that this server sends too much mail, or that it takes no mail from it.
 */
export type SiteResult =
  | { kind: "accepted" | "rerouted" | "answered" | "failed" }
  | { kind: "unreachable"; reason: string }
  | { kind: "limited"; retryAfterMs: number | undefined; reason?: string };

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

/** A site counts as slow if a mail takes at least this long. */
export const SLOW_MS = 2_000;
/** Assumed time for one mail before the first one has ended. */
const UNKNOWN_MS = 100;
/** Weight of the latest mail in the mean. */
const LATEST_WEIGHT = 0.2;

const FIRST_LIMIT = 2;
export const HIGHEST_LIMIT = 20;

const FIRST_PAUSE_MS = 60_000;
export const LONGEST_PAUSE_MS = 3_600_000;
const MAX_DOUBLINGS = 4;

/** After this many consecutive attempts without a session, no mail is tried for SUSPENSION_MS. */
const UNREACHABLE_IN_A_ROW = 3;
const SUSPENSION_MS = 60_000;

export class Site {
  hasGoodSession = false;
  /** Largest number of mails under way. */
  limit = FIRST_LIMIT;
  readonly #slots = new Set<SiteSlot>();
  readonly #waiting: ((slot: SiteSlot | null) => void)[] = [];
  #meanMs: number | null = null;
  /** Acceptances since the limit changed, and whether the limit was reached meanwhile. */
  #accepted = 0;
  #wasReached = false;
  #pausedUntil = -Infinity;
  /** The reply for which it is paused; null if an earlier process received it. */
  #pauseReply: string | null = null;
  /** Number of consecutive pauses. */
  #pauses = 0;
  #unreachable = 0;
  #suspension: { until: number; reason: string } | null = null;

  /** Restores a stored site, or creates a new one if `state` is null. */
  constructor(state: SiteState | null = null, now = 0) {
    if (state === null) return;
    this.hasGoodSession = state.hasGoodSession;
    this.limit = state.limit;
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

  /** Before the first mail has ended, the longest wait replaces the mean, so that a tarpit is slow. */
  stateAt(now: number): SiteState {
    const { hasGoodSession, limit } = this;
    const meanMs = this.#meanMs ?? this.#waitedMs(now);
    return { hasGoodSession, limit, meanMs, pauses: this.#pauses, pauseMs: this.pauseMs(now) };
  }

  /** Expected milliseconds for one mail: the mean, or the longest current wait if that is longer. */
  paceMs(now: number): number {
    return Math.max(this.#waitedMs(now) ?? 0, this.#meanMs ?? UNKNOWN_MS);
  }

  /** Remaining time of the pause; 0 if there is none. */
  pauseMs(now: number): number {
    return Math.max(0, this.#pausedUntil - now);
  }

  /** The reason why it was last paused, in words; null if it is not known. */
  get pauseReason(): string | null {
    const reply = this.#pauseReply;
    return reply === null ? null : `its servers answered: ${withoutAddresses(reply)}`;
  }

  /** The reason why no mail is tried at this moment; null if mail is tried. */
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
    this.#wasReached ||= this.isFull;
    return slot;
  }

  /**
   * Calls `resume` with the next free slot, or with null if the site is paused. Returns a function that
   * ends the wait, with null.
   */
  wait(resume: (slot: SiteSlot | null) => void, isFirst: boolean): () => void {
    if (isFirst) this.#waiting.unshift(resume);
    else this.#waiting.push(resume);
    return () => {
      const at = this.#waiting.indexOf(resume);
      if (at === -1) return;
      this.#waiting.splice(at, 1);
      resume(null);
    };
  }

  /** Gives the free slots to the mails that wait. To be called after each release. */
  serve(now: number): void {
    while (this.#waiting.length > 0) {
      const isPaused = this.pauseMs(now) > 0;
      if (!isPaused && this.isFull) return;
      this.#waiting.shift()?.(isPaused ? null : this.begin(now));
    }
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
        this.#pauses = 0;
        return this.#noteAcceptance();
      case "answered":
        return;
      case "rerouted":
      case "failed":
        return this.#setLimit(Math.max(1, Math.floor(this.limit / 2)));
      case "unreachable":
        this.#setLimit(Math.max(1, Math.floor(this.limit / 2)));
        return this.#noteUnreachable(result.reason, now);
      case "limited":
        this.#setLimit(1);
        this.#pauseReply = result.reason ?? null;
        return this.#pause(result.retryAfterMs ?? 0, now);
    }
  }

  /** The limit grows only if it was reached: otherwise the site has not shown that it allows more. */
  #noteAcceptance(): void {
    this.#accepted++;
    if (this.#accepted < this.limit) return;
    this.#setLimit(this.#wasReached ? Math.min(this.limit + 1, HIGHEST_LIMIT) : this.limit);
  }

  #setLimit(limit: number): void {
    this.limit = limit;
    this.#accepted = 0;
    this.#wasReached = this.isFull;
  }

  #noteUnreachable(reason: string, now: number): void {
    this.#unreachable++;
    if (this.#unreachable < UNREACHABLE_IN_A_ROW) return;
    this.#suspension = { until: now + SUSPENSION_MS, reason };
  }

  /** Replies to several mails under way count as one pause, of the longest time. */
  #pause(requestedMs: number, now: number): void {
    const isNew = this.pauseMs(now) === 0;
    const ownMs = isNew ? FIRST_PAUSE_MS * 2 ** Math.min(this.#pauses, MAX_DOUBLINGS) : 0;
    if (isNew) this.#pauses++;
    const pauseMs = Math.min(Math.max(requestedMs, ownMs), LONGEST_PAUSE_MS);
    this.#pausedUntil = Math.max(this.#pausedUntil, now + pauseMs);
  }

  /** The waiting time of the oldest mail under way; null if there is none. */
  #waitedMs(now: number): number | null {
    const [oldest] = this.#slots;
    return oldest === undefined ? null : now - oldest.since;
  }
}

export function speedOf(known: { isSlow: boolean; hasGoodSession: boolean }): Speed {
  if (known.hasGoodSession) return known.isSlow ? "slow" : "fast";
  return known.isSlow ? "unresponsive" : "unknown";
}

/** The reply without addresses, because it was to the mail of another person, perhaps of another project. */
function withoutAddresses(reply: string): string {
  return reply.replace(/<?[^\s<>@]{1,64}@[^\s<>@]{1,255}>?/g, "(an address)");
}
