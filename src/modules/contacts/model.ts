/** Requests and responses of contacts. */

import { type Static, Type } from "@sinclair/typebox";
import { EMAIL_SOURCES, EMAIL_STATUSES } from "../../db/schema/emails.ts";
import { Nullable } from "../../http/envelope.ts";
import { EmailAddress } from "../../http/formats.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input, OneOf, QueryBoolean } from "../../http/validation.ts";

/** Free-form key/value attributes. */
export const Data = Type.Record(Type.String(), Type.Unknown());

/** A contact in responses (docs/specification.md#s2.1). */
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
  subscribed: Type.Optional(
    Type.Boolean({
      description: "If omitted: true for a new contact, unchanged for an existing one",
    }),
  ),
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
    Type.String({
      maxLength: 320,
      description: "Part of the email address, ignoring upper and lower case",
    }),
  ),
});
export type ContactQuery = Static<typeof ContactQuery>;

/**
 * The only list without the response envelope (docs/specification.md#s2.9). `items` and
 * `nextCursor`, which all other lists have, repeat `contacts` and `cursor`, so that generic clients
 * can read it too.
 */
export const ContactPage = Type.Object({
  contacts: Type.Array(Contact),
  cursor: Nullable(Type.String()),
  items: Type.Array(Contact, { description: "The same as contacts" }),
  nextCursor: Nullable(Type.String({ description: "The same as cursor" })),
  hasMore: Type.Boolean(),
  total: Type.Integer(),
});

const EXPORT_FORMATS = ["csv", "ndjson"] as const;

export const ExportQuery = Input({
  format: Type.Optional(OneOf(EXPORT_FORMATS)),
  subscribed: ContactQuery.properties.subscribed,
  search: ContactQuery.properties.search,
});
export type ExportQuery = Static<typeof ExportQuery>;

export const FIELD_TYPES = ["string", "number", "boolean", "array", "object"] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

/** A key in the data of contacts. */
export const Field = Type.Object({
  key: Type.String(),
  type: OneOf(FIELD_TYPES),
  types: Type.Array(OneOf(FIELD_TYPES), { description: "Most frequent first" }),
  count: Type.Integer({ description: "Contacts that have the key" }),
  coverage: Type.Number({
    minimum: 0,
    maximum: 1,
    description: "Share of all contacts that have the key",
  }),
});
export type Field = Static<typeof Field>;

export const FieldList = Type.Object({
  items: Type.Array(Field, { description: "The 1000 most frequent, most frequent first" }),
  total: Type.Integer({ description: "Number of all keys" }),
  contacts: Type.Integer({ description: "Number of contacts that were counted" }),
});

/** An event or a mail of a contact; the other of both fields is null. */
export const Activity = Type.Object({
  kind: OneOf(["EVENT", "EMAIL"]),
  createdAt: Type.String({ format: "date-time" }),
  event: Nullable(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      data: Nullable(Data),
      emailId: Nullable(Type.String()),
    }),
  ),
  email: Nullable(
    Type.Object({
      id: Type.String(),
      subject: Type.String(),
      status: OneOf(EMAIL_STATUSES),
      source: OneOf(EMAIL_SOURCES),
      templateId: Nullable(Type.String()),
    }),
  ),
});
export type Activity = Static<typeof Activity>;
