/** Computes when a deferred mail is retried (docs/delivery.md#R3). Pure functions. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const DELAYS_MS = [
  5 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  8 * HOUR,
] as const;
const LATER_DELAY_MS = 12 * HOUR;
const JITTER = 0.2;

/** Longest time to keep retrying a mail, by priority: transactional 4 days, campaign 1 day. */
const LIFETIMES_MS = [4 * DAY, DAY] as const;

/**
 * `since` is the start of the mail's lifetime: for transactional mail the moment of its acceptance,
 * for campaign mail its first attempt, because it may be queued for days before that.
 */
type Age = { since: number; priority: number; now: number };

/** True if the mail must not be retried any more. */
export function isPastLifetime(age: Age): boolean {
  return age.now >= deadlineOf(age);
}

/** The end of the mail's lifetime: the time of its last attempt. */
export function deadlineOf({ since, priority }: Omit<Age, "now">): number {
  return since + (LIFETIMES_MS[priority] ?? LIFETIMES_MS[1]);
}

export type Deferral = Age & {
  /** Attempts so far, including this one. */
  attempts: number;
  /** The delay that the reply named ("in 300 seconds"). */
  retryAfterMs: number | undefined;
  /** 0 ≤ random < 1. */
  random: number;
};

/** The time of the next attempt; null if the lifetime is over and the mail must bounce (4.4.7). */
export function nextAttemptAt(deferral: Deferral): number | null {
  const { now, random } = deferral;
  const deadline = deadlineOf(deferral);
  if (now >= deadline) return null;
  const jitter = 1 + JITTER * (2 * random - 1);
  // The delay of a reply is a lower bound: the retry is never earlier and at most 20 % later.
  const delayMs =
    deferral.retryAfterMs === undefined
      ? (DELAYS_MS[deferral.attempts - 1] ?? LATER_DELAY_MS) * jitter
      : deferral.retryAfterMs * (1 + JITTER * random);
  // The last attempt is at the end of the lifetime, not after it.
  return Math.round(Math.min(now + delayMs, deadline));
}
