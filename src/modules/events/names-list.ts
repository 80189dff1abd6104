/** Pages of the unique event names of a project, most used first. */

import { and, desc, eq, lt, or } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { eventNames } from "../../db/schema/events.ts";
import type { Page } from "../../http/envelope.ts";
import {
  countRows,
  type ListPage,
  type PageQuery,
  type PageRequest,
} from "../../http/pagination.ts";

export type EventNameList = (projectSeq: number, query: PageQuery) => Promise<Page<string>>;

export function createEventNameList(deps: { db: Db; listPage: ListPage }): EventNameList {
  const { db, listPage } = deps;

  function read(projectSeq: number, { after, limit }: PageRequest) {
    const [uses, seq] = after ?? [];
    const isAfter =
      uses === undefined || seq === undefined
        ? undefined
        : or(lt(eventNames.count, uses), and(eq(eventNames.count, uses), lt(eventNames.seq, seq)));
    const inProject = eq(eventNames.projectSeq, projectSeq);
    const rows = db
      .select()
      .from(eventNames)
      .where(and(inProject, isAfter))
      .orderBy(desc(eventNames.count), desc(eventNames.seq))
      .limit(limit)
      .all();
    return { rows, total: countRows(db, eventNames, inProject), positionOf };
  }

  return (projectSeq, query) =>
    listPage(
      { scope: `${projectSeq}:event-names`, query },
      (request) => read(projectSeq, request),
      (rows) => rows.map(({ name }) => name),
    );
}

function positionOf({ count, seq }: typeof eventNames.$inferSelect): readonly number[] {
  return [count, seq];
}
