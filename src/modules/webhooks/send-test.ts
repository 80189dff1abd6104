/**
 * Sends a test message to a webhook. It is not stored: it is neither an event nor a delivery. The
 * number of concurrent test calls of a project is limited, because each may hang until its timeout.
 */

import { isoTime } from "../../lib/clock.ts";
import type { AppError } from "../../lib/errors.ts";
import { createFairSlots } from "../../lib/fair-slots.ts";
import { perApp } from "../../lib/per-app.ts";
import { newId } from "../../lib/id.ts";
import { quotaExceeded } from "../quotas.ts";
import type { TestResult } from "./model.ts";
import type { WebhookRow } from "./webhooks.ts";
import type { App } from "../../core/app.ts";
import { attemptDelivery } from "./attempt.ts";

/** Largest number of concurrent test calls of all projects. */
const MAX_CONCURRENT_CALLS = 32;
/** Timeout of a call (lib/fetch-guarded). */
const LONGEST_CALL_SECONDS = 10;

async function send(app: App, webhook: WebhookRow): Promise<TestResult> {
  const now = app.clock.now();
  const webhookId = newId(now);
  const event = {
    id: webhookId,
    name: "webhook.test",
    data: {},
    contactId: null,
    contactEmail: null,
    emailId: null,
    emailTags: null,
    createdAt: isoTime(now),
  };
  const startedMs = app.clock.elapsed();
  const attempted = await attemptDelivery(app, { id: webhookId, webhook, event });
  return {
    delivered: attempted?.isDelivered ?? false,
    webhookId,
    responseCode: attempted?.responseCode ?? null,
    responseExcerpt: attempted?.responseExcerpt ?? null,
    error: attempted?.error ?? null,
    durationMs: Math.round(app.clock.elapsed() - startedMs),
  };
}

const testSlots = perApp(({ config }: App) =>
  createFairSlots({ total: MAX_CONCURRENT_CALLS, maxPerOwner: config.quotaWebhookCalls }),
);

export async function sendTest(app: App, webhook: WebhookRow): Promise<TestResult> {
  const { projectSeq } = webhook;
  const slots = testSlots(app);
  if (slots.available(projectSeq) === 0) throw tooManyTests(app);
  slots.acquire(projectSeq);
  return send(app, webhook).finally(() => slots.release(projectSeq));
}

function tooManyTests({ config }: App): AppError {
  // Half of the slots is the fair share of one owner (lib/fair-slots.ts).
  const share = MAX_CONCURRENT_CALLS / 2;
  const most = config.quotaWebhookCalls === 0 ? share : Math.min(share, config.quotaWebhookCalls);
  return quotaExceeded({
    quota: `${most} webhook test calls at once`,
    setting: "--quota-webhook-calls",
    retryAfterSeconds: LONGEST_CALL_SECONDS,
    suggestion: "Wait until the test calls under way have ended; each ends within 10 seconds.",
  });
}
