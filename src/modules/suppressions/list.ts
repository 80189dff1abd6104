/** Pages of the suppression list of a project, newest first, each entry with its cause. */

import { desc, inArray } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { suppressions } from "../../db/schema/contacts.ts";
import type { Page } from "../../http/envelope.ts";
import { bySeq, type ListPage, type PageRequest, seqBound } from "../../http/pagination.ts";
import { isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import type { FairScheduler } from "../../lib/slice-queue.ts";
import { storedSpellings } from "../../protocols/mime/address.ts";
import type { Suppression, SuppressionQuery } from "./model.ts";
import { createSuppressionSearch } from "./search.ts";
import type { SuppressionRow } from "./service.ts";

export type SuppressionList = ReturnType<typeof createSuppressionList>;

type CauseRow = {
  emailId: string;
  reportedAt: number | null;
  reportReason: string | null;
  lastError: string | null;
};

/** Searches for one page if entries of it are removed meanwhile. */
const MAX_ROUNDS = 3;

export function createSuppressionList(deps: {
  db: Db;
  listPage: ListPage;
  scheduler: FairScheduler;
}) {
  const { db, listPage } = deps;
  const search = createSuppressionSearch(deps);
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

  function rowsOf(seqs: readonly number[]): SuppressionRow[] {
    return db
      .select()
      .from(suppressions)
      .where(inArray(suppressions.seq, [...seqs]))
      .orderBy(desc(suppressions.seq))
      .all();
  }

  /** Searches again if a found entry was removed during the search. */
  async function read(projectSeq: number, query: SuppressionQuery, request: PageRequest) {
    const { email, reason = null } = query;
    const [spelling = "", other = spelling] = email === undefined ? [] : storedSpellings(email);
    const part = spelling === "" ? null : ([spelling, other] as const);
    const position = { before: seqBound(request), limit: request.limit };
    for (let round = 1; ; round++) {
      const { total, seqs } = await search(projectSeq, { part, reason }, position);
      const rows = rowsOf(seqs);
      if (rows.length === seqs.length || round === MAX_ROUNDS) {
        return { rows, total, positionOf: bySeq };
      }
    }
  }

  return {
    present,

    page: (projectSeq: number, query: SuppressionQuery): Promise<Page<Suppression>> =>
      listPage(
        { scope: `${projectSeq}:suppressions`, query },
        (request) => read(projectSeq, query, request),
        (rows) => rows.map(present),
      ),
  };
}
