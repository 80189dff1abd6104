/**
 * GET /events          list events, filtered by name, contact and time
 * GET /events/names    list unique event names, most used first
 * GET /events/{id}     one event
 */

import { Elysia } from "elysia";
import type { App } from "../../core/app.ts";
import type { Admission } from "../../http/admission.ts";
import { Envelope, envelope, IdParams, ListEnvelope, withErrors } from "../../http/envelope.ts";
import { PageQuery } from "../../http/pagination.ts";
import { notFound } from "../../lib/errors.ts";
import type { FindEvent } from "./find.ts";
import type { EventList } from "./list.ts";
import { Event, EventQuery, ShownEventName } from "./model.ts";
import { listEventNames } from "./names-list.ts";
import { eventOperations } from "./operations.ts";
import { readableEvent } from "./service.ts";

export function eventRoutes(deps: {
  app: App;
  admission: Admission;
  list: EventList;
  find: FindEvent;
}) {
  const { app, admission, list, find } = deps;
  return new Elysia({ name: "event-routes", prefix: "/events" })
    .use(admission.secretKey)
    .get(
      "",
      async ({ project, role, query }) => {
        const { items, ...page } = await list(project.seq, query);
        return envelope({ ...page, items: items.map((event) => readableEvent(role, event)) });
      },
      {
        query: EventQuery,
        response: withErrors({ 200: ListEnvelope(Event) }),
        detail: eventOperations.listEvents,
      },
    )
    .get(
      "/names",
      async ({ project, query }) => envelope(await listEventNames(app, project, query)),
      {
        query: PageQuery,
        response: withErrors({ 200: ListEnvelope(ShownEventName) }),
        detail: eventOperations.listEventNames,
      },
    )
    .get(
      "/:id",
      ({ project, role, params }) => {
        const event = find(project.seq, params.id);
        if (event === null) throw notFound("EVENT");
        return envelope(readableEvent(role, event));
      },
      {
        params: IdParams,
        response: withErrors({ 200: Envelope(Event) }),
        detail: eventOperations.getEvent,
      },
    );
}
