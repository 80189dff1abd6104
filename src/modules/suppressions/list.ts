/** Pages of the suppression list of a project, newest first. */

import { and, count, desc, eq, or, type SQL, sql } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { suppressions } from "../../db/schema/contacts.ts";
import type { Page } from "../../http/envelope.ts";
import { bySeq, type Cursors, olderThan } from "../../http/pagination.ts";
import { isoTime } from "../../lib/clock.ts";
import { storedSpellings } from "../../protocols/mime/address.ts";
import type { Suppression, SuppressionQuery } from "./model.ts";
import type { SuppressionRow } from "./service.ts";

export type SuppressionList = ReturnType<typeof createSuppressionList>;

export function createSuppressionList({ db, cursors }: { db: Db; cursors: Cursors }) {
  return function list(projectSeq: number, query: SuppressionQuery): Page<Suppression> {
    const scope = `${projectSeq}:suppressions`;
    const request = cursors.read(scope, query);
    const filter = and(
      eq(suppressions.projectSeq, projectSeq),
      query.reason === undefined ? undefined : eq(suppressions.reason, query.reason),
      query.email === undefined ? undefined : or(...storedSpellings(query.email).map(contains)),
    );
    const rows = db
      .select()
      .from(suppressions)
      .where(and(filter, olderThan(suppressions.seq, request)))
      .orderBy(desc(suppressions.seq))
      .limit(request.limit + 1)
      .all();
    const total =
      db.select({ total: count() }).from(suppressions).where(filter).all()[0]?.total ?? 0;
    return cursors.page(scope, request, rows, {
      total,
      positionOf: bySeq,
      present: presentSuppression,
    });
  };
}

function contains(part: string): SQL {
  return sql`instr(${suppressions.email}, ${part}) > 0`;
}

export function presentSuppression({ email, reason, createdAt }: SuppressionRow): Suppression {
  return { email, reason, createdAt: isoTime(createdAt) };
}
