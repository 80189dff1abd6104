/** The module of webhooks: what it adds to the server, and which events of other modules it hears. */

import type { App } from "../../core/app.ts";
import type { ContactEvents } from "../../events/contact-events.ts";
import { eventLog } from "../../events/log.ts";
import type { Admission } from "../../http/admission.ts";
import { operationRoutes } from "../../http/operations.ts";
import type { Module } from "../module.ts";
import { webhookDispatcher } from "./dispatcher.ts";
import { webhookFeed } from "./feed.ts";
import { webhookOperations } from "./operations.ts";
import { eraseExcerptsOf, shiftDeliveries } from "./rows.ts";

/** Time for requests under way at the stop. A receiver that is cut off gets the same message again. */
const STOP_GRACE_MS = 3_000;

export function createWebhookModule(deps: {
  app: App;
  admission: Admission;
  eventsOfContact: Pick<ContactEvents, "seqsOf">;
  removal: { onRemove(handler: (contactSeq: number) => void): void };
}): Module {
  const { app, admission, eventsOfContact } = deps;
  const [dispatcher, feed] = [webhookDispatcher(app), webhookFeed(app)];
  eventLog(app).onEvent(feed.onEvent);
  deps.removal.onRemove((contact) => eraseExcerptsOf(app, eventsOfContact.seqsOf(contact)));
  return {
    name: "webhooks",
    routes: [operationRoutes(app, admission, webhookOperations(app))],
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
}
