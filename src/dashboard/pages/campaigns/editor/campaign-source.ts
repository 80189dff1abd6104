/**
 * The members of a draft campaign that its page edits, and the requests that read and save them.
 */

import type { QueryClient } from "@tanstack/react-query";
import type { Campaign } from "../../../../modules/campaigns/model.ts";
import { BODY_GROUP, CONTENT_LABELS } from "../../../ui/editors/content-labels.ts";
import { pickFields } from "../../../ui/editors/merge.ts";
import { recordRequests } from "../../../ui/editors/record-requests.ts";
import { isRecord } from "../../../ui/is-record.ts";
import type { Editing } from "../../../ui/editors/use-autosave.ts";

export type CampaignSource = Pick<
  Campaign,
  | "name"
  | "subject"
  | "preheader"
  | "body"
  | "format"
  | "layoutId"
  | "templateId"
  | "from"
  | "fromName"
  | "replyTo"
  | "audienceType"
  | "segmentId"
  | "audienceFilter"
  | "category"
  | "topicId"
  | "rate"
  | "utm"
  | "archived"
  | "archiveSlug"
  | "abTest"
> & { design: object | null };
export type CampaignEditing = Editing<CampaignSource>;

/** The words for the fields, in messages and in the comparison of two versions. */
export const CAMPAIGN_LABELS: Readonly<Record<string, string>> = {
  ...CONTENT_LABELS,
  audienceType: "Audience",
  segmentId: "Segment",
  audienceFilter: "Conditions",
  category: "Kind of mail",
  topicId: "Topic",
  rate: "Speed",
  utm: "UTM parameters",
  archived: "Public page",
  archiveSlug: "Address of the public page",
  abTest: "A/B test",
};

const AUDIENCE = ["audienceType", "segmentId", "audienceFilter"] as const;

/** The fields that are taken from one version together. */
export const CAMPAIGN_GROUPS = [BODY_GROUP, AUDIENCE] as const;

export const campaignPath = (id: string): string => `/campaigns/${encodeURIComponent(id)}`;

/** The key of the query of `useCampaign`. */
const recordKey = (project: string, id: string) => ["campaign", project, id, "record"];

export function readSource(campaign: Campaign): CampaignSource {
  const { name, subject, preheader, body, design, format, layoutId, templateId } = campaign;
  const { from, fromName, replyTo, audienceType, segmentId, audienceFilter } = campaign;
  const { category, topicId, rate, utm, archived, archiveSlug, abTest } = campaign;
  return {
    name,
    subject,
    preheader,
    body,
    format,
    layoutId,
    templateId,
    design: isRecord(design) ? design : null,
    from,
    fromName,
    replyTo,
    audienceType,
    segmentId,
    audienceFilter,
    category,
    topicId,
    rate,
    utm,
    archived,
    archiveSlug,
    abTest,
  };
}

/** The body of the request that saves the changed fields. */
export function patchOf(value: CampaignSource, changed: readonly string[]): object {
  const isAudience = AUDIENCE.some((name) => changed.includes(name));
  const fields = pickFields(value, isAudience ? [...changed, ...AUDIENCE] : changed);
  // A draft may lack them, but an empty text is none.
  const empty = (["subject", "body", "from"] as const).filter((name) => fields[name] === "");
  return { ...fields, ...Object.fromEntries(empty.map((name) => [name, null])) };
}

export function campaignRequests(client: QueryClient, project: string, id: string) {
  return recordRequests<Campaign, CampaignSource>({
    client,
    project,
    path: campaignPath(id),
    queryKey: recordKey(project, id),
    read: readSource,
    patch: patchOf,
    onSaved: () => void client.invalidateQueries({ queryKey: ["campaign-summaries"] }),
  });
}
