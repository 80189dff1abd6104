/**
 * Sends a draft, once. A campaign for now is scheduled some seconds ahead, so that it can be undone;
 * the server starts it then, also if the page is closed.
 */

import { useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { api, ApiError, newIdempotencyKey, NO_RESPONSE } from "../../../api.ts";
import { exactServerNow } from "../../../server-clock.ts";
import { campaignPath } from "./campaign-source.ts";
import { sendBody, type SendRequest } from "./send-body.ts";
import type { When } from "./when.ts";

export function useSending(id: string) {
  const client = useQueryClient();
  /** The request that got no answer. It is repeated as it was, and then has no second effect. */
  const unanswered = useRef<{ key: string; body: SendRequest } | null>(null);
  const isRunning = useRef(false);

  return async (when: When, recipients: number): Promise<void> => {
    if (isRunning.current) return;
    isRunning.current = true;
    const request = unanswered.current ?? {
      key: newIdempotencyKey(),
      body: sendBody(when, recipients, exactServerNow()),
    };
    try {
      await api.post(`${campaignPath(id)}/send`, request.body, { idempotencyKey: request.key });
      unanswered.current = null;
    } catch (error) {
      const isLost = error instanceof ApiError && error.status === NO_RESPONSE;
      unanswered.current = isLost ? request : null;
      throw error;
    } finally {
      isRunning.current = false;
      await refreshCampaigns(client);
    }
  };
}

const KEYS = ["campaign", "campaign-summaries", "campaigns"];

export async function refreshCampaigns(client: ReturnType<typeof useQueryClient>): Promise<void> {
  await Promise.all(KEYS.map((key) => client.invalidateQueries({ queryKey: [key] })));
}
