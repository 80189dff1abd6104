/**
 * Statistics of a project by hour and by day.
 *
 * 1. `count` is a handler of events: it adds each event to the counters of its hour, in the
 *    transaction of the event. The additions of a transaction are written together.
 * 2. `read` sums the counters of a period. It never reads the event log.
 */

import type { Statement } from "bun:sqlite";
import { and, asc, eq, gte, lt } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { projectHours } from "../../db/schema/stats.ts";
import type { Writer } from "../../db/writer.ts";
import type { EventInput } from "../../events/log.ts";
import { isReportedLater } from "../../outbox/late-reports.ts";
import { datesBetween, dateFormat } from "./dates.ts";
import type { StatsCounts, StatsPoint } from "./model.ts";

export type StatsReader = Pick<ReturnType<typeof createProjectStats>, "read">;

type HourRow = typeof projectHours.$inferSelect;
type Counter = Exclude<keyof HourRow, "projectSeq" | "hour">;

export type StatsPeriod = {
  /** Milliseconds since the epoch: the start is included, the end is not. */
  from: number;
  to: number;
  interval: "HOUR" | "DAY";
  /** IANA name of the time zone in which days begin. */
  timeZone: string;
};

export const HOUR_MS = 60 * 60 * 1000;

const COUNTER_OF: Readonly<Record<string, Counter>> = {
  "email.sent": "sent",
  "email.delivered": "delivered",
  "email.opened": "opened",
  "email.clicked": "clicked",
  "email.bounced": "bounced",
  "email.complained": "complained",
  "email.failed": "failed",
  "email.suppressed": "suppressed",
  "contact.subscribed": "subscribed",
  "contact.unsubscribed": "unsubscribed",
};

const NONE: StatsCounts = {
  sent: 0,
  delivered: 0,
  opened: 0,
  clicked: 0,
  bounced: 0,
  bouncedLater: 0,
  complained: 0,
  failed: 0,
  suppressed: 0,
  subscribed: 0,
  unsubscribed: 0,
};

export function createProjectStats({ db, writer }: { db: Db; writer: Pick<Writer, "tally"> }) {
  const { sqlite } = db;
  const additions = new Map<Counter, Statement<unknown, [number, number, number]>>();
  const sums = writer.tally<string>((key, sum) => {
    const [projectSeq = "", hour = "", counter = ""] = key.split(" ");
    if (isCounter(counter)) additionTo(counter).run(Number(projectSeq), Number(hour), sum);
  });

  function additionTo(counter: Counter): Statement<unknown, [number, number, number]> {
    const { name } = projectHours[counter];
    const statement =
      additions.get(counter) ??
      sqlite.prepare<unknown, [number, number, number]>(`
        INSERT INTO project_hours (project_seq, hour, ${name}) VALUES (?, ?, ?)
        ON CONFLICT (project_seq, hour) DO UPDATE SET ${name} = ${name} + excluded.${name}`);
    additions.set(counter, statement);
    return statement;
  }

  function add({ projectSeq, at }: EventInput, counter: Counter): void {
    sums.add(`${projectSeq} ${startOfHour(at)} ${counter}`, 1);
  }

  function rowsOf(projectSeq: number, from: number, to: number): HourRow[] {
    return db
      .select()
      .from(projectHours)
      .where(
        and(
          eq(projectHours.projectSeq, projectSeq),
          gte(projectHours.hour, startOfHour(from)),
          lt(projectHours.hour, to),
        ),
      )
      .orderBy(asc(projectHours.hour))
      .all();
  }

  return {
    /** Part of a change: called for every event, right after it was written. */
    count(event: EventInput): void {
      const counter = COUNTER_OF[event.name];
      if (counter === undefined) return;
      if (counter === "clicked" && event.isFirstOfMail !== true) return;
      add(event, counter);
      if (counter === "bounced" && isReportedLater(event.data)) add(event, "bouncedLater");
    },

    /** The points of a period, without gaps, their sums, and the sums of the period before it. */
    read(projectSeq: number, period: StatsPeriod) {
      const { from, to } = period;
      const rows = rowsOf(projectSeq, from, to);
      const before = rowsOf(projectSeq, from - (to - from), from);
      return {
        points: period.interval === "HOUR" ? byHour(rows, period) : byDay(rows, period),
        totals: sumOf(rows),
        previousTotals: sumOf(before),
      };
    },
  };
}

function isCounter(text: string): text is Counter {
  return text in NONE;
}

function startOfHour(at: number): number {
  return Math.floor(at / HOUR_MS) * HOUR_MS;
}

function byHour(rows: readonly HourRow[], { from, to }: StatsPeriod): StatsPoint[] {
  const found = new Map(rows.map((row) => [row.hour, row]));
  const points: StatsPoint[] = [];
  for (let hour = startOfHour(from); hour < to; hour += HOUR_MS) {
    const row = found.get(hour);
    points.push({ start: new Date(hour).toISOString(), ...(row ? countsOf(row) : NONE) });
  }
  return points;
}

function byDay(rows: readonly HourRow[], { from, to, timeZone }: StatsPeriod): StatsPoint[] {
  const dateOf = dateFormat(timeZone);
  const byDate = new Map<string, HourRow[]>();
  for (const row of rows) {
    const date = dateOf(row.hour);
    const ofDate = byDate.get(date);
    if (ofDate === undefined) byDate.set(date, [row]);
    else ofDate.push(row);
  }
  return datesBetween(dateOf(from), dateOf(to - 1)).map((start) => ({
    start,
    ...sumOf(byDate.get(start) ?? []),
  }));
}

function countsOf({ projectSeq: _project, hour: _hour, ...counts }: HourRow): StatsCounts {
  return counts;
}

function sumOf(rows: readonly HourRow[]): StatsCounts {
  const sum = { ...NONE };
  for (const row of rows) {
    for (const name of Object.keys(NONE)) if (isCounter(name)) sum[name] += row[name];
  }
  return sum;
}
