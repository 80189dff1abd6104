/** The names of imported campaigns in lists and reports. */

import type { ImportedCampaign } from "../../../modules/campaigns/imported-model.ts";
import type { CampaignSummary } from "../../../modules/campaigns/summary-model.ts";

/** IMPORTED instead of SENT, so that it is not taken for a campaign of this server. */
export const statusWithOrigin = ({
  status,
  imported,
}: Pick<CampaignSummary, "status" | "imported">): string =>
  imported === null ? status : "IMPORTED";

/** The totals that the other product has told, in the order of a report. */
export function toldCounts(counts: ImportedCampaign["counts"]): { label: string; count: number }[] {
  const { recipients, sent, delivered, opened, opens, clicked, clicks } = counts;
  const { bounced, complained, unsubscribed } = counts;
  const all = [
    { label: "Recipients", count: recipients },
    { label: "Sent", count: sent },
    { label: "Delivered", count: delivered },
    { label: "Opened", count: opened },
    { label: "All opens", count: opens },
    { label: "Clicked", count: clicked },
    { label: "All clicks", count: clicks },
    { label: "Bounced", count: bounced },
    { label: "Complained", count: complained },
    { label: "Unsubscribed", count: unsubscribed },
  ];
  return all.flatMap(({ label, count }) => (count === null ? [] : [{ label, count }]));
}
