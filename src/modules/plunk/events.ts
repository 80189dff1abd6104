/**
 * POST /plunk/events/track     records an event of a contact, by its id
 * GET  /plunk/events           the newest events
 * GET  /plunk/events/names     the names of events, most used first
 */

import { type Static, Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { App } from "../../core/app.ts";
import { eventLog } from "../../events/log.ts";
import type { Admission } from "../../http/admission.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { imitated } from "../../http/documented.ts";
import { Nullable, withErrors } from "../../http/envelope.ts";
import { PLUNK } from "../../http/route-path.ts";
import { Input } from "../../http/validation.ts";
import { isoTime } from "../../lib/clock.ts";
import { fieldError } from "../../lib/errors.ts";
import { trimmedEventName } from "../../lib/event-name.ts";
import { isServiceEvent } from "../../lib/service-events.ts";
import { parseData, resolvedData, serializeData } from "../contacts/data.ts";
import { Data } from "../contacts/model.ts";
import { contactService } from "../contacts/service.ts";
import { listEventNames, listEvents, readableEvent } from "../events/events.ts";
import type { Event } from "../events/model.ts";
import { readPages } from "./pages.ts";
import { numberIn, requireFields } from "./shapes.ts";

const PlunkEvent = Type.Object({
  id: Type.String(),
  name: Type.String(),
  data: Type.Unknown(),
  contactId: Nullable(Type.String()),
  emailId: Nullable(Type.String()),
  projectId: Type.String(),
  createdAt: Type.String(),
});

const TrackInput = Input({
  name: Type.Optional(Type.String({ maxLength: 255 })),
  contactId: Type.Optional(Type.String()),
  emailId: Type.Optional(Nullable(Type.String())),
  data: Type.Optional(Nullable(Data)),
});

const MAX_EVENTS = 100;
/** Reading stops with the page that reaches this number of names. */
const MAX_NAMES = 1_000;

export function plunkEventRoutes(app: App, admission: Admission) {
  return new Elysia({ name: "plunk-event-routes", prefix: `${PLUNK}/events` })
    .use(admission.secretKey)
    .post(
      "/track",
      ({ project, body, once }) => {
        const { name: given = "", contactId, emailId = null, data = null } = body;
        requireFields(body, ["name"]);
        const name = trimmedEventName(given);
        if (isServiceEvent(name)) {
          throw fieldError("name", "reserved_event", "is a name that the service reserves");
        }
        if (contactId === undefined) throw fieldError("contactId", "required", "is required");
        if (emailId !== null) throw fieldError("emailId", "invalid_value", "is not supported");
        const json = data === null ? undefined : serializeData(resolvedData(data));
        return once(() => () => {
          const contact = contactService(app).get(project.seq, contactId);
          const at = app.clock.now();
          const recorded = { projectSeq: project.seq, name, contactSeq: contact.seq, json, at };
          const id = eventLog(app).record(recorded);
          const stored = json === undefined ? null : parseData(json);
          const event = { id, name, data: stored, contactId, emailId, createdAt: isoTime(at) };
          return { status: 201, body: present(project.id, event) };
        });
      },
      {
        body: limited(TrackInput, BODY_LIMITS.data),
        response: withErrors({ 201: PlunkEvent }),
        detail: imitated("trackEvent", "EDITOR", { isAudited: false }),
      },
    )
    .get(
      "",
      async ({ project, role, query }) => {
        const { eventName, limit } = query;
        const size = numberIn("limit", limit, { otherwise: MAX_EVENTS, maximum: MAX_EVENTS });
        const page = await listEvents(app, project.seq, {
          limit: String(size),
          ...(eventName === undefined ? {} : { event: eventName }),
        });
        const events = page.items.map((event) => present(project.id, readableEvent(role, event)));
        return { events };
      },
      {
        query: Input({
          eventName: Type.Optional(Type.String({ maxLength: 255 })),
          limit: Type.Optional(Type.String()),
        }),
        response: withErrors({ 200: Type.Object({ events: Type.Array(PlunkEvent) }) }),
        detail: imitated("listEvents", "VIEWER"),
      },
    )
    .get(
      "/names",
      async ({ project }) => {
        const names: string[] = [];
        const pages = readPages((position) =>
          listEventNames(app, project, { limit: "100", ...position }),
        );
        for await (const { items } of pages) {
          names.push(...items);
          if (names.length >= MAX_NAMES) break;
        }
        return { eventNames: names };
      },
      {
        response: withErrors({ 200: Type.Object({ eventNames: Type.Array(Type.String()) }) }),
        detail: imitated("listEventNames", "VIEWER"),
      },
    );
}

type Shown = Pick<Event, "id" | "name" | "data" | "contactId" | "emailId" | "createdAt">;

function present(projectId: string, event: Shown): Static<typeof PlunkEvent> {
  const { id, name, data, contactId, emailId, createdAt } = event;
  return { id, name, data, contactId, emailId, projectId, createdAt };
}
