/**
 * Webhooks: they send the events of a project to its URLs. This file connects the parts. In order:
 *
 * 1. service.ts stores webhooks with sealed secrets (secrets.ts); cache.ts holds the enabled ones in
 *    memory with their event patterns (patterns.ts).
 * 2. feed.ts reads the event log and stores one delivery for each event and matching webhook
 *    (rows.ts). A later event of a contact waits for an earlier one during its first tries.
 * 3. dispatcher.ts sends due deliveries within the slots of the project. attempt.ts makes one signed
 *    request and reads its response.
 * 4. schedule.ts decides when a failed delivery is tried again, and when a webhook that only fails
 *    is disabled.
 * 5. deliveries.ts lists and retries deliveries for the API; send-test.ts sends a test message.
 */

import type { Db } from "../../db/open.ts";
import type { Writer } from "../../db/writer.ts";
import type { Cursors } from "../../http/pagination.ts";
import type { Clock } from "../../lib/clock.ts";
import { createFairSlots } from "../../lib/fair-slots.ts";
import type { FetchGuarded } from "../../protocols/fetch-guarded/fetch-guarded.ts";
import type { Log } from "../../lib/log.ts";
import { createReader } from "../../events/reader.ts";
import type { EventLog } from "../../events/log.ts";
import { presentEvent } from "../events/present.ts";
import { createAttempt } from "./attempt.ts";
import { createDeliveries } from "./deliveries.ts";
import { createWebhookDispatcher } from "./dispatcher.ts";
import { createFeed } from "./feed.ts";
import { createWebhookCache } from "./cache.ts";
import { createDeliveryRows } from "./rows.ts";
import { createSecrets } from "./secrets.ts";
import { createWebhooks } from "./service.ts";
import { createSendTest } from "./send-test.ts";

/**
 * Largest number of concurrent deliveries of all projects. Together with other outgoing requests it
 * is below the number of requests that Bun makes concurrently.
 */
const MAX_CONCURRENT_DELIVERIES = 128;

export function createWebhookModule(deps: {
  db: Db;
  writer: Writer;
  clock: Clock;
  log: Log;
  cursors: Cursors;
  events: EventLog;
  fetchGuarded: FetchGuarded;
  sealKey: Uint8Array;
  random: () => number;
  /** Largest number of concurrent deliveries of one project; 0 for no limit but a fair share. */
  mostCallsOfProject: number;
}) {
  const { db, writer, clock, log, cursors, events, fetchGuarded, random } = deps;
  const { mostCallsOfProject } = deps;
  const secrets = createSecrets(deps.sealKey);
  const reader = createReader({ db, name: "webhooks" });
  const cache = createWebhookCache(db);
  const rows = createDeliveryRows(db);
  const webhooks = createWebhooks({ db, clock, cursors, events, reader, cache, secrets });
  const attempt = createAttempt({ db, clock, secrets, fetchGuarded });
  const dispatcher = createWebhookDispatcher({
    rows,
    cache,
    findEvent(seq) {
      const event = events.find(seq);
      return event === null ? null : presentEvent(event);
    },
    attempt,
    slots: createFairSlots({ total: MAX_CONCURRENT_DELIVERIES, maxPerOwner: mostCallsOfProject }),
    webhooks,
    writer,
    clock,
    log,
    random,
  });
  const feed = createFeed({ reader, cache, rows, writer, clock, log, onRows: dispatcher.wake });
  events.onEvent(feed.onEvent);

  return {
    webhooks,
    deliveries: createDeliveries({ db, clock, cursors, rows }),
    sendTest: createSendTest({ attempt, clock, mostCallsOfProject }),
    wake: dispatcher.wake,
    /** Polls all webhooks with due times again after the clock was set. */
    wakeAll: () => dispatcher.wake(rows.webhooksWithDue()),
    /** Part of a change: moves due times after the clock was set. */
    shift: rows.shift,

    /** Recurring work: stores the position of the reader. */
    keepUp: feed.advancePosition,

    start(): void {
      dispatcher.start();
      feed.start();
    },

    /** Waits up to `graceMs` for deliveries under way; those that have not ended are still due. */
    async stop(graceMs: number): Promise<void> {
      const ended = dispatcher.stop(graceMs);
      await feed.stop();
      await ended;
    },
  };
}
