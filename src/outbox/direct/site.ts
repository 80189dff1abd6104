/**
 * The state of one receiving site: its mails under way and their limit (site-limit.ts), how long it
 * needs for a mail, whether it ever answered, and when it gets no mail (site-pauses.ts). All moments
 * are milliseconds of the monotonic clock.
 */

import { SiteLimit } from "./site-limit.ts";
import { SitePauses } from "./site-pauses.ts";

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

/** A site counts as slow if a mail takes at least this long. */
export const SLOW_MS = 2_000;
/** Assumed time for one mail before the first one has ended. */
const UNKNOWN_MS = 100;
/** Weight of the latest mail in the mean. */
const LATEST_WEIGHT = 0.2;

export class Site {
  hasGoodSession = false;
  readonly #limit: SiteLimit;
  readonly #pauses = new SitePauses();
  readonly #slots = new Set<SiteSlot>();
  #meanMs: number | null = null;

  /** Restores a stored site, or creates a new one if `state` is null. */
  constructor(state: SiteState | null = null, now = 0) {
    this.#limit = new SiteLimit(state?.limit);
    if (state === null) return;
    this.hasGoodSession = state.hasGoodSession;
    this.#meanMs = state.meanMs;
    this.#pauses.restore({ count: state.pauses, pauseMs: state.pauseMs }, now);
  }

  get active(): number {
    return this.#slots.size;
  }

  /** Largest number of mails under way. */
  get limit(): number {
    return this.#limit.value;
  }

  get isFull(): boolean {
    return this.#limit.isReached(this.active);
  }

  /**
   * Before the first mail has ended, the longest wait replaces the mean, so that a tarpit is slow.
   */
  stateAt(now: number): SiteState {
    const { hasGoodSession, limit } = this;
    const meanMs = this.#meanMs ?? this.#waitedMs(now);
    const { count: pauses } = this.#pauses;
    return { hasGoodSession, limit, meanMs, pauses, pauseMs: this.pauseMs(now) };
  }

  /**
   * Expected milliseconds for one mail: the mean, or the longest current wait if that is longer.
   */
  paceMs(now: number): number {
    return Math.max(this.#waitedMs(now) ?? 0, this.#meanMs ?? UNKNOWN_MS);
  }

  /** Remaining time of the pause; 0 if there is none. */
  pauseMs(now: number): number {
    return this.#pauses.pauseMs(now);
  }

  /** Why no mail is tried at this moment; null if mail is tried. */
  suspensionAt(now: number): string | null {
    return this.#pauses.suspensionAt(now);
  }

  speedAt(now: number): Speed {
    return speedOf({ isSlow: this.paceMs(now) >= SLOW_MS, hasGoodSession: this.hasGoodSession });
  }

  begin(now: number): SiteSlot {
    const slot = { since: now };
    this.#slots.add(slot);
    this.#limit.noteBegin(this.active);
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
    if (result.kind !== "unreachable") this.#pauses.noteSession();
    if (result.kind !== "unreachable" && result.kind !== "failed") this.hasGoodSession = true;
    switch (result.kind) {
      case "accepted":
        this.#pauses.noteAcceptance();
        return this.#limit.noteAcceptance(this.active);
      case "answered":
        return;
      case "rerouted":
      case "failed":
        return this.#limit.halve(this.active);
      case "unreachable":
        this.#limit.halve(this.active);
        return this.#pauses.noteUnreachable(result.reason, now);
      case "limited":
        this.#limit.reset(this.active);
        return this.#pauses.pause(result.retryAfterMs ?? 0, now);
    }
  }

  /** How long the oldest mail under way has waited; null if there is none. */
  #waitedMs(now: number): number | null {
    const [oldest] = this.#slots;
    return oldest === undefined ? null : now - oldest.since;
  }
}

export function speedOf(known: { isSlow: boolean; hasGoodSession: boolean }): Speed {
  if (known.hasGoodSession) return known.isSlow ? "slow" : "fast";
  return known.isSlow ? "unresponsive" : "unknown";
}
