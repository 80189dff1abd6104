/** Who receives a campaign: subscribed contacts that its audience names (interface decision G). */

import { parseCondition } from "../segments/condition.ts";
import type { Audience } from "../segments/plan.ts";
import type { Segments } from "../segments/service.ts";
import type { CampaignRow } from "./service.ts";

const SUBSCRIBED = [{ kind: "subscribed", isSubscribed: true }] as const;

/** 422 where the filter refers to a segment that is not there any more. */
export function audienceOf(
  segments: Pick<Segments, "audienceOfCondition">,
  campaign: CampaignRow,
  segmentId: string | null,
): Audience {
  const { projectSeq } = campaign;
  const condition = conditionOf(campaign, segmentId);
  return segments.audienceOfCondition(
    projectSeq,
    condition === null ? null : parseCondition(condition, "audienceFilter"),
    SUBSCRIBED,
  );
}

function conditionOf(campaign: CampaignRow, segmentId: string | null): unknown {
  if (campaign.audienceFilter !== null) return JSON.parse(campaign.audienceFilter);
  if (campaign.audienceType !== "SEGMENT") return null;
  const member = { field: `segment.${segmentId}`, operator: "memberOf" };
  return { logic: "AND", groups: [{ filters: [member] }] };
}
