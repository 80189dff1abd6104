/** Times of a clock on the wall in a named zone. Pure. */

/** A local time such as `2030-03-03T09:00`, the value of a field for one. */
export type WallTime = string;

const WALL_TIME = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)$/;

export const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** All zones, with the own one and UTC. */
export const zones = (): string[] => [
  ...new Set([ownZone(), "UTC", ...Intl.supportedValuesOf("timeZone")]),
];

/** True if a zone is found by the typed text: `new york` finds America/New_York. */
export const isZoneFound = (zone: string, typed: string): boolean =>
  zone.replaceAll("_", " ").toLowerCase().includes(typed.trim().replaceAll("_", " ").toLowerCase());

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
  });
  formats.set(zone, format);
  return format;
}

/** The time that a clock in the zone shows. */
export function wallTimeOf(ms: number, zone: string): WallTime {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, value]),
  );
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? "";
  return `${part("year")}-${part("month")}-${part("day")}T${part("hour")}:${part("minute")}`;
}

/**
 * The time at which a clock in the zone shows this; null for a text that is no time. If the clock shows
 * it twice, this is the first time; if the clock skips it, it is moved by the length of the gap.
 */
export function timeOfWall(wall: WallTime, zone: string): number | null {
  const found = WALL_TIME.exec(wall);
  if (found === null) return null;
  const asUtc = Date.parse(`${wall}:00Z`);
  if (Number.isNaN(asUtc)) return null;
  const offsetAt = (ms: number) => Date.parse(`${wallTimeOf(ms, zone)}:00Z`) - ms;
  // Around a change of the clocks there are two offsets; the larger one gives the earlier time.
  const offsets = [offsetAt(asUtc - DAY_MS), offsetAt(asUtc + DAY_MS)];
  const times = offsets.map((offset) => asUtc - offset).toSorted((a, b) => a - b);
  return times.find((ms) => wallTimeOf(ms, zone) === wall) ?? asUtc - (offsets[0] ?? 0);
}

const DAY_MS = 86_400_000;

/** "3 Mar 2030, 09:00 (Europe/Berlin)". */
export function zonedText(ms: number, zone: string): string {
  const format = new Intl.DateTimeFormat(undefined, {
    dateStyle: "medium",
    timeStyle: "short",
    timeZone: zone,
  });
  return `${format.format(ms)} (${zone})`;
}
