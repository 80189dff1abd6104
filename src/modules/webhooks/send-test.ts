/**
 * Sends a test message to a webhook. It is not stored: it is neither an event nor a delivery. The
 * number of concurrent test calls of a project is limited, because each may hang until its timeout.
 */

import { type Clock, isoTime } from "../../lib/clock.ts";
import { createFairSlots } from "../../lib/fair-slots.ts";
import type { AppError } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import { quotaExceeded } from "../quotas/service.ts";
import type { Attempt } from "./attempt.ts";
import type { TestResult } from "./model.ts";
import type { WebhookRow } from "./webhook-rows.ts";

export type SendTest = (webhook: WebhookRow) => Promise<TestResult>;

/** Largest number of concurrent test calls of all projects. */
const MAX_CONCURRENT_CALLS = 32;
/** Timeout of a call (lib/fetch-guarded). */
const LONGEST_CALL_SECONDS = 10;

export function createSendTest(deps: {
  attempt: Attempt;
  clock: Clock;
  /** Largest number of concurrent calls of one project; 0 for no limit but a fair share. */
  mostCallsOfProject: number;
}): SendTest {
  const { attempt, clock, mostCallsOfProject } = deps;
  const slots = createFairSlots({ total: MAX_CONCURRENT_CALLS, maxPerOwner: mostCallsOfProject });
  const mostOfProject = slots.available(0);

  async function send({ seq, url }: WebhookRow): Promise<TestResult> {
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
    const startedMs = clock.elapsed();
    const attempted = await attempt({ id: webhookId, webhookSeq: seq, url, event });
    return {
      delivered: attempted?.isDelivered ?? false,
      webhookId,
      responseCode: attempted?.responseCode ?? null,
      responseExcerpt: attempted?.responseExcerpt ?? null,
      error: attempted?.error ?? null,
      durationMs: Math.round(clock.elapsed() - startedMs),
    };
  }

  return async (webhook) => {
    const { projectSeq } = webhook;
    if (slots.available(projectSeq) === 0) throw tooManyTests(mostOfProject);
    slots.acquire(projectSeq);
    return send(webhook).finally(() => slots.release(projectSeq));
  };
}

function tooManyTests(mostOfProject: number): AppError {
  return quotaExceeded({
    quota: `${mostOfProject} webhook test calls at once`,
    setting: "--quota-webhook-calls",
    retryAfterSeconds: LONGEST_CALL_SECONDS,
    suggestion: "Wait until the test calls under way have ended; each ends within 10 seconds.",
  });
}
