/** One webhook, and the actions on it. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type {
  Delivery,
  TestResult,
  Webhook,
  WebhookPatch,
} from "../../../modules/webhooks/model.ts";
import { api, type ListPage } from "../../api.ts";
import { isReadable } from "../../ui/deletion.ts";
import { withEnd } from "../../ui/sentence.ts";
import { resultText } from "./texts.ts";

export const webhookKey = (project: string, id: string) => ["webhooks", project, id];

export const webhookPath = (id: string): string => `/webhooks/${encodeURIComponent(id)}`;

export function useWebhook(project: string, id: string) {
  return useQuery({
    queryKey: webhookKey(project, id),
    queryFn: ({ signal }) => api.get<Webhook>(webhookPath(id), { signal }),
  });
}

/** Deliveries among which the latest failure is looked for. */
const NEWEST = 50;

/** The result of the newest delivery that failed or is tried again. */
export function useFault(project: string, webhook: Webhook | undefined): string | null {
  const { id = "", enabled = true, failingSince = null } = webhook ?? {};
  const { data } = useQuery({
    queryKey: [...webhookKey(project, id), "fault"],
    queryFn: async ({ signal }) => {
      const path = `${webhookPath(id)}/deliveries`;
      const query = { limit: NEWEST };
      const { items } = await api.get<ListPage<Delivery>>(path, { query, signal });
      return items.find(({ status, attempts }) => status !== "SUCCEEDED" && attempts > 0) ?? null;
    },
    enabled: (query) =>
      isReadable(query) && webhook !== undefined && (!enabled || failingSince !== null),
  });
  return data === undefined || data === null ? null : withEnd(resultText(data));
}

export function useWebhookActions(project: string, id: string) {
  const client = useQueryClient();
  async function patch(values: WebhookPatch): Promise<Webhook> {
    const webhook = await api.patch<Webhook>(webhookPath(id), values);
    client.setQueryData(webhookKey(project, id), webhook);
    await client.invalidateQueries({ queryKey: ["webhooks"] });
    return webhook;
  }
  return {
    patch,
    change: useMutation({ mutationFn: patch }),
    test: useMutation({ mutationFn: () => api.post<TestResult>(`${webhookPath(id)}/test`) }),
  };
}
