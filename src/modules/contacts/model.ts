import { type Static, Type } from "@sinclair/typebox";
import { Nullable } from "../../http/envelope.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input, QueryBoolean } from "../../http/validation.ts";

/** Free-form key/value attributes. */
export const Data = Type.Record(Type.String(), Type.Unknown());

export const EmailAddress = Type.String({ format: "email", maxLength: 320 });

/** Specification §2.1. */
export const Contact = Type.Object({
  id: Type.String(),
  email: Type.String(),
  subscribed: Type.Boolean(),
  data: Data,
  createdAt: Type.String({ format: "date-time" }),
  updatedAt: Type.String({ format: "date-time" }),
});
export type Contact = Static<typeof Contact>;

export const UpsertedContact = Type.Object({
  ...Contact.properties,
  _meta: Type.Object({ isNew: Type.Boolean(), isUpdate: Type.Boolean() }),
});

export const ContactInput = Input({
  email: EmailAddress,
  subscribed: Type.Optional(Type.Boolean({ description: "Default true for a new contact" })),
  data: Type.Optional(Nullable(Data)),
});

export const ContactPatch = Input({
  email: Type.Optional(EmailAddress),
  subscribed: Type.Optional(Type.Boolean()),
  data: Type.Optional(Nullable(Data)),
});
export type ContactPatch = Static<typeof ContactPatch>;

export const ContactQuery = Input({
  ...PageQuery.properties,
  subscribed: Type.Optional(QueryBoolean()),
  search: Type.Optional(
    Type.String({ maxLength: 320, description: "Part of the email, in any case" }),
  ),
});
export type ContactQuery = Static<typeof ContactQuery>;

/** Specification §2.9: the one list that is not in the envelope. */
export const ContactList = Type.Object({
  contacts: Type.Array(Contact),
  cursor: Nullable(Type.String()),
  hasMore: Type.Boolean(),
  total: Type.Integer(),
});
