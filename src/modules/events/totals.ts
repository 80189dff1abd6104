/**
 * Exact totals of the event log. The counters of event names give the total of a project or of a
 * name; only the total of a period is counted, in slices.
 */

import type { Db } from "../../db/open.ts";
import { startSlices } from "../../lib/slices.ts";
import type { FairScheduler } from "../../lib/slice-queue.ts";
import {
  entriesOf,
  type EventIndex,
  type EventPeriod,
  hasPeriod,
  indexOf,
  periodOf,
  valuesOf,
} from "./log-range.ts";
import type { EventQuery } from "./model.ts";

type EventTotals = (projectSeq: number, query: EventQuery) => Promise<number>;

/** Index entries of one step; counting them takes half a millisecond. */
const STEP = 5_000;

export function createEventTotals(deps: { db: Db; scheduler: FairScheduler }): EventTotals {
  const { scheduler } = deps;
  const { sqlite } = deps.db;
  const sumCounts = sqlite.prepare<{ total: number }, [number, string | null]>(`
    SELECT coalesce(sum(count), 0) AS total FROM event_names
    WHERE project_seq = +?1 AND (?2 IS NULL OR name = ?2)`);

  /** Counts in slices. Events recorded meanwhile are newer, so they are counted as well. */
  async function count(
    projectSeq: number,
    index: EventIndex,
    period: EventPeriod,
  ): Promise<number> {
    const entries = entriesOf(index);
    // Finds the first entry after the step.
    const findEnd = sqlite.query<{ createdAt: number; seq: number }, (string | number)[]>(`
      SELECT created_at AS createdAt, seq ${entries}
      ORDER BY created_at, seq LIMIT 1 OFFSET ${STEP}`);
    const countRest = sqlite.query<{ total: number }, (string | number)[]>(
      `SELECT count(*) AS total ${entries}`,
    );
    const slices = await startSlices(scheduler.queueOf(projectSeq));
    let total = 0;
    let { after } = period;
    for (;;) {
      const rest = valuesOf(index, { ...period, after });
      const end = findEnd.get(...rest);
      if (end === null) return total + (countRest.get(...rest)?.total ?? 0);
      total += STEP;
      after = [end.createdAt, end.seq - 1]; // The next step begins with the entry `end`.
      if (slices.isOver()) await slices.next();
    }
  }

  return async (projectSeq, query) => {
    if (hasPeriod(query)) return count(projectSeq, indexOf(projectSeq, query), periodOf(query));
    return sumCounts.get(projectSeq, query.event ?? null)?.total ?? 0;
  };
}
