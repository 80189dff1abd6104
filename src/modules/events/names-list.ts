/** Pages of the unique event names of a project, most used first. */

import { and, count, desc, eq, lt, or } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { eventNames } from "../../db/schema/events.ts";
import type { Page } from "../../http/envelope.ts";
import type { Cursors, PageQuery } from "../../http/pagination.ts";

export type EventNameList = (projectSeq: number, query: PageQuery) => Page<string>;

export function createEventNameList({ db, cursors }: { db: Db; cursors: Cursors }): EventNameList {
  return (projectSeq, query) => {
    const scope = `${projectSeq}:event-names`;
    const request = cursors.read(scope, query);
    const [uses, seq] = request.after ?? [];
    const after =
      uses === undefined || seq === undefined
        ? undefined
        : or(lt(eventNames.count, uses), and(eq(eventNames.count, uses), lt(eventNames.seq, seq)));
    const inProject = eq(eventNames.projectSeq, projectSeq);
    const rows = db
      .select()
      .from(eventNames)
      .where(and(inProject, after))
      .orderBy(desc(eventNames.count), desc(eventNames.seq))
      .limit(request.limit + 1)
      .all();
    const total =
      db.select({ total: count() }).from(eventNames).where(inProject).all()[0]?.total ?? 0;
    return cursors.page(scope, request, rows, {
      total,
      positionOf: (row) => [row.count, row.seq],
      present: (row) => row.name,
    });
  };
}
