/** A message that nothing caused, for whoever sets a webhook up. It is in no log and no list. */

import { type Clock, isoTime } from "../../lib/clock.ts";
import { newId } from "../../lib/id.ts";
import type { Attempt } from "./attempt.ts";
import type { TestResult } from "./model.ts";
import type { WebhookRow } from "./service.ts";

export type SendTest = (webhook: WebhookRow) => Promise<TestResult>;

export function createSendTest({ attempt, clock }: { attempt: Attempt; clock: Clock }): SendTest {
  return async ({ seq, url }) => {
    const now = clock.now();
    const webhookId = newId(now);
    const event = {
      id: webhookId,
      name: "webhook.test",
      data: {},
      contactId: null,
      contactEmail: null,
      emailId: null,
      createdAt: isoTime(now),
    };
    const startedMs = performance.now();
    const attempted = await attempt({ id: webhookId, webhookSeq: seq, url, event });
    return {
      delivered: attempted?.isDelivered ?? false,
      webhookId,
      responseCode: attempted?.responseCode ?? null,
      responseExcerpt: attempted?.responseExcerpt ?? null,
      error: attempted?.error ?? null,
      durationMs: Math.round(performance.now() - startedMs),
    };
  };
}
