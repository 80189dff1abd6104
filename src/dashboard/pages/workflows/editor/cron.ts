/**
 * Schedules that people choose by words, as cron expressions of five fields and back. Another
 * expression has no plan; it is edited as it is.
 */

export type Plan = {
  every: "HOUR" | "DAY" | "WEEKDAY" | "WEEK" | "MONTH";
  /** Minutes after midnight; of an hour only the minutes count. */
  minute: number;
  /** The days of a weekly plan, 0 for Sunday. */
  days: readonly number[];
  /** The day of a monthly plan. */
  day: number;
};

export const DAY_NAMES = [
  "Sunday",
  "Monday",
  "Tuesday",
  "Wednesday",
  "Thursday",
  "Friday",
  "Saturday",
] as const;

export const FIRST_PLAN: Plan = { every: "DAY", minute: 540, days: [1], day: 1 };

export function cronOf({ every, minute, days, day }: Plan): string {
  const time = `${minute % 60} ${Math.floor(minute / 60)}`;
  switch (every) {
    case "HOUR":
      return `${minute % 60} * * * *`;
    case "DAY":
      return `${time} * * *`;
    case "WEEKDAY":
      return `${time} * * 1-5`;
    case "WEEK":
      return `${time} * * ${days.toSorted((a, b) => a - b).join(",")}`;
    case "MONTH":
      return `${time} ${day} * *`;
  }
}

const NUMBER = /^\d{1,2}$/;

/** The plan of an expression; null if words cannot say it. */
export function planOf(cron: string): Plan | null {
  const fields = cron.trim().split(/\s+/);
  const [minutes = "", hours = "", day = "", month = "", weekday = ""] = fields;
  if (fields.length !== 5 || month !== "*" || !NUMBER.test(minutes)) return null;
  const minute = Number(minutes) + 60 * (NUMBER.test(hours) ? Number(hours) : 0);
  const plan = { ...FIRST_PLAN, minute };
  if (Number(minutes) > 59 || minute >= 24 * 60) return null;
  if (hours === "*") return day === "*" && weekday === "*" ? { ...plan, every: "HOUR" } : null;
  if (!NUMBER.test(hours)) return null;
  if (weekday === "*" && day === "*") return { ...plan, every: "DAY" };
  if (weekday === "*") {
    const isDay = NUMBER.test(day) && Number(day) >= 1 && Number(day) <= 31;
    return isDay ? { ...plan, every: "MONTH", day: Number(day) } : null;
  }
  if (day !== "*") return null;
  if (weekday === "1-5") return { ...plan, every: "WEEKDAY" };
  const days = weekday.split(",");
  if (!days.every((each) => /^[0-6]$/.test(each))) return null;
  return { ...plan, every: "WEEK", days: days.map(Number) };
}

/** "09:05" */
export const clockText = (minute: number): string =>
  [Math.floor(minute / 60), minute % 60].map((part) => String(part).padStart(2, "0")).join(":");

/** Minutes after midnight of "09:05"; null if it is no time. */
export function minuteOf(text: string): number | null {
  const [, hours = "", minutes = ""] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  return hours === "" ? null : Number(hours) * 60 + Number(minutes);
}

/** A schedule in words: "every weekday at 09:00". */
export function cronText(cron: string): string {
  const plan = planOf(cron);
  if (plan === null) return `by the schedule ${cron}`;
  const at = `at ${clockText(plan.minute)}`;
  switch (plan.every) {
    case "HOUR":
      return `every hour at minute ${plan.minute % 60}`;
    case "DAY":
      return `every day ${at}`;
    case "WEEKDAY":
      return `every weekday ${at}`;
    case "WEEK":
      return `every ${plan.days.map((day) => DAY_NAMES[day]).join(", ")} ${at}`;
    case "MONTH":
      return `on day ${plan.day} of every month ${at}`;
  }
}
