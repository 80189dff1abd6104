/** Pages of the suppression list of a project, newest first, each entry with its cause. */

import { and, eq, or, type SQL, sql } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { suppressions } from "../../db/schema/contacts.ts";
import type { Page } from "../../http/envelope.ts";
import { type ListPage, newestRows } from "../../http/pagination.ts";
import { isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { storedSpellings } from "../../protocols/mime/address.ts";
import type { Suppression, SuppressionQuery } from "./model.ts";
import type { SuppressionRow } from "./service.ts";

export type SuppressionList = ReturnType<typeof createSuppressionList>;

type CauseRow = {
  emailId: string;
  reportedAt: number | null;
  reportReason: string | null;
  lastError: string | null;
};

export function createSuppressionList({ db, listPage }: { db: Db; listPage: ListPage }) {
  const findCause = db.sqlite.prepare<CauseRow, [string, number]>(`
    SELECT emails.id AS emailId, reports.received_at AS reportedAt, reports.reason AS reportReason,
           emails.last_error AS lastError
    FROM emails
    LEFT JOIN email_reports AS reports ON reports.email_seq = emails.seq AND reports.kind = ?
    WHERE emails.seq = +?`);

  function causeOf({ reason, emailSeq }: SuppressionRow): Suppression["cause"] {
    if (emailSeq === null) return null;
    const kind = reason === "COMPLAINT" ? "COMPLAINT" : "BOUNCE";
    const found = findCause.get(kind, emailSeq);
    if (found === null) return null;
    const { emailId, reportedAt, reportReason, lastError } = found;
    const words = reportReason ?? lastError;
    return { emailId, reportedAt: isoTimeOrNull(reportedAt), reason: words === "" ? null : words };
  }

  function present(row: SuppressionRow): Suppression {
    const { email, reason, createdAt, expiresAt } = row;
    return {
      email,
      reason,
      createdAt: isoTime(createdAt),
      expiresAt: isoTimeOrNull(expiresAt),
      cause: causeOf(row),
    };
  }

  return {
    present,

    page: (projectSeq: number, query: SuppressionQuery): Promise<Page<Suppression>> =>
      listPage(
        { scope: `${projectSeq}:suppressions`, query },
        newestRows(db, {
          table: suppressions,
          filter: and(
            eq(suppressions.projectSeq, projectSeq),
            query.reason === undefined ? undefined : eq(suppressions.reason, query.reason),
            query.email === undefined
              ? undefined
              : or(...storedSpellings(query.email).map(contains)),
          ),
          select: db.select().from(suppressions),
        }),
        (rows) => rows.map(present),
      ),
  };
}

function contains(part: string): SQL {
  return sql`instr(${suppressions.email}, ${part}) > 0`;
}
