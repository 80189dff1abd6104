import type { CampaignSummary } from "../../../modules/campaigns/summary-model.ts";

type Audience = Pick<CampaignSummary, "audienceType"> & { segmentName: string | null };

/** The contacts that a campaign is for, in words. */
export function audienceText({ audienceType, segmentName }: Audience): string {
  if (audienceType === "ALL") return "All subscribed contacts";
  if (audienceType === "FILTERED") return "Filtered contacts";
  return segmentName ?? "A segment that was deleted";
}
