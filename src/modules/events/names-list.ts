/** Pages of the unique event names of a project, most used first. */

import { and, count, desc, eq, sql } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { eventNames } from "../../db/schema/events.ts";
import type { Page } from "../../http/envelope.ts";
import {
  asQuery,
  inTime,
  listPage,
  type PageQuery,
  type PageRows,
  toRow,
} from "../../http/pagination.ts";

export function listEventNames(
  app: App,
  project: { seq: number },
  query: PageQuery,
): Promise<Page<string>> {
  const { db, reader } = app;
  return listPage(app)(
    { scope: `${project.seq}:event-names`, query },
    async ({ after, limit }): Promise<PageRows<typeof eventNames.$inferSelect>> => {
      const [uses = Infinity, seq = Infinity] = after ?? [];
      const isAfter = sql`(${eventNames.count}, ${eventNames.seq}) < (${uses}, ${seq})`;
      const inProject = and(inTime, eq(eventNames.projectSeq, project.seq));
      const page = db
        .select()
        .from(eventNames)
        .where(and(inProject, isAfter))
        .orderBy(desc(eventNames.count), desc(eventNames.seq))
        .limit(limit);
      const total = db.select({ total: count() }).from(eventNames).where(inProject);
      const found = await reader.find(project.seq, {
        ...asQuery(page),
        total: { ...asQuery(total), unlessFewerThan: after === null ? limit : 0 },
      });
      const rows = found.rows.map((values) => toRow(eventNames, values));
      return { rows, total: Number(found.total), positionOf: (row) => [row.count, row.seq] };
    },
    (rows) => rows.map(({ name }) => name),
  );
}
