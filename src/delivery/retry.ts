/** When a deferred mail is tried again (delivery rule R3). Pure. */

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

/** How long a mail is tried, by priority: transactional 4 days, campaign 1 day. */
const LIFETIMES_MS = [4 * DAY, DAY] as const;

/**
 * `since`: when its time began. That of transactional mail does when it is accepted; campaign mail
 * may wait for days until its turn comes first, and has its whole time then.
 */
export type Age = { since: number; priority: number; now: number };

/** Nothing more is tried for such a mail. */
export function isPastLifetime(age: Age): boolean {
  return age.now >= deadlineOf(age);
}

function deadlineOf({ since, priority }: Omit<Age, "now">): number {
  return since + (LIFETIMES_MS[priority] ?? LIFETIMES_MS[1]);
}

export type Deferral = Age & {
  /** Attempts made, this one included. */
  attempts: number;
  /** A time that the reply named ("in 300 seconds"). */
  retryAfterMs: number | undefined;
  /** 0 ≤ random < 1. */
  random: number;
};

/** The moment of the next attempt; null when the time is up and the mail must bounce (4.4.7). */
export function nextAttemptAt(deferral: Deferral): number | null {
  const { now, random } = deferral;
  const deadline = deadlineOf(deferral);
  if (now >= deadline) return null;
  const jitter = 1 + JITTER * (2 * random - 1);
  // A hint is a lower bound: never earlier than asked, at most 20 % later.
  const delayMs =
    deferral.retryAfterMs === undefined
      ? (DELAYS_MS[deferral.attempts - 1] ?? LATER_DELAY_MS) * jitter
      : deferral.retryAfterMs * (1 + JITTER * random);
  // The last attempt is made when the time is up, not after it.
  return Math.round(Math.min(now + delayMs, deadline));
}
