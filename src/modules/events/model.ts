import { type Static, Type } from "@sinclair/typebox";
import { described, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input } from "../../http/validation.ts";

/** Event name in a request; it is stored as `trimmedEventName` returns it. */
export const EventName = Type.String({ minLength: 1, maxLength: 255, format: "event-name" });

export const Event = named(
  "Event",
  described(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      data: Nullable(Type.Record(Type.String(), Type.Unknown())),
      contactId: Nullable(Type.String()),
      contactEmail: Nullable(Type.String()),
      emailId: Nullable(Type.String()),
      emailTags: Nullable(Type.Record(Type.String(), Type.String())),
      createdAt: Type.String({ format: "date-time" }),
    }),
    {
      id: "Id of the event",
      name: "Name of the event: chosen by the caller, or one of the service's own such as email.sent",
      data: "Data that was recorded with the event",
      contactId: "Id of the contact that the event concerns",
      contactEmail: "Address of the contact; null once the contact was deleted",
      emailId: "Id of the mail that the event concerns",
      emailTags: "The tags of this mail; null if it has none",
      createdAt: "When the event happened",
    },
  ),
  {
    description: "Something that happened",
    example: {
      id: EXAMPLE.eventId,
      name: "signed_up",
      data: { plan: "pro" },
      contactId: EXAMPLE.contactId,
      contactEmail: "ada@example.com",
      emailId: null,
      emailTags: null,
      createdAt: EXAMPLE.createdAt,
    },
  },
);
export type Event = Static<typeof Event>;

/** An event name in a response. */
export const ShownEventName = named("EventName", Type.String(), {
  description: "Name of an event",
  example: "signed_up",
});

export const EventQuery = Input({
  ...PageQuery.properties,
  event: Type.Optional(Type.String({ maxLength: 255, description: "Exact event name" })),
  email: Type.Optional(
    Type.String({ maxLength: 320, description: "Only events of the contact with this address" }),
  ),
  contactId: Type.Optional(Type.String({ description: "Only events of the contact with this id" })),
  from: Type.Optional(
    Type.String({ format: "date-time", description: "Start of the period, included" }),
  ),
  to: Type.Optional(
    Type.String({ format: "date-time", description: "End of the period, included" }),
  ),
});
export type EventQuery = Static<typeof EventQuery>;
