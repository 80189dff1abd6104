/** Computes the durations of delays and the times of retries of webhook calls. Pure. */

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

/** Delays after the first try, the second, and so on: 8 tries in about a day. */
const RETRY_DELAYS_MS = [
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  HOUR_MS,
  3 * HOUR_MS,
  6 * HOUR_MS,
  13 * HOUR_MS,
] as const;
export const MAX_TRIES = RETRY_DELAYS_MS.length + 1;
const JITTER = 0.2;

type FailedTry = {
  /** Number of tries, this one included. */
  tries: number;
  now: number;
  /** The delay that the receiver asked for, in milliseconds; null if it did not. */
  retryAfterMs: number | null;
  /** 0 ≤ random < 1. */
  random: number;
};

/** The time of the next try; null after the last one. */
export function nextTryAt({ tries, now, retryAfterMs, random }: FailedTry): number | null {
  const delay = RETRY_DELAYS_MS[tries - 1];
  if (delay === undefined) return null;
  const own = delay * (1 + JITTER * (2 * random - 1));
  // The receiver's delay is a lower bound, but no longer than a day.
  const requestedMs = Math.min(retryAfterMs ?? 0, DAY_MS) * (1 + JITTER * random);
  return Math.round(now + Math.max(own, requestedMs));
}

/** `Retry-After` (RFC 9110 §10.2.3) as milliseconds from now; null if it is absent or invalid. */
export function retryAfter(header: string | null, now: number): number | null {
  const text = header?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = /[a-z]{3}, /i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
