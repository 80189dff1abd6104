/**
 * Exact totals of the event log. The counters of event names give the total of a project or of a
 * name; only the total of a period is counted, in a reader.
 */

import type { App } from "../../core/app.ts";
import { IN_TIME } from "../../db/queries.ts";
import { statement } from "../../db/statement.ts";
import { entriesOf, hasPeriod, indexOf, periodOf, valuesOf } from "./log-range.ts";
import type { EventQuery } from "./model.ts";

const sumCounts = statement<{ total: number }, [number]>(
  "SELECT coalesce(sum(count), 0) AS total FROM event_names WHERE project_seq = +?",
);
const findCount = statement<{ total: number }, [number, string]>(
  "SELECT count AS total FROM event_names WHERE project_seq = +? AND name = +?",
);

export async function countEvents(
  app: App,
  projectSeq: number,
  query: EventQuery,
): Promise<number> {
  const { event } = query;
  if (hasPeriod(query)) {
    const index = indexOf(projectSeq, query);
    const sql = `SELECT count(*) ${entriesOf(index)} AND ${IN_TIME}`;
    const values = valuesOf(index, periodOf(query));
    const { rows } = await app.reader.find(projectSeq, { sql, values });
    return Number(rows[0]?.[0]);
  }
  const stored =
    event === undefined ? sumCounts(app).get(projectSeq) : findCount(app).get(projectSeq, event);
  return stored?.total ?? 0;
}
