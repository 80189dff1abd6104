/**
 * Reads the dates of `before:` and `after:`. They may be written in many ways: `2026-03-01`,
 * `2026/3/1 14:05`, `03/01/2026`, `1 Mar 2026`, `March 1 2026 2:05 pm`, `2026-03-01T14:05:00Z`,
 * `Sun 01 Mar 2026 14:05:00 +0100`, or seconds or milliseconds since 1970. A date without an offset
 * is read in the given time zone. With numbers and slashes, the month comes first.
 */

type Day = { year: number; month: number; day: number };
type Time = { hour: number; minute: number; second: number; millisecond: number };

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const MIDNIGHT: Time = { hour: 0, minute: 0, second: 0, millisecond: 0 };
const MAX_LENGTH = 64;
const MINUTE_MS = 60_000;

/** Milliseconds since 1970; null if the text is not a date. An unknown time zone counts as UTC. */
export function parseDate(text: string, timeZone: string): number | null {
  const trimmed = text.trim().toLowerCase();
  if (trimmed.length > MAX_LENGTH) return null;
  if (/^\d{10}$/.test(trimmed)) return Number(trimmed) * 1000;
  if (/^\d{13}$/.test(trimmed)) return Number(trimmed);
  const { rest: withoutZone, offsetMinutes } = takeZone(trimmed);
  const { rest, time } = takeTime(withoutZone);
  const day = dayOf(rest.replace(/^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}[ ,]+/, "").trim());
  if (day === null || time === null || !isDay(day)) return null;
  const wall = Date.UTC(day.year, day.month - 1, day.day, time.hour, time.minute, time.second);
  const wallMs = wall + time.millisecond;
  return offsetMinutes === null ? instantOf(wallMs, timeZone) : wallMs - offsetMinutes * MINUTE_MS;
}

function takeZone(text: string): { rest: string; offsetMinutes: number | null } {
  const found =
    /(?:(?<=\d) ?z|(?<=:\d{2}(?:\.\d{1,9})?|[ap]m) ?([+-])(\d{2}):?(\d{2})| (?:utc|gmt))$/.exec(
      text,
    );
  if (found === null) return { rest: text, offsetMinutes: null };
  const [whole, sign, hours = "0", minutes = "0"] = found;
  const offset = Number(hours) * 60 + Number(minutes);
  return {
    rest: text.slice(0, -whole.length).trim(),
    offsetMinutes: sign === "-" ? -offset : offset,
  };
}

const TIME = /(?:^|[t ])(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)? ?([ap]m)?$/;

/** `time` is null if the time does not exist. */
function takeTime(text: string): { rest: string; time: Time | null } {
  const found = TIME.exec(text);
  if (found === null) return { rest: text, time: MIDNIGHT };
  const [whole, hours = "", minutes = "", seconds = "0", fraction = "0", half] = found;
  const time = {
    hour: half === undefined ? Number(hours) : (Number(hours) % 12) + (half === "pm" ? 12 : 0),
    minute: Number(minutes),
    second: Number(seconds),
    millisecond: Math.floor(Number(`0.${fraction}`) * 1000),
  };
  const exists = time.hour < 24 && time.minute < 60 && time.second < 60;
  return { rest: text.slice(0, -whole.length).trim(), time: exists ? time : null };
}

function dayOf(text: string): Day | null {
  const yearFirst = /^(\d{4})(?:[-/. ](\d{1,2})(?:[-/. ](\d{1,2}))?)?$/.exec(text);
  if (yearFirst !== null) return dayFrom(yearFirst[1], yearFirst[2] ?? "1", yearFirst[3] ?? "1");
  const compact = /^(\d{4})(\d{2})(\d{2})$/.exec(text);
  if (compact !== null) return dayFrom(compact[1], compact[2], compact[3]);
  const monthFirst = /^(\d{1,2})[-/.](\d{1,2})[-/.](\d{2}|\d{4})$/.exec(text);
  if (monthFirst !== null) return dayFrom(monthFirst[3], monthFirst[1], monthFirst[2]);
  const dayName = /^(\d{1,2})(?:st|nd|rd|th)?[- ]([a-z]{3,9})[-, ]+(\d{2}|\d{4})$/.exec(text);
  if (dayName !== null) return dayFrom(dayName[3], monthOf(dayName[2]), dayName[1]);
  const nameDay = /^([a-z]{3,9})[- ](\d{1,2})(?:st|nd|rd|th)?[-, ]+(\d{4})$/.exec(text);
  if (nameDay !== null) return dayFrom(nameDay[3], monthOf(nameDay[1]), nameDay[2]);
  const nameYear = /^([a-z]{3,9})[- ](\d{4})$/.exec(text);
  return nameYear === null ? null : dayFrom(nameYear[2], monthOf(nameYear[1]), "1");
}

function monthOf(name = ""): string {
  return String(MONTHS.indexOf(name.slice(0, 3)) + 1);
}

function dayFrom(year = "", month = "", day = ""): Day {
  const full = year.length === 2 ? 2000 + Number(year) : Number(year);
  return { year: full, month: Number(month), day: Number(day) };
}

function isDay({ year, month, day }: Day): boolean {
  const date = new Date(Date.UTC(year, month - 1, day));
  return month >= 1 && month <= 12 && day >= 1 && date.getUTCDate() === day && year >= 1970;
}

/** The instant at which clocks in the zone show this time. */
function instantOf(wallMs: number, timeZone: string): number {
  const guess = wallMs - offsetMs(wallMs, timeZone);
  return wallMs - offsetMs(guess, timeZone);
}

function offsetMs(instant: number, timeZone: string): number {
  const format = formatOf(timeZone);
  if (format === null) return 0;
  const name = format.formatToParts(instant).find(({ type }) => type === "timeZoneName")?.value;
  const found = /^GMT([+-])(\d{2}):(\d{2})(?::(\d{2}))?$/.exec(name ?? "");
  if (found === null) return 0;
  const [, sign, hours, minutes, seconds = "0"] = found;
  const offset = (Number(hours) * 60 + Number(minutes)) * MINUTE_MS + Number(seconds) * 1000;
  return sign === "-" ? -offset : offset;
}

/** Null for a zone that is not known, and for UTC. */
function formatOf(timeZone: string): Intl.DateTimeFormat | null {
  if (timeZone === "" || timeZone === "UTC" || timeZone.length > MAX_LENGTH) return null;
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
