/** Removes what is left of deleted segments and of those that are tracked no longer, in steps. */

import { and, eq, isNotNull, or, sql } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { segments } from "../../db/schema/segments.ts";
import type { Writer } from "../../db/writer.ts";
import type { Roster } from "./roster.ts";

export type Sweep = ReturnType<typeof createSweep>;

const STEP = 500;

export function createSweep({ db, writer, roster }: { db: Db; writer: Writer; roster: Roster }) {
  const hasMembers = sql`EXISTS (
    SELECT 1 FROM segment_members WHERE segment_seq = ${segments.seq})`;
  const isLeftOver = or(
    isNotNull(segments.deletedAt),
    and(eq(segments.type, "DYNAMIC"), eq(segments.trackMembership, false), hasMembers),
  );

  /** Part of a change. True if there is more to do. */
  function step(seq: number): boolean {
    const [row] = db
      .select({ deletedAt: segments.deletedAt })
      .from(segments)
      .where(and(eq(segments.seq, seq), isLeftOver))
      .all();
    if (row === undefined) return false;
    if (roster.clearSome(seq, STEP) === STEP) return true;
    if (row.deletedAt !== null) db.delete(segments).where(eq(segments.seq, seq)).run();
    return false;
  }

  return async function sweep(isStopping: () => boolean): Promise<void> {
    for (const { seq } of db.select({ seq: segments.seq }).from(segments).where(isLeftOver).all()) {
      while (!isStopping() && (await writer.write(() => step(seq))));
    }
  };
}
