/**
 * Sends the deliveries that are due. The rows contain the due times; only the deliveries under way
 * are in memory. After a crash these are still due and are sent again with the same id. Each webhook
 * has a concurrency limit (concurrency.ts). All webhooks of a project share the slots of the project,
 * so webhooks that hang do not delay other projects.
 */

import { STORAGE_PAUSE_MS, writeResult } from "../../db/write-result.ts";
import type { Writer } from "../../db/writer.ts";
import type { Announcements } from "../../lib/announcements.ts";
import type { Clock } from "../../lib/clock.ts";
import type { FairSlots } from "../../lib/fair-slots.ts";
import { describeError, type Log } from "../../lib/log.ts";
import { createWorker, endsWithin } from "../../lib/worker.ts";
import type { Event } from "../events/model.ts";
import type { Attempt, Attempted } from "./attempt.ts";
import type { CachedWebhook, WebhookCache } from "./cache.ts";
import { type ConcurrencyLimits, createConcurrencyLimits } from "./concurrency.ts";
import type { WebhookHealth } from "./health.ts";
import type { DeliveryRows, Due } from "./rows.ts";
import { nextTryAt } from "../../lib/backoff.ts";
import { DELIVERY_BACKOFF } from "./schedule.ts";

/** The state of one webhook that has deliveries. */
type WebhookQueue = {
  webhookSeq: number;
  /** No delivery of the webhook is due before this time. */
  pollAt: number;
  underWay: Set<number>;
};

type DispatcherDeps = {
  rows: DeliveryRows;
  cache: WebhookCache;
  findEvent: (seq: number) => Event | null;
  attempt: Attempt;
  /** The owners of the slots are projects. */
  slots: FairSlots;
  health: WebhookHealth;
  writer: Writer;
  clock: Clock;
  log: Log;
  random: () => number;
  announcements: Pick<Announcements, "announce">;
};

export function createWebhookDispatcher(deps: DispatcherDeps) {
  const { rows, cache, slots, clock, log, announcements } = deps;
  /** Webhooks with deliveries that are due, will be due or are under way, in round-robin order. */
  const queues = new Map<number, WebhookQueue>();
  const limits = createConcurrencyLimits();
  const underWay = new Set<Promise<void>>();
  let abortController = new AbortController();
  const worker = createWorker({
    clock,
    step: poll,
    onError: (error) =>
      log.error("webhook deliveries could not be read", { error: describeError(error) }),
    pauseMs: STORAGE_PAUSE_MS,
  });
  const attemptAndStore = createStoredAttempt({
    ...deps,
    limits,
    isStopping: () => !worker.isRunning(),
  });

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
    const webhook = cache.get(queue.webhookSeq);
    if (webhook === null)
      queue.pollAt = Infinity; // wake is called when the webhook is enabled.
    else {
      const limit = limits.of(queue.webhookSeq);
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
    const due = rows.due(webhookSeq, now, limit);
    if (due.length < limit) queue.pollAt = rows.nextDueAt(webhookSeq, now) ?? Infinity;
    return due.filter(({ seq }) => !queue.underWay.has(seq)).slice(0, freeSlots);
  }

  function start(queue: WebhookQueue, webhook: CachedWebhook, delivery: Due): void {
    const { id, url, projectSeq } = webhook;
    slots.acquire(projectSeq);
    queue.underWay.add(delivery.seq);
    const work = deliver(queue, url, delivery).finally(() => {
      slots.release(projectSeq);
      underWay.delete(work);
      announcements.announce({ projectSeq, type: "webhook.delivery", id });
      wake([queue.webhookSeq]);
    });
    underWay.add(work);
  }

  async function deliver(queue: WebhookQueue, url: string, delivery: Due): Promise<void> {
    const isStored = await attemptAndStore(url, delivery, abortController.signal);
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
      wake(rows.webhooksWithDue());
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

/**
 * Creates a function that makes one try of a delivery and stores its result. It resolves to false
 * if the result could not be stored.
 */
function createStoredAttempt(
  deps: DispatcherDeps & {
    limits: ConcurrencyLimits;
    /** If true, a result that the storage refuses is not written again. */
    isStopping: () => boolean;
  },
) {
  const { rows, findEvent, attempt, health, limits, isStopping, clock, log, random } = deps;

  /** Treats a defect of this program as a failed try, and logs it. */
  function defect(delivery: string, error: unknown): Attempted {
    log.error("a webhook could not be sent", { delivery, error: describeError(error) });
    return {
      isDelivered: false,
      isGone: false,
      responseCode: null,
      responseExcerpt: null,
      error: "An unexpected error of the server; the log contains its details.",
      retryAfterMs: null,
    };
  }

  /** Part of a change: stores the result of a try. */
  function store(delivery: Due, attempted: Attempted, durationMs: number): void {
    const { isDelivered, isGone, responseCode, responseExcerpt, error, retryAfterMs } = attempted;
    const { webhookSeq } = delivery;
    const now = clock.now();
    const failed = { tries: delivery.attempts + 1, now, retryAfterMs, random: random() };
    const nextAt = isDelivered || isGone ? null : nextTryAt(DELIVERY_BACKOFF, failed);
    const status = isDelivered ? "SUCCEEDED" : nextAt === null ? "FAILED" : "PENDING";
    const result = { responseCode, responseExcerpt, error, durationMs };
    const settled = { status, nextAt, ...result, now } as const;
    if (!rows.settle(delivery, settled)) return;
    if (isDelivered) health.noteSuccess(webhookSeq);
    else health.noteFailure(webhookSeq, isGone, now);
  }

  return async (url: string, delivery: Due, signal: AbortSignal): Promise<boolean> => {
    const { id, webhookSeq } = delivery;
    const event = findEvent(delivery.eventSeq);
    if (event === null) return true; // The delivery was deleted together with the event.
    const message = { id, webhookSeq, url, event };
    const startedMs = clock.elapsed();
    const attempted = await attempt(message, signal).catch((error: unknown) => defect(id, error));
    if (attempted === null) return true;
    const durationMs = Math.round(clock.elapsed() - startedMs);
    limits.adjust(webhookSeq, attempted.isDelivered);
    const { isStored } = await writeResult(deps, () => store(delivery, attempted, durationMs), {
      isStopping,
      error: (error) =>
        log.error("the result of a webhook delivery could not be stored", {
          delivery: id,
          error: describeError(error),
        }),
    });
    return isStored;
  };
}
