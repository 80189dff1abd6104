/** Makes the parts of webhooks: what routes need, and what runs beside them. */

import type { Db } from "../../db/open.ts";
import type { Writer } from "../../db/writer.ts";
import type { Cursors } from "../../http/pagination.ts";
import type { Clock } from "../../lib/clock.ts";
import { createFairSlots } from "../../lib/fair-slots.ts";
import type { FetchGuarded } from "../../lib/fetch-guarded/fetch-guarded.ts";
import type { Log } from "../../lib/log.ts";
import { createReader } from "../events/reader.ts";
import type { Events } from "../events/service.ts";
import { createAttempt } from "./attempt.ts";
import { createDeliveries } from "./deliveries.ts";
import { createWebhookDispatcher } from "./dispatcher.ts";
import { createFeed } from "./feed.ts";
import { createRoster } from "./roster.ts";
import { createDeliveryRows } from "./rows.ts";
import { createSecrets } from "./secrets.ts";
import { createWebhooks } from "./service.ts";
import { createSendTest } from "./try-out.ts";

/** Deliveries at once, of all projects. Together with other requests, fewer than Bun makes at once. */
const MOST_DELIVERIES = 128;

export function createWebhookParts(deps: {
  db: Db;
  writer: Writer;
  clock: Clock;
  log: Log;
  cursors: Cursors;
  events: Events;
  fetchGuarded: FetchGuarded;
  sealKey: Uint8Array;
  random: () => number;
  /** Deliveries of one project at once; 0 for no limit but a fair share. */
  mostCallsOfProject: number;
}) {
  const { db, writer, clock, log, cursors, events, fetchGuarded, random } = deps;
  const { mostCallsOfProject } = deps;
  const secrets = createSecrets(deps.sealKey);
  const reader = createReader({ db, name: "webhooks" });
  const roster = createRoster(db);
  const rows = createDeliveryRows(db);
  const webhooks = createWebhooks({ db, clock, cursors, events, reader, roster, secrets });
  const attempt = createAttempt({ db, clock, secrets, fetchGuarded });
  const dispatcher = createWebhookDispatcher({
    rows,
    roster,
    findEvent: events.find,
    attempt,
    slots: createFairSlots({ total: MOST_DELIVERIES, mostOfOwner: mostCallsOfProject }),
    webhooks,
    writer,
    clock,
    log,
    random,
  });
  const feed = createFeed({ reader, roster, rows, writer, clock, log, onRows: dispatcher.wake });
  events.onFact(feed.note);

  return {
    webhooks,
    deliveries: createDeliveries({ db, clock, cursors, rows }),
    sendTest: createSendTest({ attempt, clock, mostCallsOfProject }),
    wake: dispatcher.wake,
    /** The clock was set: what is due may be due at another moment. */
    wakeAll: () => dispatcher.wake(rows.lanes()),
    /** Part of a change. */
    shift: rows.shift,

    /** Recurring work. */
    keepUp: feed.keepUp,

    start(): void {
      dispatcher.start();
      feed.start();
    },

    /** What is under way may end within `graceMs`; all that did not is due still. */
    async stop(graceMs: number): Promise<void> {
      const ended = dispatcher.stop(graceMs);
      await feed.stop();
      await ended;
    },
  };
}
