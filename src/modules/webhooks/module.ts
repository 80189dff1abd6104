/**
 * Webhooks: they send the events of a project to its URLs. This file connects the parts. In order:
 *
 * 1. service.ts stores webhooks (webhook-rows.ts) with sealed secrets (secrets.ts); cache.ts holds
 *    the enabled ones in memory with their event patterns (patterns.ts).
 * 2. feed.ts reads the event log and stores one delivery for each event and matching webhook
 *    (rows.ts). A later event of a contact waits for an earlier one during its first tries.
 * 3. dispatcher.ts sends due deliveries within the slots of the project and the concurrency limit of
 *    the webhook (concurrency.ts). attempt.ts makes one signed request and reads its response.
 * 4. schedule.ts decides when a failed delivery is tried again. health.ts disables a webhook that
 *    only fails.
 * 5. deliveries.ts lists and retries deliveries for the API; send-test.ts sends a test message.
 * 6. When a contact is deleted, the stored responses to its events are erased, because a receiver may
 *    have repeated the data of the contact.
 */

import type { Config } from "../../config/settings.ts";
import type { Db } from "../../db/open.ts";
import { createSlicedCount } from "../../db/sliced-count.ts";
import type { Writer } from "../../db/writer.ts";
import type { Admission } from "../../http/admission.ts";
import type { ListPage } from "../../http/pagination.ts";
import type { Announcements } from "../../lib/announcements.ts";
import type { Clock } from "../../lib/clock.ts";
import { deriveKey } from "../../lib/crypto.ts";
import { createFairSlots } from "../../lib/fair-slots.ts";
import type { FairScheduler } from "../../lib/slice-queue.ts";
import type { FetchGuarded } from "../../protocols/fetch-guarded/fetch-guarded.ts";
import type { Log } from "../../lib/log.ts";
import type { ContactEvents } from "../../events/contact-events.ts";
import { createReader } from "../../events/reader.ts";
import type { EventLog } from "../../events/log.ts";
import type { Module } from "../module.ts";
import { presentEvent } from "../events/service.ts";
import { createDeliveryAttempt } from "./attempt.ts";
import { createDeliveries } from "./deliveries.ts";
import { deliveryRoutes } from "./delivery-routes.ts";
import { createWebhookDispatcher } from "./dispatcher.ts";
import { createFeed } from "./feed.ts";
import { createWebhookHealth } from "./health.ts";
import { createWebhookCache } from "./cache.ts";
import { webhookRoutes } from "./routes.ts";
import { createDeliveryRows } from "./rows.ts";
import { createSecrets } from "./secrets.ts";
import { createWebhooks } from "./service.ts";
import { createSendTest } from "./send-test.ts";
import { createWebhookRows } from "./webhook-rows.ts";

/**
 * Largest number of concurrent deliveries of all projects. Together with other outgoing requests it
 * is below the number of requests that Bun makes concurrently.
 */
const MAX_CONCURRENT_DELIVERIES = 128;
/** Time for requests under way at the stop. A receiver that is cut off gets the same message again. */
const STOP_GRACE_MS = 3_000;

export function createWebhookModule(deps: {
  db: Db;
  writer: Writer;
  clock: Clock;
  log: Log;
  listPage: ListPage;
  events: EventLog;
  eventsOfContact: Pick<ContactEvents, "seqsOf">;
  removal: { onRemove(handler: (contactSeq: number) => void): void };
  fetchGuarded: FetchGuarded;
  secret: string;
  random: () => number;
  scheduler: FairScheduler;
  announcements: Announcements;
  config: Pick<Config, "quotaWebhookCalls" | "allowPrivateAddresses">;
  admission: Admission;
}): Module {
  const { db, writer, clock, log, listPage, events, fetchGuarded, random } = deps;
  const { quotaWebhookCalls: mostCallsOfProject, allowPrivateAddresses } = deps.config;
  const secrets = createSecrets(deriveKey(deps.secret, "webhook-secrets"));
  const reader = createReader({ db, name: "webhooks" });
  const cache = createWebhookCache(db);
  const rows = createDeliveryRows(db);
  const webhookRows = createWebhookRows({ db, cache });
  const webhooks = createWebhooks({ db, clock, listPage, webhookRows, reader, cache, secrets });
  const attempt = createDeliveryAttempt({ db, clock, secrets, fetchGuarded });
  function findEvent(seq: number) {
    const event = events.find(seq);
    return event === null ? null : presentEvent(event);
  }
  const dispatcher = createWebhookDispatcher({
    rows,
    cache,
    findEvent,
    attempt,
    slots: createFairSlots({ total: MAX_CONCURRENT_DELIVERIES, maxPerOwner: mostCallsOfProject }),
    health: createWebhookHealth({ webhookRows, events }),
    writer,
    clock,
    log,
    random,
    announcements: deps.announcements,
  });
  const feed = createFeed({ reader, cache, rows, writer, clock, log, onRows: dispatcher.wake });
  events.onEvent(feed.onEvent);
  deps.removal.onRemove((contactSeq) =>
    rows.eraseExcerpts(deps.eventsOfContact.seqsOf(contactSeq)),
  );

  const deliveries = createDeliveries({
    db,
    clock,
    listPage,
    rows,
    findEvent,
    count: createSlicedCount(deps),
  });
  const sendTest = createSendTest({ attempt, clock, mostCallsOfProject });
  const { wake } = dispatcher;
  const { admission } = deps;

  return {
    name: "webhooks",
    routes: [
      webhookRoutes({
        admission,
        webhooks,
        sendTest,
        wake,
        allowPrivateAddresses,
      }),
      deliveryRoutes({ admission, webhooks, deliveries, wake }),
    ],
    recurring: [{ name: "webhooks", pattern: "41 * * * * *", run: feed.advancePosition }],
    dueTimes: [rows.shift],
    wake: () => wake(rows.webhooksWithDue()),

    async start(): Promise<void> {
      dispatcher.start();
      feed.start();
    },

    /** Deliveries that do not end in time are still due. */
    async stop(): Promise<void> {
      const ended = dispatcher.stop(STOP_GRACE_MS);
      await feed.stop();
      await ended;
    },
  };
}
