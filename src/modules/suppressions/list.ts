/** Pages of the suppression list of a project, newest first. */

import { and, eq, or, type SQL, sql } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { suppressions } from "../../db/schema/contacts.ts";
import type { Page } from "../../http/envelope.ts";
import { type ListPage, newestRows } from "../../http/pagination.ts";
import { isoTime } from "../../lib/clock.ts";
import { storedSpellings } from "../../protocols/mime/address.ts";
import type { Suppression, SuppressionQuery } from "./model.ts";
import type { SuppressionRow } from "./service.ts";

export type SuppressionList = ReturnType<typeof createSuppressionList>;

export function createSuppressionList({ db, listPage }: { db: Db; listPage: ListPage }) {
  return (projectSeq: number, query: SuppressionQuery): Promise<Page<Suppression>> =>
    listPage(
      { scope: `${projectSeq}:suppressions`, query },
      newestRows(db, {
        table: suppressions,
        filter: and(
          eq(suppressions.projectSeq, projectSeq),
          query.reason === undefined ? undefined : eq(suppressions.reason, query.reason),
          query.email === undefined ? undefined : or(...storedSpellings(query.email).map(contains)),
        ),
        select: db.select().from(suppressions),
      }),
      (rows) => rows.map(presentSuppression),
    );
}

function contains(part: string): SQL {
  return sql`instr(${suppressions.email}, ${part}) > 0`;
}

export function presentSuppression({ email, reason, createdAt }: SuppressionRow): Suppression {
  return { email, reason, createdAt: isoTime(createdAt) };
}
