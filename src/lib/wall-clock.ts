/**
 * The clocks on the walls of time zones. A wall time is written like milliseconds since the epoch, as if
 * the zone were UTC.
 */

const DAY_MS = 24 * 60 * 60 * 1000;
/** Most zones whose formats are kept: making one takes a tenth of a millisecond. */
const MAX_FORMATS = 1_000;
/** No zone is further ahead of UTC. */
export const FURTHEST_AHEAD_MS = 14 * 60 * 60 * 1000;

const formats = new Map<string, Intl.DateTimeFormat | null>();

/** Null for a name that is no zone. */
function formatOf(zone: string): Intl.DateTimeFormat | null {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  if (formats.size >= MAX_FORMATS) formats.clear();
  const made = makeFormat(zone);
  formats.set(zone, made);
  return made;
}

function makeFormat(timeZone: string): Intl.DateTimeFormat | null {
  try {
    return new Intl.DateTimeFormat("en-US", {
      timeZone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  } catch {
    return null;
  }
}

/** The usual name of a zone, such as Europe/Berlin; null if there is none with this name. */
export const zoneName = (name: string): string | null =>
  formatOf(name)?.resolvedOptions().timeZone ?? null;

/** The wall time of a zone at a moment; null for a name that is no zone. */
export function wallTime(at: number, zone: string): number | null {
  const format = formatOf(zone);
  if (format === null) return null;
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  const [year, month, day] = [part("year"), part("month"), part("day")];
  const seconds = Date.UTC(year, month - 1, day, part("hour"), part("minute"), part("second"));
  return seconds + (((at % 1000) + 1000) % 1000);
}

/**
 * The first moment at which the clocks of a zone show a wall time. A time that they skip, because they
 * are put forward, is that of the clocks before. Null for a name that is no zone.
 */
export function momentOf(wall: number, zone: string): number | null {
  // The offsets before and after a change of the clocks within a day.
  const offsets = [wall - DAY_MS, wall + DAY_MS].map((at) => {
    const shown = wallTime(at, zone);
    return shown === null ? null : shown - at;
  });
  const [before = null, after = null] = offsets;
  if (before === null || after === null) return null;
  const moments = [wall - before, wall - after].filter((at) => wallTime(at, zone) === wall);
  return moments.length === 0 ? wall - before : Math.min(...moments);
}
