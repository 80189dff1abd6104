/** Decides which backups are kept: the newest of each of the last days, weeks and months. */

export type BackupKeep = { days: number; weeks: number; months: number };

const NAMES = { d: "days", w: "weeks", m: "months" } as const satisfies Record<
  string,
  keyof BackupKeep
>;
const MAX_COUNT = 1_000;
const DAY_MS = 86_400_000;
/** 1970-01-01 was a Thursday, three days after the Monday of its week. */
const DAYS_AFTER_MONDAY = 3;

/** Parses numbers with d, w or m, such as `7d,4w,6m`; null if the text has another form. */
export function parseBackupKeep(text: string): BackupKeep | null {
  const keep: BackupKeep = { days: 0, weeks: 0, months: 0 };
  const seen = new Set<string>();
  for (const word of text.split(",", 4)) {
    const [, digits = "", letter] = /^(\d{1,4})([dwm])$/.exec(word.trim()) ?? [];
    const name = letter === "d" || letter === "w" || letter === "m" ? NAMES[letter] : null;
    const count = Number(digits);
    if (name === null || seen.has(name) || count < 1 || count > MAX_COUNT) return null;
    seen.add(name);
    keep[name] = count;
  }
  return keep;
}

export function backupKeepText(keep: BackupKeep): string {
  return Object.entries(NAMES)
    .flatMap(([letter, name]) => (keep[name] > 0 ? [`${keep[name]}${letter}`] : []))
    .join(",");
}

/**
 * Returns the places of the kept ones in a list of times, which begins with the newest backup. Only
 * periods with a backup count, so a pause of the backups removes none. The calendar is that of the
 * time zone. The order is that of the list: if the clock was set back, a
 * newer backup has an earlier time.
 */
export function keptBackups(
  madeAt: readonly number[],
  keep: BackupKeep,
  timeZone: string,
): Set<number> {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    calendar: "gregory",
    year: "numeric",
    month: "numeric",
    day: "numeric",
  });
  const dates = madeAt.map((time) => calendarDate(format, time));
  const kept = new Set(madeAt.length === 0 ? [] : [0]);
  const rules = [
    { count: keep.days, period: ({ day }: CalendarDate) => day },
    { count: keep.weeks, period: ({ day }: CalendarDate) => weekOf(day) },
    { count: keep.months, period: ({ month }: CalendarDate) => month },
  ];
  for (const { count, period } of rules) {
    const periods = new Set<number>();
    for (const [place, date] of dates.entries()) {
      if (periods.size >= count) break;
      if (!periods.has(period(date))) kept.add(place);
      periods.add(period(date));
    }
  }
  return kept;
}

/** Days and months, each counted from some fixed one. */
type CalendarDate = { day: number; month: number };

const weekOf = (day: number): number => Math.floor((day + DAYS_AFTER_MONDAY) / 7);

function calendarDate(format: Intl.DateTimeFormat, time: number): CalendarDate {
  const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, Number(value)]));
  const [year = 0, month = 0, day = 0] = [parts.get("year"), parts.get("month"), parts.get("day")];
  return {
    day: Math.floor(Date.UTC(year, month - 1, day) / DAY_MS),
    month: year * 12 + month,
  };
}
