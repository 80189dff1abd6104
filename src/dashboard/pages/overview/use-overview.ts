/** Reads the data of the overview from the interface. */

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { Static } from "@sinclair/typebox";
import type { CampaignSummary } from "../../../modules/campaigns/summary-model.ts";
import type { ApiKey } from "../../../modules/keys.ts";
import type { ProjectStats } from "../../../modules/stats/model.ts";
import type { System } from "../../../modules/system/model.ts";
import type { Webhook } from "../../../modules/webhooks/model.ts";
import { api, type ListPage } from "../../api.ts";
import { useAppState, useProject } from "../../state.ts";
import type { Period } from "./period.ts";

export type Stats = Static<typeof ProjectStats>;

/** The time zone of the browser. */
export const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Campaigns of one status that are shown. */
const MAX_CAMPAIGNS = 10;

export function useStats({ fromMs, toMs, interval }: Period) {
  const project = useProject()?.id ?? null;
  return useQuery({
    queryKey: ["stats", project, fromMs, toMs, interval],
    queryFn: ({ signal }) =>
      api.get<Stats>("/stats", {
        query: {
          from: new Date(fromMs).toISOString(),
          to: new Date(toMs).toISOString(),
          interval,
          timeZone,
        },
        signal,
      }),
    placeholderData: keepPreviousData,
  });
}

/** Whether the project has mails; undefined while it is not known. */
export function useHasMails(): boolean | undefined {
  const project = useProject()?.id ?? null;
  const { data } = useQuery({
    queryKey: ["emails", project, "first"],
    queryFn: ({ signal }) => api.get<ListPage<unknown>>("/emails", { query: { limit: 1 }, signal }),
  });
  return data === undefined ? undefined : data.items.length > 0;
}

/** The state of the installation, for its owners. */
export function useSystem(): System | undefined {
  const { user } = useAppState();
  const { data } = useQuery({
    queryKey: ["system"],
    queryFn: ({ signal }) => api.get<System>("/system", { project: null, signal }),
    enabled: user?.isOwner === true,
    refetchOnMount: "always",
  });
  return data;
}

/** The newest webhooks; none while they are not known. */
export function useWebhooks(): readonly Webhook[] {
  const project = useProject()?.id ?? null;
  const { data } = useQuery({
    queryKey: ["webhooks", project, "overview"],
    queryFn: ({ signal }) =>
      api.get<ListPage<Webhook>>("/webhooks", { query: { limit: 100 }, signal }),
  });
  return data?.items ?? [];
}

/** The newest keys of the project; undefined while they are not known, or if the user may not see them. */
export function useKeys(maySee: boolean): readonly ApiKey[] | undefined {
  const project = useProject()?.id ?? null;
  const { data } = useQuery({
    queryKey: ["keys", project, "overview"],
    queryFn: ({ signal }) => api.get<ListPage<ApiKey>>("/keys", { query: { limit: 100 }, signal }),
    enabled: maySee,
  });
  return data?.items;
}

/** The newest campaigns of a status, without their content. */
export function useCampaigns(status: CampaignSummary["status"]): readonly CampaignSummary[] {
  const project = useProject()?.id ?? null;
  const { data } = useQuery({
    queryKey: ["campaign-summaries", project, "overview", status],
    queryFn: ({ signal }) =>
      api.get<ListPage<CampaignSummary>>("/campaigns/summaries", {
        query: { limit: MAX_CAMPAIGNS, status },
        signal,
      }),
  });
  return data?.items ?? [];
}
