/** The queries of the page of one campaign. Live messages about mails and campaigns renew them. */

import { useQuery } from "@tanstack/react-query";
import type { Campaign } from "../../../modules/campaigns/model.ts";
import type { AudienceBreakdown } from "../../../modules/campaigns/audience-model.ts";
import type { CampaignStats } from "../../../modules/campaigns/results-model.ts";
import type { CampaignSummary } from "../../../modules/campaigns/summary-model.ts";
import { api, type ListPage } from "../../api.ts";
import { useProject } from "../../state.ts";

/** The number of campaigns with which one is compared. */
const EARLIER = 5;

const useKey = (id: string, part: string) => {
  const project = useProject()?.id ?? null;
  return ["campaign", project, id, part];
};
const pathOf = (id: string) => `/campaigns/${encodeURIComponent(id)}`;

export function useCampaign(id: string) {
  return useQuery({
    queryKey: useKey(id, "record"),
    queryFn: ({ signal }) => api.get<Campaign>(pathOf(id), { signal }),
  });
}

export function useCampaignStats(id: string) {
  return useQuery({
    queryKey: useKey(id, "stats"),
    queryFn: ({ signal }) => api.get<CampaignStats>(`${pathOf(id)}/stats`, { signal }),
  });
}

/** Counting the audience takes seconds with a million contacts, so mails do not renew it. */
export function useAudience(id: string, isEnabled: boolean) {
  const project = useProject()?.id ?? null;
  return useQuery({
    queryKey: ["campaign-audience", project, id],
    queryFn: ({ signal }) => api.get<AudienceBreakdown>(`${pathOf(id)}/audience`, { signal }),
    enabled: isEnabled,
  });
}

/** The campaigns that this server has sent before this one, the newest first. */
export function useEarlier(id: string) {
  const project = useProject()?.id ?? null;
  return useQuery({
    queryKey: ["campaign-summaries", project, "before", id],
    queryFn: ({ signal }) =>
      api.get<ListPage<CampaignSummary>>("/campaigns/summaries", {
        query: { before: id, status: "SENT", imported: false, limit: EARLIER },
        signal,
      }),
    select: ({ items }) => items.filter(({ sent }) => sent > 0),
  });
}
