/** Decides when a delivery is tried again, and when a failing webhook is disabled. Pure. */

import type { BackoffPolicy } from "../../lib/backoff.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** 8 tries within about 24 hours. */
export const DELIVERY_BACKOFF: BackoffPolicy = {
  delaysMs: [10 * SECOND, MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR, 15 * HOUR],
  jitter: 0.1,
  requestedJitter: 0,
};

/**
 * Number of tries of a delivery during which later events of the same contact wait, a little over a
 * minute. A receiver that is unavailable for longer may get them in any order.
 */
export const HOLDING_TRIES = 3;

const DISABLE_AFTER_MS = 5 * DAY;

/** Whether a webhook has failed for so long that it must be disabled. */
export function isFailingTooLong(failingSince: number, now: number): boolean {
  return now - failingSince >= DISABLE_AFTER_MS;
}
