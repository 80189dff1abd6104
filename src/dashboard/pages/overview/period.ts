/** The period of the statistics of the overview that its search parameters mean. */

import type { OverviewSearch } from "./search.ts";

/** Ranges that end now: their words, and their number of days including today. */
const RANGES = {
  "24h": { short: "24 h", days: 1 },
  "7d": { short: "7 days", days: 7 },
  "30d": { short: "30 days", days: 30 },
  "90d": { short: "90 days", days: 90 },
} as const;
export type RangeName = keyof typeof RANGES;

const DEFAULT_RANGE: RangeName = "30d";
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Periods of up to two days are shown by hour. Days have 23 to 25 hours. */
const LONGEST_BY_HOUR_MS = 49 * HOUR_MS;

export const RANGE_CHOICES = Object.entries(RANGES).map(([value, { short }]) => ({
  value,
  label: short,
}));

const isRangeName = (text: string | undefined): text is RangeName =>
  text !== undefined && Object.hasOwn(RANGES, text);

/** The name of the range; null for days or times that the user chose. */
export function rangeNameOf({ range, since, until }: OverviewSearch): RangeName | null {
  if (since !== undefined || until !== undefined) return null;
  return isRangeName(range) ? range : DEFAULT_RANGE;
}

export type Period = { fromMs: number; toMs: number; interval: "HOUR" | "DAY" };

/** The period at the time `nowMs`. It never ends after the present hour. */
export function overviewPeriod(search: OverviewSearch, nowMs: number): Period {
  const endMs = Math.floor(nowMs / HOUR_MS + 1) * HOUR_MS;
  const range = rangeNameOf(search);
  if (range === "24h") return { fromMs: endMs - DAY_MS, toMs: endMs, interval: "HOUR" };
  if (range !== null) {
    const { days } = RANGES[range];
    return { fromMs: dayStart(nowMs, 1 - days), toMs: endMs, interval: "DAY" };
  }
  const untilMs = timeOf(search.until, 1) ?? endMs;
  const toMs = Math.min(untilMs, endMs);
  const fromMs = timeOf(search.since, 0) ?? dayStart(toMs, 1 - RANGES[DEFAULT_RANGE].days);
  return { fromMs, toMs, interval: toMs - fromMs <= LONGEST_BY_HOUR_MS ? "HOUR" : "DAY" };
}

/** The start of the day of a time, or of a day before or after it, in the zone of the browser. */
function dayStart(atMs: number, shiftDays: number): number {
  const at = new Date(atMs);
  return new Date(at.getFullYear(), at.getMonth(), at.getDate() + shiftDays).getTime();
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** A day means its start, and with `shiftDays` that of a later day. Null for other texts. */
function timeOf(text: string | undefined, shiftDays: number): number | null {
  if (text === undefined) return null;
  const time = Date.parse(DAY.test(text) ? `${text}T00:00:00` : text);
  if (Number.isNaN(time)) return null;
  return DAY.test(text) ? dayStart(time, shiftDays) : time;
}

/** The time of a point: the start of its hour, or of its day in the zone of the browser. */
export const pointTime = (start: string): number =>
  Date.parse(DAY.test(start) ? `${start}T00:00:00` : start);

/** The search of the points from `firstMs` to `lastMs`, which are starts of hours or days. */
export function narrowed(
  interval: Period["interval"],
  firstMs: number,
  lastMs: number,
): Pick<OverviewSearch, "since" | "until"> {
  if (interval === "DAY") return { since: dayText(firstMs), until: dayText(lastMs) };
  return {
    since: new Date(firstMs).toISOString(),
    until: new Date(lastMs + HOUR_MS).toISOString(),
  };
}

/** 2026-11-22, in the zone of the browser. */
export function dayText(atMs: number): string {
  const at = new Date(atMs);
  const [month, day] = [at.getMonth() + 1, at.getDate()].map((part) =>
    String(part).padStart(2, "0"),
  );
  return `${at.getFullYear()}-${month}-${day}`;
}

const dayFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const timeFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** "Oct 24 – Nov 22, 2026", or with times if the period is shown by hour. */
export function periodLabel({ fromMs, toMs, interval }: Period): string {
  if (fromMs >= toMs) return "";
  return interval === "DAY"
    ? dayFormat.formatRange(fromMs, toMs - 1)
    : timeFormat.formatRange(fromMs, toMs);
}

/** "the 30 days before", "the 24 hours before". A day that is not over counts as a day. */
export function previousLabel({ fromMs, toMs, interval }: Period): string {
  const count =
    interval === "DAY"
      ? Math.round((dayStart(toMs - 1, 1) - dayStart(fromMs, 0)) / DAY_MS)
      : Math.max(1, Math.round((toMs - fromMs) / HOUR_MS));
  const unit = interval === "DAY" ? "day" : "hour";
  return count === 1 ? `the ${unit} before` : `the ${count} ${unit}s before`;
}
