/** The columns that requests set, checked. */

import type { campaigns } from "../../db/schema/campaigns.ts";
import { normalizedAddress } from "../../http/formats.ts";
import { fieldError, validationError } from "../../lib/errors.ts";
import { parseCondition, wireCondition } from "../segments/condition/condition.ts";
import { optionalContent } from "../templates/given-content.ts";
import { contentOf } from "../templates/present.ts";
import {
  audienceErrors,
  type Campaign,
  type CampaignPatch,
  categoryIn,
  type Utm,
} from "./model.ts";
import type { CampaignRow } from "./present.ts";
import type { App } from "../../core/app.ts";
import { perApp } from "../../lib/per-app.ts";
import { campaignUsage } from "./usage.ts";
import { segmentService } from "../segments/service.ts";

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

/** The audience of a draft until one is chosen: a segment that is not named yet. */
export const NO_AUDIENCE = {
  audienceType: "SEGMENT",
  segmentSeq: null,
  audienceFilter: null,
} as const;

type AudienceColumnValues = Pick<CampaignRow, "audienceType" | "segmentSeq" | "audienceFilter">;
export type AudienceColumns = ReturnType<typeof createAudienceColumns>;

export const audienceColumnsOf = perApp(createAudienceColumns);

function createAudienceColumns(app: App) {
  /** The columns of an audience; columns that its type does not use are cleared. */
  return (projectSeq: number, audience: CampaignAudience): AudienceColumnValues => {
    const { audienceType, segmentId, audienceFilter } = audience;
    const errors = audienceErrors(audience);
    if (errors.length > 0) throw validationError(errors);
    if (audienceType === "SEGMENT") {
      return { audienceType, segmentSeq: segmentSeq(projectSeq, segmentId), audienceFilter: null };
    }
    if (audienceType === "ALL") return { audienceType, segmentSeq: null, audienceFilter: null };
    const condition = parseCondition(audienceFilter, "audienceFilter");
    segmentService(app).ensureResolvable(projectSeq, condition);
    const text = JSON.stringify(wireCondition(condition));
    return { audienceType, segmentSeq: null, audienceFilter: text };
  };

  function segmentSeq(projectSeq: number, id: string | null): number {
    const seq = campaignUsage(app).findSegmentSeq(projectSeq, id ?? "");
    if (seq !== null) return seq;
    throw fieldError("segmentId", "unknown_reference", "names no segment of this project");
  }
}

/** The content of a copy of a campaign. */
export function copiedColumns(campaign: CampaignRow): Content {
  const { audienceType, segmentSeq, audienceFilter, rate, category, utm } = campaign;
  const { preheader, format, design, layoutId, templateId, topicSeq } = campaign;
  return {
    ...contentOf(campaign),
    name: `${campaign.name} (copy)`.slice(0, 255),
    audienceType,
    segmentSeq,
    audienceFilter,
    rate,
    category,
    utm,
    preheader,
    format,
    design,
    layoutId,
    templateId,
    topicSeq,
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
    ...given({
      rate: fields.rate,
      subject: fields.subject === null ? "" : fields.subject,
      body: fields.body === null ? "" : fields.body,
      from: fields.from === null ? "" : fields.from && normalizedAddress(fields.from),
      category: categoryIn(fields),
      preheader: fields.preheader === "" ? null : fields.preheader,
      format: fields.format,
      design: fields.design && JSON.stringify(fields.design),
      layoutId: fields.layoutId,
      templateId: fields.templateId,
      utm: utmColumn(fields.utm),
    }),
  };
}

type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The members that are not undefined. */
function given<T extends object>(columns: T): Given<T> {
  const members: Given<T> = {};
  for (const [name, value] of Object.entries(columns)) {
    if (value !== undefined) Reflect.set(members, name, value);
  }
  return members;
}

/** Parameters without a value are left out; null if none has one. */
function utmColumn(utm: Utm | null | undefined): string | null | undefined {
  if (utm === undefined || utm === null) return utm;
  const members = UTM_NAMES.flatMap((name) => {
    const value = utm[name]?.trim();
    return value ? [[name, value] as const] : [];
  });
  return members.length === 0 ? null : JSON.stringify(Object.fromEntries(members));
}

const UTM_NAMES = ["source", "medium", "campaign", "term", "content"] as const;
