/** When a delivery is tried again, and when a webhook is given up. Pure. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** After the first try, the second, and so on: 8 tries in 24 hours or a little less. */
const DELAYS_MS = [
  10 * SECOND,
  MINUTE,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  6 * HOUR,
  15 * HOUR,
] as const;
const JITTER = 0.1;

/**
 * Later events of a contact wait for an earlier one during its first tries, a little over a minute.
 * A receiver that is away for longer gets them in any order.
 */
export const HOLDING_TRIES = 3;

const GIVE_UP_MS = 5 * DAY;
const LONGEST_HINT_MS = DAY;

export type Failure = {
  /** Tries made, this one included. */
  attempts: number;
  now: number;
  /** The receiver said when (RFC 9110 §10.2.3): a lower bound. */
  retryAfterMs: number | null;
  /** 0 ≤ random < 1. */
  random: number;
};

/** The moment of the next try; null after the last one. */
export function nextTryAt({ attempts, now, retryAfterMs, random }: Failure): number | null {
  const delayMs = DELAYS_MS[attempts - 1];
  if (delayMs === undefined) return null;
  const jittered = delayMs * (1 + JITTER * (2 * random - 1));
  return Math.round(now + Math.max(jittered, Math.min(retryAfterMs ?? 0, LONGEST_HINT_MS)));
}

/** Whether nothing succeeded for so long that the webhook is disabled. */
export function isGivenUp(failingSince: number, now: number): boolean {
  return now - failingSince >= GIVE_UP_MS;
}

/** Milliseconds from now; null where the header says nothing that we understand. */
export function retryAfterMs(header: string | null, now: number): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * SECOND;
  const at = header.endsWith(" GMT") ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
