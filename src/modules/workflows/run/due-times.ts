/** Computes the durations of delays and the times of retries of steps. Pure. */

import type { BackoffPolicy } from "../../../lib/backoff.ts";
import type { DelayUnit } from "../graph/graph.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const UNIT_MS: Readonly<Record<DelayUnit, number>> = {
  minutes: MINUTE_MS,
  hours: HOUR_MS,
  days: DAY_MS,
};

export function delayMs({ amount, unit }: { amount: number; unit: DelayUnit }): number {
  return amount * UNIT_MS[unit];
}

/** 8 tries of a webhook call in about a day. */
export const CALL_BACKOFF: BackoffPolicy = {
  delaysMs: [
    MINUTE_MS,
    5 * MINUTE_MS,
    15 * MINUTE_MS,
    HOUR_MS,
    3 * HOUR_MS,
    6 * HOUR_MS,
    13 * HOUR_MS,
  ],
  jitter: 0.2,
  requestedJitter: 0.2,
};
export const MAX_TRIES = CALL_BACKOFF.delaysMs.length + 1;

/**
 * The next try of a postponed step after `tries` tries: the delay doubles from a minute up to an
 * hour, and the last try is at `until`. Returns null after that; `until` is null if there is no limit.
 */
export function nextPostponedTryAt({
  tries,
  now,
  until,
}: {
  tries: number;
  now: number;
  until: number | null;
}): number | null {
  if (until !== null && now >= until) return null;
  const waitMs = Math.min(MINUTE_MS * 2 ** (tries - 1), HOUR_MS);
  return Math.min(now + waitMs, until ?? Infinity);
}
