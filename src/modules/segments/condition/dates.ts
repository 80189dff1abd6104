/** Dates in filters: a day or a time in ISO 8601; in UTC if there is no offset. */

/** Includes `fromMs` and excludes `untilMs`. The period of a time lasts one millisecond. */
export type Period = { fromMs: number; untilMs: number };

export const UNITS = ["minutes", "hours", "days"] as const;
type Unit = (typeof UNITS)[number];

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const UNIT_MS: Readonly<Record<Unit, number>> = {
  minutes: MINUTE_MS,
  hours: HOUR_MS,
  days: DAY_MS,
};

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const DAY_AND_TIME =
  /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:\d{2})?$/;

/**
 * A date without time is the whole day in UTC. Returns null if the text is not a date or the day
 * does not exist.
 */
export function parsePeriod(text: string): Period | null {
  if (DAY.test(text)) {
    const fromMs = startOfDay(text);
    return fromMs === null ? null : { fromMs, untilMs: fromMs + DAY_MS };
  }
  const [, day = "", time = "", offset = "Z"] = DAY_AND_TIME.exec(text) ?? [];
  const fromMs = Date.parse(`${day}T${time}${offset}`);
  if (Number.isNaN(fromMs) || startOfDay(day) === null) return null;
  return { fromMs, untilMs: fromMs + 1 };
}

export function spanMs(amount: number, unit: Unit): number {
  return amount * UNIT_MS[unit];
}

/** Returns null for a day such as 31 February, which Date.parse would move to March. */
function startOfDay(day: string): number | null {
  const ms = Date.parse(`${day}T00:00:00.000Z`);
  return Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== day ? null : ms;
}
