/** Finds the campaigns that use a segment or a domain, which therefore cannot be deleted. */

import { and, eq, inArray, isNull, like, or, type SQL } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { campaigns } from "../../db/schema/campaigns.ts";
import { segments } from "../../db/schema/segments.ts";
import type { Use } from "../../lib/references.ts";

/** Returns the `seq` of a segment that is not deleted; null if there is none with this id. */
export type FindSegmentSeq = (projectSeq: number, id: string) => number | null;

/** Longest list of campaigns, because their names are in an error message. */
const MAX_NAMED = 5;

export function createUsage(db: Db) {
  function findSegmentSeq(projectSeq: number, id: string): number | null {
    const match = and(
      eq(segments.projectSeq, projectSeq),
      eq(segments.id, id),
      isNull(segments.deletedAt),
    );
    const [found] = db.select({ seq: segments.seq }).from(segments).where(match).limit(1).all();
    return found?.seq ?? null;
  }

  function unfinished(where: SQL | undefined): Use[] {
    const open = inArray(campaigns.status, ["DRAFT", "SCHEDULED", "SENDING", "PAUSED"]);
    return db
      .select({ id: campaigns.id, name: campaigns.name })
      .from(campaigns)
      .where(and(where, open))
      .limit(MAX_NAMED)
      .all()
      .map(({ id, name }) => ({ kind: "campaign", id, name }));
  }

  return {
    findSegmentSeq,

    /** Unfinished campaigns that use a segment and so prevent its deletion. */
    usersOfSegment(projectSeq: number, segmentId: string): Use[] {
      const seq = findSegmentSeq(projectSeq, segmentId);
      if (seq === null) return [];
      return unfinished(
        and(
          eq(campaigns.projectSeq, projectSeq),
          or(
            eq(campaigns.segmentSeq, seq),
            // An id that was found in the database contains no wildcard of LIKE.
            like(campaigns.audienceFilter, `%"segment.${segmentId}"%`),
          ),
        ),
      );
    },

    /** Unfinished campaigns that send from a domain and so prevent its removal. */
    usersOfDomain(projectSeq: number, domain: string): Use[] {
      // A domain contains no wildcard of LIKE.
      return unfinished(
        and(eq(campaigns.projectSeq, projectSeq), like(campaigns.from, `%@${domain}`)),
      );
    },
  };
}
