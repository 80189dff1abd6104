/** The routes, workers and event handlers that webhooks add to the server. */

import { operationRoutes } from "../../http/operations.ts";
import { contactRemoval } from "../contacts/remove.ts";
import { queueHold } from "../../outbox/queue-hold.ts";
import type { Noun } from "../module.ts";
import { webhookDispatcher } from "./dispatcher.ts";
import { webhookFeed } from "./feed.ts";
import { webhookOperations } from "./operations.ts";
import { eraseExcerptsOf, shiftDeliveries } from "./rows.ts";

/** Time for requests under way at the stop. A receiver that is cut off gets the same message again. */
const STOP_GRACE_MS = 3_000;

export const webhookNoun: Noun = {
  name: "webhooks",
  routes: (app, admission) => [operationRoutes(app, admission, webhookOperations(app))],
  connect(app) {
    contactRemoval(app).onForgetEvents((events) => eraseExcerptsOf(app, events));
    queueHold(app).onReleased(() => webhookDispatcher(app).wakeAll());
  },
  onEvent: (app) => webhookFeed(app).onEvent(),
  recurring: [
    { name: "webhooks", pattern: "41 * * * * *", run: (app) => webhookFeed(app).advancePosition() },
    // A command in another process may have enabled a project.
    {
      name: "webhook deliveries",
      pattern: "43 * * * * *",
      run: async (app) => webhookDispatcher(app).wakeAll(),
    },
  ],
  dueTimes: [shiftDeliveries],
  wake: (app) => webhookDispatcher(app).wakeAll(),

  async start(app) {
    webhookDispatcher(app).start();
    webhookFeed(app).start();
  },

  /** Deliveries that do not end in time are still due. */
  async stop(app) {
    const ended = webhookDispatcher(app).stop(STOP_GRACE_MS);
    await webhookFeed(app).stop();
    await ended;
  },
};
