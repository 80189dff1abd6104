/**
 * The times at which one site gets no mail: the pauses that it asks for by replies about our rate,
 * and the suspension while it cannot be reached. All moments are milliseconds of the monotonic
 * clock.
 */

const FIRST_PAUSE_MS = 60_000;
export const LONGEST_PAUSE_MS = 3_600_000;
const MAX_DOUBLINGS = 4;

/** After this many consecutive attempts without a session, no mail is tried for SUSPENSION_MS. */
const UNREACHABLE_IN_A_ROW = 3;
const SUSPENSION_MS = 60_000;

export class SitePauses {
  #pausedUntil = -Infinity;
  /** Number of consecutive pauses. */
  #count = 0;
  #unreachable = 0;
  #suspension: { until: number; reason: string } | null = null;

  /** Restores a stored state: `count` pauses, the last of which lasts `pauseMs` longer. */
  restore({ count, pauseMs }: { count: number; pauseMs: number }, now: number): void {
    this.#count = count;
    this.#pausedUntil = now + pauseMs;
  }

  get count(): number {
    return this.#count;
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

  noteAcceptance(): void {
    this.#count = 0;
  }

  noteSession(): void {
    this.#unreachable = 0;
  }

  noteUnreachable(reason: string, now: number): void {
    this.#unreachable++;
    if (this.#unreachable < UNREACHABLE_IN_A_ROW) return;
    this.#suspension = { until: now + SUSPENSION_MS, reason };
  }

  /** Replies to several mails under way count as one pause, of the longest time. */
  pause(requestedMs: number, now: number): void {
    const isNew = this.pauseMs(now) === 0;
    const ownMs = isNew ? FIRST_PAUSE_MS * 2 ** Math.min(this.#count, MAX_DOUBLINGS) : 0;
    if (isNew) this.#count++;
    const pauseMs = Math.min(Math.max(requestedMs, ownMs), LONGEST_PAUSE_MS);
    this.#pausedUntil = Math.max(this.#pausedUntil, now + pauseMs);
  }
}
