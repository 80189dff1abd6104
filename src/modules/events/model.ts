import { type Static, Type } from "@sinclair/typebox";
import { Nullable } from "../../http/envelope.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input } from "../../http/validation.ts";

/** A name that a caller gives; stored by `trimmedEventName`. */
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
  event: Type.Optional(Type.String({ maxLength: 255, description: "Name, exactly" })),
  email: Type.Optional(Type.String({ maxLength: 320 })),
  contactId: Type.Optional(Type.String()),
  from: Type.Optional(Type.String({ format: "date-time", description: "From this moment on" })),
  to: Type.Optional(Type.String({ format: "date-time", description: "Up to this moment" })),
});
export type EventQuery = Static<typeof EventQuery>;
