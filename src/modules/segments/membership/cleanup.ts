/** Deletes, in steps, the rows of deleted segments and the members of segments not tracked now. */

import { and, eq, isNotNull, or, sql } from "drizzle-orm";
import type { Db } from "../../../db/open.ts";
import { segments } from "../../../db/schema/segments.ts";
import type { Writer } from "../../../db/writer.ts";
import type { MemberRows } from "./member-rows.ts";

export type Cleanup = ReturnType<typeof createCleanup>;

/** Member rows deleted in one change. */
const STEP = 500;

export function createCleanup({
  db,
  writer,
  memberRows,
}: {
  db: Db;
  writer: Writer;
  memberRows: MemberRows;
}) {
  const hasMembers = sql`EXISTS (
    SELECT 1 FROM segment_members WHERE segment_seq = ${segments.seq})`;
  const needsCleanup = or(
    isNotNull(segments.deletedAt),
    and(eq(segments.type, "DYNAMIC"), eq(segments.trackMembership, false), hasMembers),
  );

  /** Runs inside a change. Returns true if the segment needs another step. */
  function cleanOnce(seq: number): boolean {
    const [row] = db
      .select({ deletedAt: segments.deletedAt })
      .from(segments)
      .where(and(eq(segments.seq, seq), needsCleanup))
      .all();
    if (row === undefined) return false;
    if (memberRows.deleteSome(seq, STEP) === STEP) return true;
    if (row.deletedAt !== null) db.delete(segments).where(eq(segments.seq, seq)).run();
    return false;
  }

  return async function cleanUp(isStopping: () => boolean): Promise<void> {
    for (const { seq } of db
      .select({ seq: segments.seq })
      .from(segments)
      .where(needsCleanup)
      .all()) {
      while (!isStopping() && (await writer.write(() => cleanOnce(seq))));
    }
  };
}
