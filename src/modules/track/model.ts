/** Request and response of POST /v1/track. */

import { type Static, Type } from "@sinclair/typebox";
import { EmailAddress } from "../../http/formats.ts";
import { Input, withChecks } from "../../http/validation.ts";
import type { FieldError } from "../../lib/errors.ts";
import { trimmedEventName } from "../../lib/event-name.ts";
import { Data } from "../contacts/model.ts";
import { EventName } from "../events/model.ts";
import { isServiceEvent } from "../../events/names.ts";

/** A custom event of a contact (docs/interface.md#track). */
export const TrackInput = withChecks(
  Input({
    event: EventName,
    email: EmailAddress,
    subscribed: Type.Optional(
      Type.Boolean({
        description:
          "If omitted: true for a new contact, unchanged for an existing one. With a public key, " +
          "true does not resubscribe an unsubscribed contact",
      }),
    ),
    data: Type.Optional({
      ...Data,
      description:
        "Stored with the event and merged into the contact's data, where null removes a key. With " +
        "a public key: at most 16 KiB as JSON, and null removes nothing",
    }),
  }),
  reservedNames,
);
export type TrackInput = Static<typeof TrackInput>;

function reservedNames({ event }: Readonly<Record<string, unknown>>): FieldError[] {
  if (typeof event !== "string" || !isServiceEvent(trimmedEventName(event))) return [];
  const message = "is a name that the service reserves for its own events";
  return [{ field: "event", message, code: "reserved_event" }];
}

/** The response to a tracked event (docs/specification.md#s2.6). */
export const TrackedMembers = {
  contact: Type.String({ description: "Contact id" }),
  event: Type.String({ description: "Event id" }),
  timestamp: Type.String({ format: "date-time" }),
};
