/** Request and response of POST /v1/track. */

import { type Static, Type } from "@sinclair/typebox";
import { described, named } from "../../http/documented.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { EmailAddress } from "../../http/formats.ts";
import { Input, withChecks } from "../../http/validation.ts";
import type { FieldError } from "../../lib/errors.ts";
import { trimmedEventName } from "../../lib/event-name.ts";
import { Data } from "../contacts/model.ts";
import { EventName } from "../events/model.ts";
import { isServiceEvent } from "../../lib/service-events.ts";

/** A custom event of a contact (docs/interface.md#track). */
export const TrackInput = named(
  "TrackInput",
  withChecks(
    described(
      Input({
        event: EventName,
        email: EmailAddress,
        subscribed: Type.Optional(Type.Boolean()),
        data: Type.Optional(Data),
      }),
      {
        event: "Name of the event; names of the service's own events are refused",
        email: "Address of the contact, which is created if no contact has it",
        subscribed:
          "If omitted: true for a new contact, unchanged for an existing one. With a public key, " +
          "true does not resubscribe an unsubscribed contact",
        data:
          "Stored with the event and merged into the contact's data, where null removes a key. " +
          "With a public key: at most 16 KiB as JSON, and null removes nothing",
      },
    ),
    reservedNames,
  ),
  {
    description: "A custom event to record",
    example: { event: "signed_up", email: "ada@example.com", data: { plan: "pro" } },
  },
);
export type TrackInput = Static<typeof TrackInput>;

function reservedNames({ event }: Readonly<Record<string, unknown>>): FieldError[] {
  if (typeof event !== "string" || !isServiceEvent(trimmedEventName(event))) return [];
  const message = "is a name that the service reserves for its own events";
  return [{ field: "event", message, code: "reserved_event" }];
}

/** The response to a tracked event (docs/specification.md#s2.6). */
export const TrackedEvent = named(
  "TrackedEvent",
  described(
    Type.Object({
      contact: Type.String(),
      event: Type.String(),
      timestamp: Type.String({ format: "date-time" }),
    }),
    {
      contact: "Id of the contact",
      event: "Id of the event",
      timestamp: "When the event was recorded",
    },
  ),
  {
    description: "An event that was recorded",
    example: {
      contact: EXAMPLE.contactId,
      event: EXAMPLE.eventId,
      timestamp: EXAMPLE.createdAt,
    },
  },
);
