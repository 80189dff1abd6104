/** When failed work is tried again: growing delays with jitter, and the delay that a receiver asks for. */

export type BackoffPolicy = {
  /** Delays after the first try, the second, and so on. After the last delay there is no further try. */
  delaysMs: readonly number[];
  /** A delay varies by this share, up and down, so that retries of many tries spread out. */
  jitter: number;
  /** The delay that a receiver asked for is exceeded by up to this share. */
  requestedJitter: number;
};

type FailedTry = {
  /** Number of tries, this one included. */
  tries: number;
  now: number;
  /** The delay that the receiver asked for, in milliseconds; null if it did not ask for one. */
  retryAfterMs: number | null;
  /** 0 ≤ random < 1. */
  random: number;
};

/** A receiver can ask for a delay of up to a day. */
const LONGEST_REQUESTED_MS = 24 * 60 * 60_000;

/** The time of the next try; null after the last one. A requested delay is a lower bound. */
export function nextTryAt(
  { delaysMs, jitter, requestedJitter }: BackoffPolicy,
  { tries, now, retryAfterMs, random }: FailedTry,
): number | null {
  const delayMs = delaysMs[tries - 1];
  if (delayMs === undefined) return null;
  const ownMs = delayMs * (1 + jitter * (2 * random - 1));
  const requestedMs = Math.min(retryAfterMs ?? 0, LONGEST_REQUESTED_MS);
  return Math.round(now + Math.max(ownMs, requestedMs * (1 + requestedJitter * random)));
}

/**
 * The header `Retry-After`, which is a number of seconds or a date (RFC 9110 §10.2.3), as
 * milliseconds from now; null if it is absent or invalid.
 */
export function parseRetryAfter(header: string | null, now: number): number | null {
  const text = header?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = text.endsWith(" GMT") ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
