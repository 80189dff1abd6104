/** The module of webhooks: what it adds to the server, and which events of other modules it hears. */

import type { App } from "../../core/app.ts";
import { eventLog } from "../../events/log.ts";
import { operationRoutes } from "../../http/operations.ts";
import type { Module } from "../module.ts";
import { webhookDispatcher } from "./dispatcher.ts";
import { webhookFeed } from "./feed.ts";
import { webhookOperations } from "./operations.ts";
import { eraseExcerptsOf, shiftDeliveries } from "./rows.ts";
import { perApp } from "../../lib/per-app.ts";
import { admissionOf } from "../admission.ts";
import { contactRemoval } from "../contacts/remove.ts";
import { eventsOfContact } from "../../events/contact-events.ts";

/** Time for requests under way at the stop. A receiver that is cut off gets the same message again. */
const STOP_GRACE_MS = 3_000;

export const webhookModule = perApp((app: App): Module => {
  const [dispatcher, feed] = [webhookDispatcher(app), webhookFeed(app)];
  eventLog(app).onEvent(feed.onEvent);
  contactRemoval(app).onRemove((contact) =>
    eraseExcerptsOf(app, eventsOfContact(app).seqsOf(contact)),
  );
  return {
    name: "webhooks",
    routes: [operationRoutes(app, admissionOf(app), webhookOperations(app))],
    recurring: [{ name: "webhooks", pattern: "41 * * * * *", run: feed.advancePosition }],
    dueTimes: [(shift) => shiftDeliveries(app, shift)],
    wake: dispatcher.wakeAll,

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
});
