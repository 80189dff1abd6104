/**
 * The segments of which one contact is a member. Each segment of the project is evaluated for the
 * contact, in slices, because a DYNAMIC segment has no stored members.
 */

import { and, desc, eq, isNull, lt } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { segments } from "../../db/schema/segments.ts";
import type { Page } from "../../http/envelope.ts";
import { bySeq, type ListPage, type PageQuery, seqBound } from "../../http/pagination.ts";
import { startSlices } from "../../lib/slices.ts";
import type { FairScheduler } from "../../lib/slice-queue.ts";
import type { Contacts } from "../contacts/service.ts";
import type { Definitions, SegmentRow } from "./definitions.ts";
import type { MemberRows } from "./membership/member-rows.ts";
import type { ContactSegment } from "./model.ts";
import type { Audiences } from "./sql/audiences.ts";

/** Segments that are read by one statement. */
const STEP = 50;

export function createContactSegments(deps: {
  db: Db;
  listPage: ListPage;
  scheduler: FairScheduler;
  contacts: Pick<Contacts, "get">;
  definitions: Pick<Definitions, "segmentAudience">;
  audiences: Pick<Audiences, "matching">;
  memberRows: Pick<MemberRows, "membersAmong">;
}) {
  const { db, listPage, scheduler, contacts, definitions, audiences, memberRows } = deps;

  function readSome(projectSeq: number, before: number): SegmentRow[] {
    const isListed = and(eq(segments.projectSeq, projectSeq), isNull(segments.deletedAt));
    return db
      .select()
      .from(segments)
      .where(and(isListed, lt(segments.seq, before)))
      .orderBy(desc(segments.seq))
      .limit(STEP)
      .all();
  }

  function isMember(row: SegmentRow, contactSeq: number): boolean {
    const found =
      row.type === "STATIC"
        ? memberRows.membersAmong(row.seq, [contactSeq])
        : audiences.matching(definitions.segmentAudience(row), [contactSeq]);
    return found.length > 0;
  }

  /** All segments of the contact, newest first. */
  async function segmentsOf(projectSeq: number, contactSeq: number): Promise<SegmentRow[]> {
    const slices = await startSlices(scheduler.queueOf(projectSeq));
    const found: SegmentRow[] = [];
    let before = Number.MAX_SAFE_INTEGER;
    for (;;) {
      const rows = readSome(projectSeq, before);
      for (const row of rows) {
        if (isMember(row, contactSeq)) found.push(row);
        if (slices.isOver()) await slices.next();
      }
      const last = rows.at(-1);
      if (rows.length < STEP || last === undefined) return found;
      before = last.seq;
    }
  }

  /** Throws 404 without such a contact. */
  return (
    projectSeq: number,
    contactId: string,
    query: PageQuery,
  ): Promise<Page<ContactSegment>> => {
    const { seq } = contacts.get(projectSeq, contactId);
    return listPage(
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
