/** The module of events: it lists the event log and the names of events. */

import type { App } from "../../core/app.ts";
import type { ContactEvents } from "../../events/contact-events.ts";
import type { Admission } from "../../http/admission.ts";
import type { ListPage } from "../../http/pagination.ts";
import type { Module } from "../module.ts";
import { createFindEvent } from "./find.ts";
import { createEventList } from "./list.ts";
import { eventRoutes } from "./routes.ts";

export function createEventModule(deps: {
  admission: Admission;
  listPage: ListPage;
  app: App;
  eventsOfContact: ContactEvents;
}): Module {
  const { app, admission, eventsOfContact } = deps;
  const list = createEventList({ ...deps, ofContact: eventsOfContact });
  return {
    name: "events",
    routes: [eventRoutes({ app, admission, list, find: createFindEvent(app.db) })],
  };
}
