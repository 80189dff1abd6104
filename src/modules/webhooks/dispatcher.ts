/**
 * Sends the deliveries that are due. The rows contain the due times; only the deliveries under way
 * are in memory. After a crash these are still due and are sent again with the same id. Each webhook
 * has a concurrency limit (concurrency.ts). All webhooks of a project share the slots of the project,
 * so webhooks that hang do not delay other projects.
 */

import type { App } from "../../core/app.ts";
import { STORAGE_PAUSE_MS, writeResult } from "../../db/write-result.ts";
import { eventLog } from "../../events/log.ts";
import { announcements } from "../../events/announcements.ts";
import { nextTryAt } from "../../lib/backoff.ts";
import { createFairSlots } from "../../lib/fair-slots.ts";
import { describeError } from "../../lib/log.ts";
import { perApp } from "../../lib/per-app.ts";
import { createWorker, endsWithin } from "../../lib/worker.ts";
import { presentEvent } from "../events/service.ts";
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

/** The state of one webhook that has deliveries. */
type WebhookQueue = {
  webhookSeq: number;
  /** No delivery of the webhook is due before this time. */
  pollAt: number;
  underWay: Set<number>;
};

/**
 * Largest number of concurrent deliveries of all projects. Together with other outgoing requests it
 * is below the number of requests that Bun makes concurrently.
 */
const MAX_CONCURRENT_DELIVERIES = 128;

export const webhookDispatcher = perApp((app: App) => createDispatcher(app));

function createDispatcher(app: App) {
  const { clock, log, config } = app;
  /** The owners of the slots are projects. */
  const slots = createFairSlots({
    total: MAX_CONCURRENT_DELIVERIES,
    maxPerOwner: config.quotaWebhookCalls,
  });
  /** Webhooks with deliveries that are due, will be due or are under way, in round-robin order. */
  const queues = new Map<number, WebhookQueue>();
  const underWay = new Set<Promise<void>>();
  let abortController = new AbortController();
  const worker = createWorker({
    clock,
    step: poll,
    onError: reportError,
    pauseMs: STORAGE_PAUSE_MS,
  });

  function reportError(error: unknown): void {
    log.error("webhook deliveries could not be read", { error: describeError(error) });
  }

  function wake(webhookSeqs: Iterable<number>): void {
    for (const webhookSeq of webhookSeqs) {
      const queue = queues.get(webhookSeq);
      if (queue !== undefined) queue.pollAt = 0;
      else queues.set(webhookSeq, { webhookSeq, pollAt: 0, underWay: new Set() });
    }
    worker.wake();
  }

  /** Starts due deliveries. Returns the delay until the next one is due. */
  function poll(): number | null {
    const now = clock.now();
    // startDue moves each queue to the end of the map, so the loop runs over a copy.
    for (const queue of Array.from(queues.values())) startDue(queue, now);
    let next = Infinity;
    for (const { pollAt } of queues.values()) if (pollAt > now) next = Math.min(next, pollAt);
    return next === Infinity ? null : next - now;
  }

  function startDue(queue: WebhookQueue, now: number): void {
    if (queue.pollAt > now) return;
    const webhook = enabledWebhook(app, queue.webhookSeq);
    if (webhook === null)
      queue.pollAt = Infinity; // wake is called when the webhook is enabled.
    else {
      const limit = deliveryLimit(app, queue.webhookSeq);
      const freeSlots = Math.min(limit - queue.underWay.size, slots.available(webhook.projectSeq));
      if (freeSlots <= 0) return;
      for (const delivery of findStartable(queue, freeSlots, now)) start(queue, webhook, delivery);
    }
    // Round robin: the next poll begins with another webhook.
    queues.delete(queue.webhookSeq);
    if (queue.pollAt < Infinity || queue.underWay.size > 0) queues.set(queue.webhookSeq, queue);
  }

  function findStartable(queue: WebhookQueue, freeSlots: number, now: number): Due[] {
    const { webhookSeq } = queue;
    const limit = freeSlots + queue.underWay.size;
    const due = dueDeliveries(app, webhookSeq, now, limit);
    if (due.length < limit) queue.pollAt = nextDeliveryAt(app, webhookSeq, now) ?? Infinity;
    return due.filter(({ seq }) => !queue.underWay.has(seq)).slice(0, freeSlots);
  }

  function start(queue: WebhookQueue, webhook: CachedWebhook, delivery: Due): void {
    const { id, url, projectSeq } = webhook;
    slots.acquire(projectSeq);
    queue.underWay.add(delivery.seq);
    const work = deliver(queue, url, delivery)
      .catch(reportError)
      .finally(() => {
        slots.release(projectSeq);
        underWay.delete(work);
        announcements(app).announce({ projectSeq, type: "webhook.delivery", id });
        wake([queue.webhookSeq]);
      });
    underWay.add(work);
  }

  async function deliver(queue: WebhookQueue, url: string, delivery: Due): Promise<void> {
    const isStored = await attemptAndStore(app, url, delivery, {
      signal: abortController.signal,
      isStopping: () => !worker.isRunning(),
    });
    // If the result is not stored, the row is still due. The delivery then counts as under way, so
    // that this process does not send it again and again.
    if (isStored) queue.underWay.delete(delivery.seq);
  }

  return {
    /** Polls these webhooks soon. Called when they may have due deliveries. */
    wake,

    start(): void {
      abortController = new AbortController();
      worker.start();
      wake(webhooksWithDue(app));
    },

    /** Waits up to `graceMs` for deliveries under way, then aborts them; those are still due. */
    async stop(graceMs: number): Promise<void> {
      await worker.stop();
      if (await endsWithin(clock, graceMs, Promise.all(underWay))) return;
      abortController.abort();
      await Promise.all(underWay);
    },
  };
}

/** Makes one try of a delivery and stores its result. Resolves to false if it could not be stored. */
async function attemptAndStore(
  app: App,
  url: string,
  delivery: Due,
  /** `isStopping`: if true, a result that the storage refuses is not written again. */
  { signal, isStopping }: { signal: AbortSignal; isStopping: () => boolean },
): Promise<boolean> {
  const { clock, log } = app;
  const { id, webhookSeq } = delivery;
  const event = eventLog(app).find(delivery.eventSeq);
  if (event === null) return true; // The delivery was deleted together with the event.
  const message = { id, webhookSeq, url, event: presentEvent(event) };
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
