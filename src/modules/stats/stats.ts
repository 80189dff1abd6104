/**
 * Statistics of a project by hour and by day. Each event is added to the counters of its hour, in the
 * transaction of the event; the additions of a transaction are written together. A request sums the
 * counters of a period, and never reads the event log.
 */

import type { App } from "../../core/app.ts";
import { projectHours } from "../../db/schema/stats.ts";
import { statement } from "../../db/statement.ts";
import type { EventInput } from "../../events/log.ts";
import { Envelope } from "../../http/envelope.ts";
import { operations, read } from "../../http/operations.ts";
import { isoTime } from "../../lib/clock.ts";
import { fieldError } from "../../lib/errors.ts";
import { perApp } from "../../lib/per-app.ts";
import { isReportedLater } from "../../outbox/late-reports.ts";
import type { Noun } from "../module.ts";
import { ProjectStats, type StatsCounts, type StatsPoint, StatsQuery } from "./model.ts";

export const statsNoun: Noun = {
  name: "stats",
  operations: operations("Statistics", {}, [
    read("GET /stats", {
      id: "getStats",
      role: "VIEWER",
      scopes: ["READ"],
      summary: "Numbers of a project by hour or day",
      description:
        "Counters that are kept in the transaction of each event. They stay when old mails and " +
        "events are removed. Test mails are not counted.",
      query: StatsQuery,
      answer: Envelope(ProjectStats),
      run: (app, { project, query }) =>
        readStats(app, project.seq, periodOf(query, app.clock.now())),
    }),
  ]),
  onEvent: countEvent,
};

type Counter = keyof StatsCounts;

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
const DEFAULT_DAYS = 30;
const MAX_DAYS = { HOUR: 31, DAY: 731 };

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

const COUNTERS = Object.keys(NONE).filter(isCounter);

/** For each counter, the statement that adds to it. */
const ADDITIONS = new Map(
  COUNTERS.map((counter) => {
    const { name } = projectHours[counter];
    const sql = `
        INSERT INTO project_hours (project_seq, hour, ${name}) VALUES (?, ?, ?)
        ON CONFLICT (project_seq, hour) DO UPDATE SET ${name} = ${name} + excluded.${name}`;
    return [counter, statement<unknown, [number, number, number]>(sql)];
  }),
);

/** The sums of a transaction; a key is the project, the hour and the counter. */
const sums = perApp((app: App) =>
  app.writer.tally<string>((key, sum) => {
    const [projectSeq, hour, counter = ""] = key.split(" ");
    if (isCounter(counter))
      ADDITIONS.get(counter)?.(app).run(Number(projectSeq), Number(hour), sum);
  }),
);

/** Part of a change: called for every event, right after it was written. */
function countEvent(app: App, event: EventInput): void {
  const counter = COUNTER_OF[event.name];
  if (counter === undefined) return;
  if (counter === "clicked" && event.isFirstOfMail !== true) return;
  if (isOfTestMail(app, event)) return;
  add(app, event, counter);
  if (counter === "bounced" && isReportedLater(event.data)) add(app, event, "bouncedLater");
}

const findTestMail = statement<{ seq: number }, [number]>(
  "SELECT seq FROM emails WHERE seq = +? AND source = 'TEST'",
);

/** Test mails are no mails of the project in its statistics. No mail of a campaign is one. */
function isOfTestMail(app: App, { emailSeq, campaignSeq }: EventInput): boolean {
  if (emailSeq === undefined || typeof campaignSeq === "number") return false;
  return findTestMail(app).get(emailSeq) !== null;
}

function add(app: App, { projectSeq, at }: EventInput, counter: Counter): void {
  sums(app).add(`${projectSeq} ${startOfHour(at)} ${counter}`, 1);
}

function isCounter(text: string): text is Counter {
  return text in NONE;
}

type Period = {
  /** Milliseconds since the epoch: the start is included, the end is not. */
  from: number;
  to: number;
  interval: "HOUR" | "DAY";
  /** IANA name of the time zone in which days begin. */
  timeZone: string;
};

/** Throws 422 for a period that is empty or too long, and for an unknown time zone. */
function periodOf(query: StatsQuery, now: number): Period {
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

/** Names of the IANA time zone database are shorter. */
const LONGEST_ZONE = 64;

function isTimeZone(name: string): boolean {
  if (name.length > LONGEST_ZONE) return false;
  try {
    return new Intl.DateTimeFormat("en-CA", { timeZone: name }).format(0) !== "";
  } catch {
    return false; // Intl throws a RangeError for an unknown name.
  }
}

/** The points of a period, without gaps, their sums, and the sums of the period before it. */
async function readStats(app: App, projectSeq: number, period: Period) {
  const { from, to, interval, timeZone } = period;
  const [hours, [before]] = await Promise.all([
    readHours(app, projectSeq, { columns: COLUMNS, from, to }),
    readHours(app, projectSeq, { columns: SUMS, from: from - (to - from), to: from }),
  ]);
  return {
    from: isoTime(from),
    to: isoTime(to),
    interval,
    timeZone,
    points: interval === "HOUR" ? byHour(hours, period) : byDay(hours, period),
    totals: sumOf(hours),
    previousTotals: before?.counts ?? NONE,
  };
}

const COLUMNS = COUNTERS.map((counter) => projectHours[counter].name);
const SUMS = COLUMNS.map((name) => `sum(${name})`);

type Hour = { hour: number; counts: StatsCounts };

/** Reads the counters of some hours, or their sums. `from` is rounded down to an hour. */
async function readHours(
  { reader }: App,
  projectSeq: number,
  { columns, from, to }: { columns: string[]; from: number; to: number },
): Promise<Hour[]> {
  const { rows } = await reader.find(projectSeq, {
    sql: `SELECT hour, ${columns.join(", ")} FROM project_hours
      WHERE in_time() AND project_seq = +? AND hour >= +? AND hour < +? ORDER BY hour`,
    values: [projectSeq, startOfHour(from), to],
  });
  return rows.map(([hour, ...values]) => ({ hour: Number(hour), counts: countsIn(values) }));
}

/** The sum of no rows is null, so it counts as 0. */
function countsIn(values: readonly unknown[]): StatsCounts {
  const counts = { ...NONE };
  for (const [i, counter] of COUNTERS.entries()) counts[counter] = Number(values[i]);
  return counts;
}

function startOfHour(at: number): number {
  return Math.floor(at / HOUR_MS) * HOUR_MS;
}

function byHour(hours: readonly Hour[], { from, to }: Period): StatsPoint[] {
  const found = new Map(hours.map(({ hour, counts }) => [hour, counts]));
  const points: StatsPoint[] = [];
  for (let hour = startOfHour(from); hour < to; hour += HOUR_MS) {
    points.push({ start: isoTime(hour), ...(found.get(hour) ?? NONE) });
  }
  return points;
}

function byDay(hours: readonly Hour[], { from, to, timeZone }: Period): StatsPoint[] {
  const dateOf = dateFormat(timeZone);
  const byDate = Map.groupBy(hours, ({ hour }) => dateOf(hour));
  return datesBetween(dateOf(from), dateOf(to - 1)).map((start) => ({
    start,
    ...sumOf(byDate.get(start) ?? []),
  }));
}

function sumOf(hours: readonly Hour[]): StatsCounts {
  const sum = { ...NONE };
  for (const { counts } of hours) for (const name of COUNTERS) sum[name] += counts[name];
  return sum;
}

/** Returns the function that gives the date of an instant in a time zone. */
function dateFormat(timeZone: string): (at: number) => string {
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
function datesBetween(first: string, last: string): string[] {
  const dates: string[] = [];
  const end = Date.parse(last);
  for (let at = Date.parse(first); at <= end; at += DAY_MS) {
    dates.push(new Date(at).toISOString().slice(0, 10));
  }
  return dates;
}
