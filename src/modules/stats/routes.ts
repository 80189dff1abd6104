/**
 * GET /stats    numbers of the project by hour or day
 */

import { Elysia } from "elysia";
import type { Admission } from "../../http/admission.ts";
import { Envelope, envelope, withErrors } from "../../http/envelope.ts";
import type { Clock } from "../../lib/clock.ts";
import { fieldError } from "../../lib/errors.ts";
import { isTimeZone } from "./dates.ts";
import { ProjectStats, StatsQuery } from "./model.ts";
import { statsOperations } from "./operations.ts";
import { HOUR_MS, type StatsPeriod, type StatsReader } from "./service.ts";

const DAY_MS = 24 * HOUR_MS;
const DEFAULT_DAYS = 30;
const MAX_DAYS = { HOUR: 31, DAY: 731 };

export function statsRoutes(deps: { admission: Admission; clock: Clock; stats: StatsReader }) {
  const { admission, clock, stats } = deps;
  return new Elysia({ name: "stats-routes", prefix: "/stats" }).use(admission.secretKey).get(
    "",
    ({ project, query }) => {
      const period = periodOf(query, clock.now());
      const { from, to, interval, timeZone } = period;
      return envelope({
        from: new Date(from).toISOString(),
        to: new Date(to).toISOString(),
        interval,
        timeZone,
        ...stats.read(project.seq, period),
      });
    },
    {
      query: StatsQuery,
      response: withErrors({ 200: Envelope(ProjectStats) }),
      detail: statsOperations.getStats,
    },
  );
}

/** Throws 422 for a period that is empty or too long, and for an unknown time zone. */
function periodOf(query: StatsQuery, now: number): StatsPeriod {
  const { interval = "DAY", timeZone = "UTC" } = query;
  const to = query.to === undefined ? endOfHour(now) : Date.parse(query.to);
  const from = query.from === undefined ? to - DEFAULT_DAYS * DAY_MS : Date.parse(query.from);
  if (!isTimeZone(timeZone)) {
    throw fieldError("timeZone", "invalid_value", "must be a time zone such as Europe/Berlin");
  }
  if (from >= to) throw fieldError("from", "invalid_value", "must be before `to`");
  if (to - from > MAX_DAYS[interval] * DAY_MS) {
    const message = `must be at most ${MAX_DAYS[interval]} days before \`to\` with this interval`;
    throw fieldError("from", "too_small", message);
  }
  return { from, to, interval, timeZone };
}

function endOfHour(at: number): number {
  return Math.floor(at / HOUR_MS + 1) * HOUR_MS;
}
