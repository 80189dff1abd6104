/** Calendar dates in a time zone, as texts such as 2026-03-02. */

const DAY_MS = 24 * 60 * 60 * 1000;
/** Names of the IANA time zone database are shorter. */
const LONGEST_ZONE = 64;

export function isTimeZone(name: string): boolean {
  if (name.length > LONGEST_ZONE) return false;
  try {
    return new Intl.DateTimeFormat("en-CA", { timeZone: name }).format(0) !== "";
  } catch {
    return false; // Intl throws a RangeError for an unknown name.
  }
}

/** Returns the function that gives the date of an instant in a time zone. */
export function dateFormat(timeZone: string): (at: number) => string {
  // The date format of Canada is that of ISO 8601.
  const format = new Intl.DateTimeFormat("en-CA", {
    timeZone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
  });
  return (at) => format.format(at);
}

/** All dates from `first` to `last`, both included. */
export function datesBetween(first: string, last: string): string[] {
  const dates: string[] = [];
  const end = Date.parse(last);
  for (let at = Date.parse(first); at <= end; at += DAY_MS) {
    dates.push(new Date(at).toISOString().slice(0, 10));
  }
  return dates;
}
