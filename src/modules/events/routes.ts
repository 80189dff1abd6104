/**
 * GET /events          list events, filtered by name, contact and time
 * GET /events/names    list unique event names, most used first
 */

import { Elysia } from "elysia";
import type { Admission } from "../../http/admission.ts";
import { envelope, ListEnvelope, withErrors } from "../../http/envelope.ts";
import { PageQuery } from "../../http/pagination.ts";
import type { EventList } from "./list.ts";
import { Event, EventQuery, ShownEventName } from "./model.ts";
import type { EventNameList } from "./names-list.ts";
import { eventOperations } from "./operations.ts";

export function eventRoutes(deps: { admission: Admission; names: EventNameList; list: EventList }) {
  const { admission, names, list } = deps;
  return new Elysia({ name: "event-routes", prefix: "/events" })
    .use(admission.secretKey)
    .get("", async ({ project, query }) => envelope(await list(project.seq, query)), {
      query: EventQuery,
      response: withErrors({ 200: ListEnvelope(Event) }),
      detail: eventOperations.listEvents,
    })
    .get("/names", async ({ project, query }) => envelope(await names(project.seq, query)), {
      query: PageQuery,
      response: withErrors({ 200: ListEnvelope(ShownEventName) }),
      detail: eventOperations.listEventNames,
    });
}
