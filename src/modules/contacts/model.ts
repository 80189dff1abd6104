/** Requests and responses of contacts. */

import { type Static, Type } from "@sinclair/typebox";
import { described, describedUse, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { EmailAddress } from "../../http/formats.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input, OneOf, QueryBoolean, withChecks } from "../../http/validation.ts";
import type { FieldError } from "../../lib/errors.ts";
import { filterFaults } from "./search.ts";

/** Free-form key/value attributes. */
export const Data = Type.Record(Type.String(), Type.Unknown());

export const CONTACT_EXAMPLE = {
  id: EXAMPLE.contactId,
  email: "ada@example.com",
  subscribed: true,
  data: { name: "Ada", plan: "pro" },
  createdAt: EXAMPLE.createdAt,
  updatedAt: EXAMPLE.updatedAt,
};

/** A contact in responses (docs/specification.md#s2.1). */
export const Contact = named(
  "Contact",
  described(
    Type.Object({
      id: Type.String(),
      email: Type.String(),
      subscribed: Type.Boolean(),
      data: Data,
      createdAt: Type.String({ format: "date-time" }),
      updatedAt: Type.String({ format: "date-time" }),
      tracking: Type.Optional(Type.Boolean()),
      pausedUntil: Type.Optional(Type.String({ format: "date-time" })),
    }),
    {
      id: "Id of the contact",
      email: "Address in its stored spelling, which is unique in the project",
      subscribed: "Whether the contact receives campaigns and other marketing mail",
      data: "Free-form attributes of the contact",
      createdAt: "When the contact was created",
      updatedAt: "When the contact was changed last",
      tracking: "Whether its opens and clicks may be recorded; absent if it has not chosen",
      pausedUntil: "The contact gets no marketing mail before this time; absent without a pause",
    },
  ),
  { description: "A person with an email address", example: CONTACT_EXAMPLE },
);
export type Contact = Static<typeof Contact>;

export const UpsertedContact = named(
  "UpsertedContact",
  Type.Object({
    ...Contact.properties,
    _meta: described(
      Type.Object(
        { isNew: Type.Boolean(), isUpdate: Type.Boolean() },
        { description: "The effect of the request" },
      ),
      { isNew: "The contact was created", isUpdate: "The contact existed before" },
    ),
  }),
  {
    description: "A contact that was created or updated",
    example: { ...CONTACT_EXAMPLE, _meta: { isNew: true, isUpdate: false } },
  },
);
export type UpsertedContact = Static<typeof UpsertedContact>;

const contactFields = Input({
  email: EmailAddress,
  subscribed: Type.Optional(Type.Boolean()),
  data: Type.Optional(Nullable(Data)),
});

export const ContactInput = named(
  "ContactInput",
  described(contactFields, {
    email: "Address of the contact, which is created if no contact has it",
    subscribed: "If omitted: true for a new contact, unchanged for an existing one",
    data: "Merged into the data of the contact, where null removes a key; null clears the data",
  }),
  {
    description: "A contact to create, or to update by its address",
    example: { email: "ada@example.com", subscribed: true, data: { name: "Ada", plan: "pro" } },
  },
);

export const ContactPatch = named(
  "ContactPatch",
  described(
    Input({
      email: Type.Optional(EmailAddress),
      subscribed: Type.Optional(Type.Boolean()),
      data: Type.Optional(Nullable(Data)),
      tracking: Type.Optional(Nullable(Type.Boolean())),
      pausedUntil: Type.Optional(Nullable(Type.String({ format: "date-time" }))),
    }),
    {
      email: "New address, which no other contact of the project may have",
      subscribed: "Whether the contact receives marketing mail",
      data: "Merged into the data of the contact, where null removes a key; null clears the data",
      tracking:
        "Whether opens and clicks of the contact may be recorded; false wins over the setting of the " +
        "project, and null means that the contact has not chosen",
      pausedUntil:
        "Sends no marketing mail to the contact before this time, which is at most 366 days away; " +
        "null ends the pause",
    },
  ),
  {
    description: "Changes of a contact; omitted fields stay as they are",
    example: { subscribed: false, data: { plan: null } },
  },
);
export type ContactPatch = Static<typeof ContactPatch>;

const CONTACT_FILTERS = {
  subscribed: Type.Optional(
    describedUse(QueryBoolean(), "Only contacts that are subscribed, or only those that are not"),
  ),
  topic: Type.Optional(
    Type.String({
      maxLength: 60,
      description: "Key of a topic: only contacts who are in it, by their choice or the default",
    }),
  ),
  search: Type.Optional(
    Type.String({
      maxLength: 320,
      description:
        "Part of the email address or of the name (`name`, `firstName`, `lastName` and their kind in " +
        "the data), ignoring upper and lower case",
    }),
  ),
  data: Type.Optional(
    Type.String({
      maxLength: 4_096,
      description:
        'Parts of values of the data as a JSON object, such as {"city":"Berlin"}, ignoring upper ' +
        "and lower case; all must match. A contact without the key `city` is compared by its `City`. " +
        "Needs the role EDITOR",
    }),
  ),
};
const SORT_DIRECTIONS = ["asc", "desc"] as const;

export const ContactQuery = withChecks(
  Input({
    ...PageQuery.properties,
    ...CONTACT_FILTERS,
    sort: Type.Optional(
      Type.String({
        maxLength: 256,
        description:
          "`email`, `subscribed`, `createdAt`, `updatedAt` or `data.KEY`; newest first if omitted. " +
          "`data.KEY` needs the role EDITOR",
      }),
    ),
    order: Type.Optional(
      describedUse(
        OneOf(SORT_DIRECTIONS),
        "Direction of `sort`; if omitted, times are sorted descending and other values ascending",
      ),
    ),
  }),
  filterFaults,
);
export type ContactQuery = Static<typeof ContactQuery>;

/**
 * The only list without the response envelope (docs/specification.md#s2.9). `items` and
 * `nextCursor`, which all other lists have, repeat `contacts` and `cursor`, so that generic clients
 * can read it too.
 */
export const ContactPage = named(
  "ContactPage",
  described(
    Type.Object({
      contacts: Type.Array(Contact),
      cursor: Nullable(Type.String()),
      items: Type.Array(Contact),
      nextCursor: Nullable(Type.String()),
      hasMore: Type.Boolean(),
      total: Type.Integer(),
    }),
    {
      contacts: "The contacts of this page, newest first",
      cursor: "Value of `cursor` for the next page; null on the last page",
      items: "The same as contacts",
      nextCursor: "The same as cursor",
      hasMore: "Whether there is another page",
      total: "Exact number of contacts that match the filters",
    },
  ),
  {
    description: "One page of contacts",
    example: {
      contacts: [CONTACT_EXAMPLE],
      cursor: null,
      items: [CONTACT_EXAMPLE],
      nextCursor: null,
      hasMore: false,
      total: 1,
    },
  },
);

/** A longer list would not fit the URL. */
const MAX_EXPORTED_IDS = 200;
const EXPORT_FORMATS = ["csv", "ndjson"] as const;

export const ExportQuery = withChecks(
  Input({
    format: Type.Optional(describedUse(OneOf(EXPORT_FORMATS), "Format of the file, default csv")),
    ...CONTACT_FILTERS,
    ids: Type.Optional(
      Type.String({
        maxLength: 64 * MAX_EXPORTED_IDS,
        description: `Only these contacts: at most ${MAX_EXPORTED_IDS} ids, separated by commas`,
      }),
    ),
    segmentId: Type.Optional(
      Type.String({ maxLength: 64, description: "Only members of the segment with this id" }),
    ),
  }),
  (query) => [...filterFaults(query), ...idFaults(query)],
);
export type ExportQuery = Static<typeof ExportQuery>;

function idFaults({ ids }: Readonly<Record<string, unknown>>): FieldError[] {
  if (typeof ids !== "string" || ids.split(",").length <= MAX_EXPORTED_IDS) return [];
  const message = `must name at most ${MAX_EXPORTED_IDS} contacts`;
  return [{ field: "ids", message, code: "too_big" }];
}

const FIELD_TYPES = ["string", "number", "boolean", "array", "object"] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

const PLAN = {
  key: "plan",
  type: "string",
  types: ["string"],
  areDates: false,
  count: 40,
  coverage: 0.8,
};

/** A key in the data of contacts. */
export const Field = named(
  "ContactField",
  described(
    Type.Object({
      key: Type.String(),
      type: OneOf(FIELD_TYPES),
      types: Type.Array(OneOf(FIELD_TYPES)),
      areDates: Type.Boolean(),
      count: Type.Integer(),
      coverage: Type.Number({ minimum: 0, maximum: 1 }),
    }),
    {
      key: "The key in the data of contacts",
      type: "The most frequent type of its values",
      types: "All types of its values, most frequent first",
      areDates: "Whether all its values are dates in ISO 8601, with or without a time, or empty",
      count: "Contacts that have the key",
      coverage: "Share of all contacts that have the key",
    },
  ),
  {
    description: "A key that occurs in the data of contacts",
    example: PLAN,
  },
);
export type Field = Static<typeof Field>;

export const FieldQuery = Input({
  counted: Type.Optional(
    describedUse(
      OneOf(["ALL", "NEWEST"]),
      "ALL counts all contacts, which is the default and takes two seconds for a million; NEWEST " +
        "counts the newest 10,000",
    ),
  ),
});

export const FieldList = named(
  "ContactFieldList",
  described(
    Type.Object({
      items: Type.Array(Field),
      total: Type.Integer(),
      contacts: Type.Integer(),
    }),
    {
      items: "The 1000 most frequent, most frequent first",
      total: "Number of all keys",
      contacts: "Number of contacts that were counted",
    },
  ),
  {
    description: "The keys in the data of contacts",
    example: { items: [PLAN], total: 1, contacts: 50 },
  },
);
