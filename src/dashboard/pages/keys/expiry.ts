/** When a new API key expires: never, after some days, or at the end of a day. */

const DAY_MS = 86_400_000;
export const NEVER = "never";
export const ON_A_DAY = "day";
const DAYS = [7, 30, 90, 365] as const;

const date = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

export const expiryChoices = (nowMs: number) => [
  { value: NEVER, label: "Never" },
  ...DAYS.map((days) => ({
    value: String(days),
    label: `In ${days === 365 ? "a year" : `${days} days`}, on ${date.format(nowMs + days * DAY_MS)}`,
  })),
  { value: ON_A_DAY, label: "After a certain day" },
];

/** The time of a choice for the interface; null if the key does not expire. */
export function expiryOf(choice: string, day: string, nowMs: number): string | null {
  if (choice === NEVER) return null;
  if (choice === ON_A_DAY) return endOfDay(day);
  return new Date(nowMs + Number(choice) * DAY_MS).toISOString();
}

/** The last second of a day such as `2027-01-31` in the time zone of the browser. */
const endOfDay = (day: string): string => new Date(`${day}T23:59:59`).toISOString();

/** Today as the smallest value of a date field. */
export function todayText(): string {
  const now = new Date();
  const parts = [now.getFullYear(), now.getMonth() + 1, now.getDate()];
  return parts.map((part) => String(part).padStart(2, "0")).join("-");
}
