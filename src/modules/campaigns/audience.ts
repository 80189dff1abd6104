/**
 * The audience of a campaign: the subscribed contacts it is sent to (docs/interface.md#campaigns).
 */

import { AppError } from "../../lib/errors.ts";
import { parseCondition } from "../segments/condition/condition.ts";
import { IS_SUBSCRIBED } from "../segments/condition/operators.ts";
import type { Segments } from "../segments/service.ts";
import type { CampaignRow } from "./present.ts";

type Audience = ReturnType<Segments["audienceOfCondition"]>;

/** Throws 409 if the campaign's segment was deleted, 422 if its filter names a deleted segment. */
export function campaignAudience(
  segments: Pick<Segments, "audienceOf" | "audienceOfCondition">,
  campaign: CampaignRow,
  segmentId: string | null,
): Audience {
  const { projectSeq, audienceType, audienceFilter, audienceCondition } = campaign;
  // A STATIC segment has no condition: its current members are the audience.
  if (audienceType === "SEGMENT" && audienceCondition === null) {
    if (segmentId === null) throw segmentGone();
    return segments.audienceOf(projectSeq, segmentId, [IS_SUBSCRIBED]);
  }
  const text = audienceCondition ?? audienceFilter;
  const condition = text === null ? null : parseCondition(JSON.parse(text), "audienceFilter");
  return segments.audienceOfCondition(projectSeq, condition, [IS_SUBSCRIBED]);
}

function segmentGone(): AppError {
  return new AppError(409, "INVALID_STATE", "The segment of this campaign was deleted.", {
    suggestion: "Give it another audience: PATCH /campaigns/{id}.",
  });
}
