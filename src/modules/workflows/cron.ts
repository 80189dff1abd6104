/**
 * Times of cron expressions with five fields, in a time zone. croner computes them: a time that the
 * clocks skip happens when they have been put forward, and one that they show twice happens once.
 */

import { Cron } from "croner";

const FORM = "must be a cron expression of five fields, such as 0 9 * * MON-FRI";
const NEVER = "never comes: no date has this day and month";

/** Most answers that are kept: an expression that never comes takes ten milliseconds. */
const MAX_KNOWN = 200;
const known = new Map<string, string | null>();

/** The reason why a text is not a cron expression that comes; null if it is one. */
export function cronProblem(cron: string, timeZone: string): string | null {
  const key = `${timeZone} ${cron}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const problem = findProblem(cron, timeZone);
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(key, problem);
  return problem;
}

function findProblem(cron: string, timeZone: string): string | null {
  if (cron.split(" ").length !== 5) return FORM;
  try {
    return cronOf(cron, timeZone).nextRun() === null ? NEVER : null;
  } catch {
    return FORM;
  }
}

/** The next times of a checked expression after `after`, at most `count`. */
export function nextTimes(
  { cron, timeZone }: { cron: string; timeZone: string },
  after: number,
  count: number,
): number[] {
  return cronOf(cron, timeZone)
    .nextRuns(count, new Date(after))
    .map((at) => at.getTime());
}

/** The first time after `after`; null if there is none. */
export const nextTime = (schedule: { cron: string; timeZone: string }, after: number) =>
  nextTimes(schedule, after, 1)[0] ?? null;

function cronOf(cron: string, timezone: string): Cron {
  return new Cron(cron, { timezone, paused: true, mode: "5-part" });
}
