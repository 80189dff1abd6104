/** The contacts that a campaign is for, and how many of them it will be sent to. */

import { eq } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { segments as segmentTable } from "../../db/schema/segments.ts";
import { AppError } from "../../lib/errors.ts";
import { parseStored } from "../segments/condition/condition.ts";
import { IS_SUBSCRIBED, IS_SUPPRESSED } from "../segments/condition/operators.ts";
import { problemSentence, problemsOf } from "../segments/condition/problems.ts";
import type { Segments } from "../segments/service.ts";
import type { CampaignRow } from "./present.ts";
import type { AudienceBreakdown } from "./results-model.ts";

type Audience = ReturnType<Segments["audienceOfCondition"]>;
type Tests = NonNullable<Parameters<Segments["audienceOfCondition"]>[2]>;

export type CampaignAudience = ReturnType<typeof createCampaignAudience>;

export function createCampaignAudience(deps: {
  db: Db;
  segments: Pick<Segments, "audiences" | "audienceOf" | "audienceOfCondition" | "audienceAt">;
}) {
  const { db, segments } = deps;

  function segmentIdOf({ segmentSeq }: CampaignRow): string | null {
    if (segmentSeq === null) return null;
    const match = eq(segmentTable.seq, segmentSeq);
    const [row] = db.select({ id: segmentTable.id }).from(segmentTable).where(match).limit(1).all();
    return row?.id ?? null;
  }

  /** The contacts that match the audience of a campaign and meet all of `tests`. */
  function matching(campaign: CampaignRow, tests: Tests): Audience {
    const { projectSeq, audienceType, audienceFilter, audienceCondition } = campaign;
    // A STATIC segment has no condition: its current members are the audience.
    if (audienceType === "SEGMENT" && audienceCondition === null) {
      const id = segmentIdOf(campaign);
      if (id === null) throw segmentGone();
      return segments.audienceOf(projectSeq, id, tests);
    }
    const text = audienceCondition ?? audienceFilter;
    const condition = text === null ? null : parseStored(JSON.parse(text), "audienceFilter");
    return segments.audienceOfCondition(projectSeq, condition, tests);
  }

  const { count, members } = segments.audiences;
  const findReachable = db.sqlite.prepare<{ seq: number }, [string]>(`
    SELECT contacts.seq FROM json_each(?) AS asked CROSS JOIN contacts ON contacts.seq = asked.value
    WHERE NOT EXISTS (SELECT 1 FROM suppressions
                      WHERE suppressions.project_seq = contacts.project_seq
                        AND suppressions.email = contacts.email)
    LIMIT 1`);

  /**
   * The subscribed contacts that a campaign is sent to (docs/interface.md#campaigns). Relative
   * times count from the start of sending, which may be long ago if the process was interrupted.
   * Throws 409 if its segment was deleted or a stored comparison cannot be made, so that it is not
   * sent to a part of its audience; 422 if its filter names a deleted segment.
   */
  function subscribed(campaign: CampaignRow): Audience {
    const audience = matching(campaign, [IS_SUBSCRIBED]);
    const [problem] = problemsOf(audience.tests);
    if (problem !== undefined) {
      throw new AppError(409, "INVALID_STATE", problemSentence(problem), {
        suggestion: "Correct the condition of the audience.",
      });
    }
    return campaign.startedAt === null
      ? audience
      : segments.audienceAt(audience, campaign.startedAt);
  }

  return {
    subscribed,

    /** Throws 409 if no contact would receive it, and like `subscribed`. */
    async ensureRecipients(campaign: CampaignRow): Promise<void> {
      for await (const seqs of members(subscribed(campaign))) {
        if (findReachable.get(JSON.stringify(seqs)) !== null) return;
      }
      throw new AppError(409, "INVALID_STATE", "This campaign has no recipients.", {
        suggestion: "Check its audience: only subscribed contacts receive campaigns.",
      });
    },

    /** Counts who matches now, and who of them gets no mail. Throws like `subscribed`. */
    async breakdown(campaign: CampaignRow): Promise<AudienceBreakdown> {
      const all = await count(matching(campaign, []));
      const subscribed = await count(matching(campaign, [IS_SUBSCRIBED]));
      const suppressed = await count(matching(campaign, [IS_SUBSCRIBED, IS_SUPPRESSED]));
      return {
        matching: all,
        unsubscribed: all - subscribed,
        suppressed,
        recipients: subscribed - suppressed,
      };
    },
  };
}

function segmentGone(): AppError {
  return new AppError(409, "INVALID_STATE", "The segment of this campaign was deleted.", {
    suggestion: "Give it another audience: PATCH /campaigns/{id}.",
  });
}
