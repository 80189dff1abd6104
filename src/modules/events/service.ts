/** An event as the API shows it. */

import { isoTime } from "../../lib/clock.ts";
import type { StoredEvent } from "../../events/log.ts";
import { eventDataFor } from "../../http/role-views.ts";
import type { Role } from "../../http/roles.ts";
import type { Event } from "./model.ts";

export function presentEvent({
  id,
  name,
  data,
  contactId,
  contactEmail,
  emailId,
  createdAt,
}: StoredEvent) {
  return {
    id,
    name,
    data: data === null ? null : JSON.parse(data),
    contactId,
    contactEmail,
    emailId,
    createdAt: isoTime(createdAt),
  } satisfies Event;
}

/** The event as a role sees it. */
export function readableEvent<Shown extends Pick<Event, "name" | "data">>(
  role: Role | null,
  event: Shown,
): Shown {
  return { ...event, data: eventDataFor(role, event.name, event.data) };
}
