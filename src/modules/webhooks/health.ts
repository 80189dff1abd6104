/** Records whether webhooks work, and disables those that do not. */

import type { DISABLED_REASONS } from "../../db/schema/webhooks.ts";
import type { EventLog } from "../../events/log.ts";
import { isFailingTooLong } from "./schedule.ts";
import type { WebhookRows } from "./webhook-rows.ts";

type DisabledReason = (typeof DISABLED_REASONS)[number];
export type WebhookHealth = ReturnType<typeof createWebhookHealth>;

export function createWebhookHealth(deps: {
  webhookRows: WebhookRows;
  events: Pick<EventLog, "record">;
}) {
  const { webhookRows, events } = deps;

  function disable(seq: number, reason: DisabledReason, now: number): void {
    const { id, projectSeq, url } = webhookRows.update(seq, {
      isEnabled: false,
      disabledReason: reason,
      updatedAt: now,
    });
    const data = { webhookId: id, url, reason };
    events.record({ projectSeq, name: "webhook.disabled", contactSeq: null, data, at: now });
  }

  return {
    /** Part of a change: the webhook works. */
    noteSuccess: webhookRows.clearFailing,

    /** Part of a change: disables the webhook after 5 days of failures, or at once if `isGone`. */
    noteFailure(seq: number, isGone: boolean, now: number): void {
      const since = webhookRows.setFailing(seq, now);
      if (since === null) return; // The webhook was disabled or deleted meanwhile.
      if (isGone) disable(seq, "GONE", now);
      else if (isFailingTooLong(since, now)) disable(seq, "FAILING", now);
    },
  };
}
