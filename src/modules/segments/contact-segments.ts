/**
 * The segments of which one contact is a member. Each segment of the project is evaluated for the
 * contact, because a DYNAMIC segment has no stored members.
 */

import { and, desc, eq, isNull } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { segments } from "../../db/schema/segments.ts";
import type { Page } from "../../http/envelope.ts";
import { bySeq, listPage, type PageQuery, seqBound } from "../../http/pagination.ts";
import type { Contacts } from "../contacts/service.ts";
import type { Definitions, SegmentRow } from "./definitions.ts";
import type { ContactSegment } from "./model.ts";
import { bind, type Fragment } from "./sql/bind.ts";
import { queryOf } from "./sql/reads.ts";

/** Length of a statement that evaluates some segments, which has at most 500 of them. */
const MAX_SQL_LENGTH = 50_000;

export function createContactSegments(deps: {
  app: App;
  contacts: Pick<Contacts, "get">;
  definitions: Pick<Definitions, "segmentAudience">;
}) {
  const { app, contacts, definitions } = deps;

  function segmentRows(projectSeq: number): SegmentRow[] {
    const isListed = and(eq(segments.projectSeq, projectSeq), isNull(segments.deletedAt));
    return app.db.select().from(segments).where(isListed).orderBy(desc(segments.seq)).all();
  }

  /** Selects the `seq` of the segment if the contact is a member. */
  function membership(row: SegmentRow, contactSeq: number): Fragment {
    const { where } = definitions.segmentAudience(row);
    return bind`
      SELECT ${row.seq} AS seq WHERE in_time() AND EXISTS (
        SELECT 1 FROM contacts
        WHERE contacts.seq = ${contactSeq} AND +contacts.project_seq = ${row.projectSeq} AND ${where})`;
  }

  /** All segments of the contact, newest first. */
  async function segmentsOf(projectSeq: number, contactSeq: number): Promise<SegmentRow[]> {
    const rows = segmentRows(projectSeq);
    const members = new Set<number>();
    for (let next = 0; next < rows.length;) {
      let query: Fragment | null = null;
      for (let row = rows[next]; row !== undefined; row = rows[++next]) {
        const one: Fragment = membership(row, contactSeq);
        if (query !== null && query.text.length + one.text.length > MAX_SQL_LENGTH) break;
        query = query === null ? one : bind`${query} UNION ALL ${one}`;
      }
      if (query === null) break;
      const found = await app.reader.find(projectSeq, queryOf(query));
      for (const [seq] of found.rows) members.add(Number(seq));
    }
    return rows.filter(({ seq }) => members.has(seq));
  }

  /** Throws 404 without such a contact. */
  return (
    projectSeq: number,
    contactId: string,
    query: PageQuery,
  ): Promise<Page<ContactSegment>> => {
    const { seq } = contacts.get(projectSeq, contactId);
    return listPage(app)(
      { scope: `${projectSeq}:contact-segments:${contactId}`, query },
      async (request) => {
        const found = await segmentsOf(projectSeq, seq);
        const before = seqBound(request);
        const rows = found.filter((row) => row.seq < before).slice(0, request.limit);
        return { rows, total: found.length, positionOf: bySeq };
      },
      (rows) => rows.map(({ id, name, slug, type }) => ({ id, name, slug, type })),
    );
  };
}
