/** The type of the sent campaigns of other products. */

import type { ImportedCampaign } from "../../modules/campaigns/imported-model.ts";

type CampaignTotals = Partial<Record<keyof ImportedCampaign["counts"], number | null | undefined>>;

/** A sent campaign as the other product describes it. */
export type SourceCampaign = {
  id: string;
  name: string;
  subject: string;
  /** Null if the product does not give it. */
  body: string | null;
  preheader?: string | null | undefined;
  /** An address, with or without a name. */
  from?: string | null | undefined;
  replyTo?: string | null | undefined;
  /** A time as the product writes it; one without a zone is taken as UTC. */
  sentAt: string | null | undefined;
  counts: CampaignTotals;
  /** Writes the placeholders of the product in Liquid; null if one has no equal here. */
  convert: (source: string) => string | null;
};
