/** The module of the pages on which recipients unsubscribe and change their preferences. */

import type { App } from "../../core/app.ts";
import type { Db } from "../../db/open.ts";
import type { Writer } from "../../db/writer.ts";
import type { Bodies } from "../../http/body.ts";
import type { Log } from "../../lib/log.ts";
import type { Contacts } from "../contacts/service.ts";
import type { Module } from "../module.ts";
import { subscriptionRoutes } from "./routes.ts";
import { createSubscriptions } from "./service.ts";

export function createSubscriptionModule(deps: {
  bodies: Pick<Bodies, "arrivals">;
  contacts: Contacts;
  db: Db;
  linkKey: Uint8Array;
  log: Log;
  app: App;
  writer: Writer;
}): Module {
  const { arrivals } = deps.bodies;
  const subscriptions = createSubscriptions(deps);
  return {
    name: "subscription",
    routes: [subscriptionRoutes({ ...deps, subscriptions, arrivals })],
  };
}
