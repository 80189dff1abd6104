/** The columns that requests set, checked. */

import type { campaigns } from "../../db/schema/campaigns.ts";
import { fieldError, validationError } from "../../lib/errors.ts";
import { parseCondition, wireCondition } from "../segments/condition/condition.ts";
import type { Segments } from "../segments/service.ts";
import { contentOf, optionalContent } from "../templates.ts";
import { audienceErrors, type Campaign, type CampaignPatch } from "./model.ts";
import type { CampaignRow } from "./present.ts";
import type { FindSegmentSeq } from "./usage.ts";

/** The columns that a request may set. */
export type Content = Omit<
  typeof campaigns.$inferInsert,
  "seq" | "id" | "projectSeq" | "status" | "createdAt" | "updatedAt"
>;

type CampaignAudience = {
  audienceType: Campaign["audienceType"];
  segmentId: string | null;
  audienceFilter: unknown;
};

export function createAudienceColumns(deps: {
  segments: Pick<Segments, "ensureResolvable">;
  findSegmentSeq: FindSegmentSeq;
}) {
  /** The columns of an audience; columns that its type does not use are cleared. */
  return (projectSeq: number, audience: CampaignAudience): Partial<Content> => {
    const { audienceType, segmentId, audienceFilter } = audience;
    const errors = audienceErrors(audience);
    if (errors.length > 0) throw validationError(errors);
    if (audienceType === "SEGMENT") {
      return { audienceType, segmentSeq: segmentSeq(projectSeq, segmentId), audienceFilter: null };
    }
    if (audienceType === "ALL") return { audienceType, segmentSeq: null, audienceFilter: null };
    const condition = parseCondition(audienceFilter, "audienceFilter");
    deps.segments.ensureResolvable(projectSeq, condition);
    const text = JSON.stringify(wireCondition(condition));
    return { audienceType, segmentSeq: null, audienceFilter: text };
  };

  function segmentSeq(projectSeq: number, id: string | null): number {
    const seq = deps.findSegmentSeq(projectSeq, id ?? "");
    if (seq !== null) return seq;
    throw fieldError("segmentId", "unknown_reference", "names no segment of this project");
  }
}

/** The content of a copy of a campaign. */
export function copiedColumns(campaign: CampaignRow): Content {
  const { audienceType, segmentSeq, audienceFilter, rate } = campaign;
  return {
    ...contentOf(campaign),
    name: `${campaign.name} (copy)`.slice(0, 255),
    audienceType,
    segmentSeq,
    audienceFilter,
    rate,
  };
}

export function touchesAudience(patch: CampaignPatch): boolean {
  return (
    patch.audienceType !== undefined ||
    patch.segmentId !== undefined ||
    patch.audienceFilter !== undefined
  );
}

export function mergedAudience(campaign: Campaign, patch: CampaignPatch): CampaignAudience {
  const { audienceType, segmentId, audienceFilter } = { ...campaign, ...patch };
  return { audienceType, segmentId, audienceFilter };
}

/** The columns of the given fields; a field that is undefined leaves its column unchanged. */
export function optionalColumns(fields: CampaignPatch) {
  return {
    ...optionalContent(fields),
    ...(fields.rate === undefined ? {} : { rate: fields.rate }),
  };
}
