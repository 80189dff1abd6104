/** The chart of a campaign: sent mails, opens and clicks by hour or day in a part of its life. */

import type { CampaignStats } from "../../../modules/campaigns/results-model.ts";
import type { CampaignSearch } from "./search.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Periods that are longer than this are shown by day. */
const LONGEST_BY_HOUR_MS = 8 * DAY_MS;

/** Ranges that begin when sending started. */
const RANGES = {
  "48h": { label: "48 hours", ms: 48 * HOUR_MS },
  "7d": { label: "7 days", ms: 7 * DAY_MS },
  all: { label: "All", ms: Infinity },
} as const;
type RangeName = keyof typeof RANGES;

export const PART_CHOICES = Object.entries(RANGES).map(([value, { label }]) => ({ value, label }));

const isRangeName = (text: string | undefined): text is RangeName =>
  text !== undefined && Object.hasOwn(RANGES, text);

/** The name of the range; "" for a part that the user chose by dragging. */
export function partNameOf({ range, since, until }: CampaignSearch): RangeName | "" {
  if (timeOf(since) !== null && timeOf(until) !== null) return "";
  return isRangeName(range) ? range : "48h";
}

type Hours = Pick<CampaignStats, "timeline" | "sentByHour">;

export type HourChart = {
  interval: "HOUR" | "DAY";
  times: number[];
  sent: number[];
  opens: number[];
  clicks: number[];
  /** Whether the last hour or day is not over yet. */
  isLastOpen: boolean;
};

/** The points from the start of sending, without gaps, at the time `nowMs`. */
export function hourChart(
  { timeline, sentByHour }: Hours,
  { startedMs, nowMs, search }: { startedMs: number; nowMs: number; search: CampaignSearch },
): HourChart {
  const last = [timeline, sentByHour].map((hours) => Date.parse(hours.at(-1)?.at ?? "") || 0);
  const { fromMs, toMs } = periodOf(Math.max(...last), { startedMs, nowMs, search });
  const interval = toMs - fromMs > LONGEST_BY_HOUR_MS ? "DAY" : "HOUR";
  const times = interval === "DAY" ? daysBetween(fromMs, toMs) : hoursBetween(fromMs, toMs);
  /** The sums for each time; `hours` are in the order of time, as `times` is. */
  function sumsOf<Hour extends { at: string }>(
    hours: readonly Hour[],
    count: (hour: Hour) => number,
  ): number[] {
    const sums = times.map(() => 0);
    let index = 0;
    for (const hour of hours) {
      const time = Date.parse(hour.at);
      if (time < fromMs || time >= toMs) continue;
      while (index + 1 < times.length && (times[index + 1] ?? Infinity) <= time) index++;
      sums[index] = (sums[index] ?? 0) + count(hour);
    }
    return sums;
  }

  return {
    interval,
    times,
    sent: sumsOf(sentByHour, ({ sent }) => sent),
    opens: sumsOf(timeline, ({ opens }) => opens),
    clicks: sumsOf(timeline, ({ clicks }) => clicks),
    isLastOpen: toMs > nowMs,
  };
}

/** Value of the parameter `hide` if the user shows all series. */
const NONE = "none";
/** Opens and clicks are flat lines beside more sent mails than this factor. */
const FLAT_FACTOR = 4;

/**
 * The series that are not shown. Without a choice of the user, sent mails are hidden if opens and
 * clicks could not be read beside them, as when all mails are sent within an hour. The table shows
 * them.
 */
export function hiddenSeries(
  { hide, view }: Pick<CampaignSearch, "hide" | "view">,
  { sent, opens, clicks }: Pick<HourChart, "sent" | "opens" | "clicks">,
): ReadonlySet<string> {
  if (hide === NONE) return new Set();
  if (hide !== undefined) return new Set(hide.split(","));
  if (view === "table") return new Set();
  const most = Math.max(0, ...opens, ...clicks);
  const isFlat = most > 0 && Math.max(0, ...sent) > FLAT_FACTOR * most;
  return new Set(isFlat ? ["sent"] : []);
}

/** The parameter `hide` for these series. */
export const hideText = (hidden: ReadonlySet<string>): string =>
  hidden.size === 0 ? NONE : [...hidden].join(",");

/** Whole hours: the first is the one in which sending started, the last at most the present one. */
function periodOf(
  lastMs: number,
  { startedMs, nowMs, search }: { startedMs: number; nowMs: number; search: CampaignSearch },
) {
  const since = timeOf(search.since);
  const until = timeOf(search.until);
  const startMs = floorHour(startedMs);
  const endMs = Math.max(startMs, floorHour(nowMs)) + HOUR_MS;
  if (since !== null && until !== null) {
    const fromMs = Math.min(Math.max(floorHour(since), startMs), endMs - HOUR_MS);
    return { fromMs, toMs: Math.min(Math.max(floorHour(until), fromMs) + HOUR_MS, endMs) };
  }
  const name = partNameOf(search);
  const { ms } = RANGES[name === "" ? "48h" : name];
  // After the last mail, open or click there is nothing to see.
  const allMs = Math.max(lastMs + 2 * HOUR_MS, startMs + DAY_MS);
  return { fromMs: startMs, toMs: Math.min(endMs, ms === Infinity ? allMs : startMs + ms) };
}

const floorHour = (ms: number): number => Math.floor(ms / HOUR_MS) * HOUR_MS;

function timeOf(text: string | undefined): number | null {
  const time = text === undefined ? NaN : Date.parse(text);
  return Number.isNaN(time) ? null : time;
}

function hoursBetween(fromMs: number, toMs: number): number[] {
  return Array.from(
    { length: Math.round((toMs - fromMs) / HOUR_MS) },
    (_, i) => fromMs + i * HOUR_MS,
  );
}

/** The starts of the days in the zone of the browser. */
function daysBetween(fromMs: number, toMs: number): number[] {
  const first = new Date(fromMs);
  const days: number[] = [];
  for (let i = 0; ; i++) {
    const day = new Date(first.getFullYear(), first.getMonth(), first.getDate() + i).getTime();
    if (day >= toMs) return days;
    days.push(day);
  }
}
