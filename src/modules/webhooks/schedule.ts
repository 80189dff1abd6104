/** Decides when a delivery is tried again, and when a failing webhook is disabled. Pure. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Delays after the first try, the second, and so on: 8 tries within about 24 hours. */
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
 * Number of tries of a delivery during which later events of the same contact wait, a little over a
 * minute. A receiver that is unavailable for longer may get them in any order.
 */
export const HOLDING_TRIES = 3;

const DISABLE_AFTER_MS = 5 * DAY;
const LONGEST_RETRY_AFTER_MS = DAY;

type Failure = {
  /** Number of tries, this one included. */
  attempts: number;
  now: number;
  /** The receiver's `Retry-After` (RFC 9110 §10.2.3), a lower bound; null if there is none. */
  retryAfterMs: number | null;
  /** 0 ≤ random < 1. */
  random: number;
};

/** The time of the next try; null after the last one. */
export function nextTryAt({ attempts, now, retryAfterMs, random }: Failure): number | null {
  const delayMs = DELAYS_MS[attempts - 1];
  if (delayMs === undefined) return null;
  const jittered = delayMs * (1 + JITTER * (2 * random - 1));
  return Math.round(now + Math.max(jittered, Math.min(retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS)));
}

/** Whether a webhook has failed for so long that it must be disabled. */
export function isFailingTooLong(failingSince: number, now: number): boolean {
  return now - failingSince >= DISABLE_AFTER_MS;
}

/** The header `Retry-After` as milliseconds from now; null if it is absent or invalid. */
export function retryAfterMs(header: string | null, now: number): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * SECOND;
  const at = header.endsWith(" GMT") ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
