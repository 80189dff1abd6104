/**
 * Sends the deliveries that are due (lib/call-queues.ts). Each webhook has a concurrency limit
 * (concurrency.ts). All webhooks of a project share the slots of the project, so webhooks that hang
 * do not delay other projects. After a crash, deliveries under way are sent again with the same id.
 */

import type { App } from "../../core/app.ts";
import { statement } from "../../db/statement.ts";
import { writeResult } from "../../db/write-result.ts";
import { eventLog } from "../../events/log.ts";
import { announcements } from "../../events/announcements.ts";
import { nextTryAt } from "../../lib/backoff.ts";
import { type CallStop, createCallQueues } from "../../lib/call-queues.ts";
import { describeError } from "../../lib/log.ts";
import { perApp } from "../../lib/per-app.ts";
import { queueHold } from "../../outbox/queue-hold.ts";
import { presentEvent } from "../events/events.ts";
import { attemptDelivery, type Attempted } from "./attempt.ts";
import { adjustDeliveryLimit, deliveryLimit } from "./concurrency.ts";
import {
  type Due,
  dueDeliveries,
  nextDeliveryAt,
  settleDelivery,
  webhooksWithDue,
} from "./rows.ts";
import { DELIVERY_BACKOFF } from "./schedule.ts";
import { type CachedWebhook, enabledWebhook, noteFailure, noteSuccess } from "./webhooks.ts";

/**
 * Largest number of concurrent deliveries of all projects. Together with other outgoing requests it
 * is below the number of requests that Bun makes concurrently.
 */
const MAX_CONCURRENT_DELIVERIES = 128;

/** The queue of each webhook; it is woken when the webhook may have due deliveries. */
export const webhookDispatcher = perApp((app: App) =>
  createCallQueues<CachedWebhook, Due>({
    clock: app.clock,
    maxCalls: MAX_CONCURRENT_DELIVERIES,
    maxCallsPerProject: app.config.quotaWebhookCalls,
    repeatAfterMs: 0,
    findQueues: () => webhooksWithDue(app),
    findReceiver: (webhookSeq) => (queueHold(app).isHeld() ? null : receiverOf(app, webhookSeq)),
    findDue: (webhookSeq, now, limit) => dueDeliveries(app, webhookSeq, now, limit),
    nextDueAt: (webhookSeq, now) => nextDeliveryAt(app, webhookSeq, now),
    maxConcurrent: (webhookSeq) => deliveryLimit(app, webhookSeq),
    make: (delivery, webhook, stop) =>
      attemptAndStore(app, webhook, delivery, stop).finally(() =>
        announcements(app).announce({
          projectSeq: webhook.projectSeq,
          type: "webhook.delivery",
          id: webhook.id,
        }),
      ),
    onError: (error) =>
      app.log.error("webhook deliveries could not be read", { error: describeError(error) }),
  }),
);

const isEnabled = statement<{ yes: number }, [number]>(
  "SELECT is_enabled AS yes FROM projects WHERE seq = +?",
);

/** The deliveries of a disabled project wait. */
function receiverOf(app: App, webhookSeq: number): CachedWebhook | null {
  const webhook = enabledWebhook(app, webhookSeq);
  return webhook !== null && isEnabled(app).get(webhook.projectSeq)?.yes === 1 ? webhook : null;
}

/** Makes one try of a delivery and stores its result. Resolves to false if it could not be stored. */
async function attemptAndStore(
  app: App,
  webhook: CachedWebhook,
  delivery: Due,
  { signal, isStopping }: CallStop,
): Promise<boolean> {
  const { clock, log } = app;
  const { id, webhookSeq } = delivery;
  const event = eventLog(app).find(delivery.eventSeq);
  if (event === null) return true; // The delivery was deleted together with the event.
  const message = { id, webhook, event: presentEvent(event) };
  const startedMs = clock.elapsed();
  const attempted = await attemptDelivery(app, message, signal).catch((error: unknown) => {
    log.error("a webhook could not be sent", { delivery: id, error: describeError(error) });
    return DEFECT;
  });
  if (attempted === null) return true;
  const durationMs = Math.round(clock.elapsed() - startedMs);
  adjustDeliveryLimit(app, webhookSeq, attempted.isDelivered);
  const { isStored } = await writeResult(app, () => store(app, delivery, attempted, durationMs), {
    isStopping,
    error: (error) =>
      log.error("the result of a webhook delivery could not be stored", {
        delivery: id,
        error: describeError(error),
      }),
  });
  return isStored;
}

/** The result of a try that failed because of a defect of this program. */
const DEFECT: Attempted = {
  isDelivered: false,
  isGone: false,
  responseCode: null,
  responseExcerpt: null,
  error: "An unexpected error of the server; the log contains its details.",
  retryAfterMs: null,
};

/** Part of a change: stores the result of a try. */
function store(app: App, delivery: Due, attempted: Attempted, durationMs: number): void {
  const { isDelivered, isGone, responseCode, responseExcerpt, error, retryAfterMs } = attempted;
  const { webhookSeq } = delivery;
  const now = app.clock.now();
  const failed = { tries: delivery.attempts + 1, now, retryAfterMs, random: app.random() };
  const nextAt = isDelivered || isGone ? null : nextTryAt(DELIVERY_BACKOFF, failed);
  const status = isDelivered ? "SUCCEEDED" : nextAt === null ? "FAILED" : "PENDING";
  const result = { responseCode, responseExcerpt, error, durationMs };
  if (!settleDelivery(app, delivery, { status, nextAt, ...result, now })) return;
  if (isDelivered) noteSuccess(app, webhookSeq);
  else noteFailure(app, webhookSeq, isGone, now);
}
