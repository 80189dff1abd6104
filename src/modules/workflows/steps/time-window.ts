/**
 * Computes when the window of a TIME_WINDOW step is open. Pure. Its times are those that the clocks of
 * the zone show. If they are put back while it is open, it is open for longer; the times that they skip
 * when they are put forward do not come.
 */

import { momentOf, wallTime, zoneName } from "../../../lib/wall-clock.ts";
import type { JsonObject } from "../../contacts/data.ts";
import { CONTACT_ZONE, type TimeWindow, type Weekday } from "../graph/graph.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** The days of `Date.getUTCDay`. */
const DAYS: readonly Weekday[] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
/** A window of one day a week may open eight days later, if the clocks skip its next time. */
const MAX_DAYS = 15;

/** The names that other services and browsers use for the zone in the data of a contact. */
const ZONE_KEYS = ["timezone", "timeZone", "time_zone"] as const;

/** The zone of the window for a contact with these data. */
export function zoneOfWindow(
  { timeZone, fallbackTimeZone = "UTC" }: Pick<TimeWindow, "timeZone" | "fallbackTimeZone">,
  data: JsonObject,
): string {
  if (timeZone !== CONTACT_ZONE) return timeZone;
  const given = ZONE_KEYS.map((key) => data[key] ?? null).find((value) => value !== null);
  const name = typeof given === "string" ? zoneName(given) : null;
  return name ?? fallbackTimeZone;
}

/** The first moment at or after `now` at which the window is open. */
export function windowOpensAt(
  window: Pick<TimeWindow, "days" | "from" | "to">,
  zone: string,
  now: number,
): number {
  const wall = wallTime(now, zone);
  if (wall === null) throw new Error(`${zone} is no time zone`);
  if (isOpen(window, wall)) return now;
  const today = Math.floor(wall / DAY_MS) * DAY_MS;
  for (let day = 0; day < MAX_DAYS; day++) {
    const start = today + day * DAY_MS;
    if (!window.days.includes(weekday(start))) continue;
    const opening = start + minutesOf(window.from) * MINUTE_MS;
    const at = momentOf(opening, zone);
    if (at === null || at <= now) continue;
    const shown = wallTime(at, zone);
    if (shown === opening) return at;
    if (shown !== null && isOpen(window, shown)) return firstOpen(window, zone, { now, at });
  }
  throw new Error("a time window never opens");
}

/** The clocks skip the opening time: the window is open from the moment at which they are put forward. */
function firstOpen(
  window: Pick<TimeWindow, "days" | "from" | "to">,
  zone: string,
  { now, at }: { now: number; at: number },
): number {
  let first = at;
  for (let earlier = at - MINUTE_MS; earlier > now; earlier -= MINUTE_MS) {
    const shown = wallTime(earlier, zone);
    if (shown === null || !isOpen(window, shown)) break;
    first = earlier;
  }
  return first;
}

function isOpen(
  { days, from, to }: Pick<TimeWindow, "days" | "from" | "to">,
  wall: number,
): boolean {
  const today = Math.floor(wall / DAY_MS) * DAY_MS;
  const [minute, start, end] = [(wall - today) / MINUTE_MS, minutesOf(from), minutesOf(to)];
  const isOn = (day: number) => days.includes(weekday(day));
  if (start < end) return isOn(today) && minute >= start && minute < end;
  return (isOn(today) && minute >= start) || (isOn(today - DAY_MS) && minute < end);
}

function weekday(at: number): Weekday {
  return DAYS[new Date(at).getUTCDay()] ?? "SUN";
}

/** 540 for 09:00. */
function minutesOf(clock: string): number {
  const [hours = 0, minutes = 0] = clock.split(":").map(Number);
  return 60 * hours + minutes;
}
