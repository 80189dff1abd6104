/** The times that clients of Resend send: ISO 8601 with an offset, or words such as `in 2 hours`. */

import { fieldError } from "../../lib/errors.ts";

const MINUTE_MS = 60_000;
const UNITS_MS: readonly (readonly [name: RegExp, ms: number])[] = [
  [/^sec(?:ond)?s?$/, 1_000],
  [/^min(?:ute)?s?$/, MINUTE_MS],
  [/^h(?:ou)?rs?$/, 60 * MINUTE_MS],
  [/^days?$/, 24 * 60 * MINUTE_MS],
  [/^weeks?$/, 7 * 24 * 60 * MINUTE_MS],
];

/** Milliseconds since the epoch. Throws 422. */
export function momentIn(field: string, text: string, now: number): number {
  const given = text.trim().toLowerCase();
  const words = /^in (an?|\d{1,4}) ([a-z]{1,10})$/.exec(given);
  const unit = words === null ? undefined : UNITS_MS.find(([name]) => name.test(words[2] ?? ""));
  if (unit !== undefined) return now + unit[1] * countOf(words?.[1] ?? "");
  const isDateTime = /^\d{4}-\d{2}-\d{2}t\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(z|[+-]\d{2}:?\d{2})$/;
  const moment = isDateTime.test(given) ? Date.parse(text.trim()) : Number.NaN;
  if (!Number.isNaN(moment)) return moment;
  const message =
    "must be a time with its offset, such as 2026-03-02T09:00:00Z, or such as in 1 hour";
  throw fieldError(field, "invalid_format", message);
}

/** `in an hour` has one. */
const countOf = (text: string): number => (text.startsWith("a") ? 1 : Number(text));
