import type { Campaign } from "../../../modules/campaigns/model.ts";
import type { CampaignStats } from "../../../modules/campaigns/results-model.ts";
import type { CampaignSearch } from "./search.ts";

/** The input of the tabs of a campaign. */
export type TabProps = {
  campaign: Campaign;
  stats: CampaignStats;
  search: CampaignSearch;
  onChange: (next: CampaignSearch) => void;
};
