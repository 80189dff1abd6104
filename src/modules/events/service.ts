/** An event as the API shows it. */

import { isoTime } from "../../lib/clock.ts";
import type { StoredEvent } from "../../events/log.ts";
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
