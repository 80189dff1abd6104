/** The search parameters of the list of emails, and the query of the interface that they mean. */

import type { Query } from "../../api.ts";
import type { Filters } from "../../ui/filter-bar.tsx";

const FILTER_KEYS = ["to", "from", "subject", "status", "campaign", "template", "source"] as const;
const RANGE_KEYS = ["range", "since", "until"] as const;
const OTHER_KEYS = ["email", "tab"] as const;
const KEYS = [...FILTER_KEYS, ...RANGE_KEYS, ...OTHER_KEYS];

export type EmailSearch = { [Key in (typeof KEYS)[number]]?: string };

/** Ranges that end now, with their length in hours. */
export const RANGES = {
  "24h": { label: "Last 24 hours", hours: 24 },
  "7d": { label: "Last 7 days", hours: 7 * 24 },
  "30d": { label: "Last 30 days", hours: 30 * 24 },
  "90d": { label: "Last 90 days", hours: 90 * 24 },
} as const;
type Range = keyof typeof RANGES;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const isRange = (text: string | undefined): text is Range =>
  text !== undefined && Object.hasOwn(RANGES, text);

/** Parameters with other names, and those without a text, are left out. */
export function readSearch(given: Readonly<Record<string, unknown>>): EmailSearch {
  const search: EmailSearch = {};
  for (const key of KEYS) {
    const value = given[key];
    if (typeof value === "string" && value !== "") search[key] = value;
  }
  return search;
}

export const filtersOf = (search: EmailSearch): Filters =>
  Object.fromEntries(FILTER_KEYS.map((key) => [key, search[key]]));

export const isFiltered = (search: EmailSearch): boolean =>
  [...FILTER_KEYS, ...RANGE_KEYS].some((key) => search[key] !== undefined);

/** The search without filters and time range. */
export const withoutFilters = ({ email, tab }: EmailSearch): EmailSearch =>
  readSearch({ email, tab });

/** Words without a field are a recipient if they contain `@`, and a part of the subject otherwise. */
export function withFilters(search: EmailSearch, { q, ...filters }: Filters): EmailSearch {
  const words = q === undefined ? {} : { [q.includes("@") ? "to" : "subject"]: q };
  return readSearch({ ...search, ...filters, ...words });
}

/** The parameters of GET /emails. A range that ends now is counted from `nowMs`. */
export function queryOf(search: EmailSearch, nowMs: number): Query {
  const { to, from, subject, status, campaign, template, source } = search;
  return {
    to,
    from,
    subject,
    status: status?.toUpperCase(),
    source: source?.toUpperCase(),
    campaignId: campaign,
    templateId: template,
    ...timesOf(search, nowMs),
  };
}

/** `since` and `until` are days of the reader's time zone, such as 2026-11-22, or exact times. */
function timesOf({ range, since, until }: EmailSearch, nowMs: number): Query {
  if (isRange(range))
    return { since: new Date(nowMs - RANGES[range].hours * HOUR_MS).toISOString() };
  return { since: timeOf(since, 0), until: timeOf(until, DAY_MS - 1) };
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** The time as the interface expects it. Texts that are not a time are sent, so it says why. */
function timeOf(text: string | undefined, afterMidnightMs: number): string | undefined {
  if (text === undefined) return undefined;
  const isDay = DAY.test(text);
  const time = Date.parse(isDay ? `${text}T00:00:00` : text) + (isDay ? afterMidnightMs : 0);
  return Number.isNaN(time) ? text : new Date(time).toISOString();
}

/** "Last 7 days", "1 Nov – 22 Nov"; null without a range. */
export function rangeLabel({ range, since, until }: EmailSearch): string | null {
  if (isRange(range)) return RANGES[range].label;
  if (since !== undefined && until !== undefined) {
    return since === until ? dayLabel(since) : `${dayLabel(since)} – ${dayLabel(until)}`;
  }
  if (since !== undefined) return `Since ${dayLabel(since)}`;
  return until === undefined ? null : `Until ${dayLabel(until)}`;
}

const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });

function dayLabel(text: string): string {
  const time = Date.parse(DAY.test(text) ? `${text}T00:00:00` : text);
  return Number.isNaN(time) ? text : day.format(time);
}
