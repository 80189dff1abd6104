/** An event as it is read from the database and as the API shows it. */

import { isoTime } from "../../lib/clock.ts";
import type { Event } from "./model.ts";

export type StoredEvent = {
  id: string;
  name: string;
  data: string | null;
  contactId: string | null;
  contactEmail: string | null;
  emailId: string | null;
  createdAt: number;
};

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
