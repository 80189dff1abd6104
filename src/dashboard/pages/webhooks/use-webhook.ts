/** One webhook, and the actions on it. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { TestResult, Webhook, WebhookPatch } from "../../../modules/webhooks/model.ts";
import { api } from "../../api.ts";

const keyOf = (project: string, id: string) => ["webhooks", project, id];

export const webhookPath = (id: string): string => `/webhooks/${encodeURIComponent(id)}`;

export function useWebhook(project: string, id: string) {
  return useQuery({
    queryKey: keyOf(project, id),
    queryFn: ({ signal }) => api.get<Webhook>(webhookPath(id), { signal }),
  });
}

export function useWebhookActions(project: string, id: string) {
  const client = useQueryClient();
  async function patch(values: WebhookPatch): Promise<Webhook> {
    const webhook = await api.patch<Webhook>(webhookPath(id), values);
    client.setQueryData(keyOf(project, id), webhook);
    await client.invalidateQueries({ queryKey: ["webhooks"] });
    return webhook;
  }
  return {
    patch,
    change: useMutation({ mutationFn: patch }),
    test: useMutation({ mutationFn: () => api.post<TestResult>(`${webhookPath(id)}/test`) }),
    async remove(): Promise<void> {
      await api.delete(webhookPath(id));
    },
    /** After the page was left: its data would be read again in vain. */
    async forget(): Promise<void> {
      client.removeQueries({ queryKey: keyOf(project, id) });
      await client.invalidateQueries({ queryKey: ["webhooks"] });
    },
  };
}
