/** The module of events: it lists the event log and the names of events. */

import type { Db } from "../../db/open.ts";
import type { ContactEvents } from "../../events/contact-events.ts";
import type { Admission } from "../../http/admission.ts";
import type { ListPage } from "../../http/pagination.ts";
import type { FairScheduler } from "../../lib/slice-queue.ts";
import type { Module } from "../module.ts";
import { createFindEvent } from "./find.ts";
import { createEventList } from "./list.ts";
import { createEventNameList } from "./names-list.ts";
import { eventRoutes } from "./routes.ts";

export function createEventModule(deps: {
  admission: Admission;
  listPage: ListPage;
  db: Db;
  eventsOfContact: ContactEvents;
  scheduler: FairScheduler;
}): Module {
  const { admission, eventsOfContact } = deps;
  const names = createEventNameList(deps);
  const list = createEventList({ ...deps, ofContact: eventsOfContact });
  return {
    name: "events",
    routes: [eventRoutes({ admission, names, list, find: createFindEvent(deps.db) })],
  };
}
