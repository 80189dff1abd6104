import { type Static, Type } from "@sinclair/typebox";
import { Nullable } from "../../http/envelope.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input } from "../../http/validation.ts";

/** Event name in a request; it is stored as `trimmedEventName` returns it. */
export const EventName = Type.String({ minLength: 1, maxLength: 255, format: "event-name" });

export const Event = Type.Object({
  id: Type.String(),
  name: Type.String(),
  data: Nullable(Type.Record(Type.String(), Type.Unknown())),
  contactId: Nullable(Type.String()),
  contactEmail: Nullable(Type.String({ description: "null once the contact was deleted" })),
  emailId: Nullable(Type.String()),
  createdAt: Type.String({ format: "date-time" }),
});
export type Event = Static<typeof Event>;

export const EventQuery = Input({
  ...PageQuery.properties,
  event: Type.Optional(Type.String({ maxLength: 255, description: "Exact event name" })),
  email: Type.Optional(Type.String({ maxLength: 320 })),
  contactId: Type.Optional(Type.String()),
  from: Type.Optional(
    Type.String({ format: "date-time", description: "Start of the period, included" }),
  ),
  to: Type.Optional(
    Type.String({ format: "date-time", description: "End of the period, included" }),
  ),
});
export type EventQuery = Static<typeof EventQuery>;
