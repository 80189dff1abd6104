import { Cron } from "croner";

const SHOWN = 3;

/** The next times of a schedule; null while it is not a correct one. */
export function nextTimes(cron: string, timeZone: string, nowMs: number): number[] | null {
  if (cron.trim().split(/\s+/).length !== 5) return null;
  try {
    const runs = new Cron(cron, { timezone: timeZone, paused: true }).nextRuns(
      SHOWN,
      new Date(nowMs),
    );
    return runs.map((at) => at.getTime());
  } catch {
    // The expression is not complete yet; the server describes its fault when it is saved.
    return null;
  }
}
