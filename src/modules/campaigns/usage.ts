/**
 * Finds the campaigns that use a segment or a domain, which therefore cannot be deleted, and checks
 * the campaigns that use a changed segment.
 */

import { and, eq, inArray, isNull, like, or, sql, type SQL } from "drizzle-orm";
import { campaigns } from "../../db/schema/campaigns.ts";
import { segments } from "../../db/schema/segments.ts";
import type { CheckedUse, Use } from "../../lib/references.ts";
import { parseStored } from "../segments/condition/condition.ts";
import { referencesOf } from "../segments/condition/references.ts";
import type { App } from "../../core/app.ts";
import { perApp } from "../../lib/per-app.ts";
import { segmentService } from "../segments/service.ts";
import { findTopic } from "../topics/choices.ts";

/** Longest list of campaigns, because their names are in an error message. */
const MAX_NAMED = 5;

const IS_UNFINISHED = inArray(campaigns.status, ["DRAFT", "SCHEDULED", "SENDING", "PAUSED"]);

/** The condition of the audience: once the campaign has started, the one that it started with. */
const CONDITION = sql<string>`coalesce(${campaigns.audienceCondition}, ${campaigns.audienceFilter})`;

export const campaignUsage = perApp(createUsage);

function createUsage(app: App) {
  const { db } = app;

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
    return db
      .select({ id: campaigns.id, name: campaigns.name })
      .from(campaigns)
      .where(and(where, IS_UNFINISHED))
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
            like(CONDITION, `%"segment.${segmentId}"%`),
          ),
        ),
      );
    },

    /** Unfinished campaigns that belong to a topic and so prevent its deletion. */
    usersOfTopic(projectSeq: number, topicId: string): Use[] {
      const topic = findTopic(app, projectSeq, topicId);
      if (topic === null) return [];
      return unfinished(
        and(
          eq(campaigns.projectSeq, projectSeq),
          or(eq(campaigns.topicSeq, topic.seq), like(CONDITION, `%"topic.${topic.key}"%`)),
        ),
      );
    },

    /** Unfinished campaigns that have a layout and so prevent its removal. */
    usersOfLayout: (projectSeq: number, layoutId: string): Use[] =>
      unfinished(
        and(
          eq(campaigns.projectSeq, projectSeq),
          or(
            eq(campaigns.layoutId, layoutId),
            sql`EXISTS (SELECT 1 FROM ab_variants v
                        WHERE v.campaign_seq = ${campaigns.seq} AND v.layout_id = ${layoutId})`,
          ),
        ),
      ),

    /** Part of a change: checks the unfinished campaigns whose audience refers to these segments. */
    checkUsersOfSegments(projectSeq: number, segmentIds: ReadonlySet<string>): CheckedUse[] {
      return db
        .select({ id: campaigns.id, name: campaigns.name, text: CONDITION })
        .from(campaigns)
        .where(
          and(
            eq(campaigns.projectSeq, projectSeq),
            IS_UNFINISHED,
            sql`instr(${CONDITION}, '"segment.') > 0`,
          ),
        )
        .all()
        .flatMap(({ id, name, text }) => {
          const condition = parseStored(JSON.parse(text), "audienceFilter");
          if (!referencesOf(condition).some((used) => segmentIds.has(used))) return [];
          const errors = segmentService(app).conditionErrors(projectSeq, condition);
          return [{ kind: "campaign", id, name, errors }];
        });
    },

    /** Unfinished campaigns that send from a domain and so prevent its removal. */
    usersOfDomain(projectSeq: number, domain: string): Use[] {
      // A domain contains no wildcard of LIKE.
      return unfinished(
        and(
          eq(campaigns.projectSeq, projectSeq),
          or(
            like(campaigns.from, `%@${domain}`),
            sql`EXISTS (SELECT 1 FROM ab_variants v
                        WHERE v.campaign_seq = ${campaigns.seq} AND v.from_address LIKE ${`%@${domain}`})`,
          ),
        ),
      );
    },
  };
}
