/** Schemas of the audit log. */

import { type Static, Type } from "@sinclair/typebox";
import { ACTOR_KINDS } from "../../db/schema/accounts.ts";
import { described, describedUse, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input, OneOf } from "../../http/validation.ts";

const Time = Type.String({ format: "date-time" });

const ACTOR_EXAMPLE = {
  kind: "USER",
  id: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e12",
  label: "ada@example.com",
  name: "Ada",
};
const PROJECT_EXAMPLE = { id: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e15", name: "Shop" };

export const AuditChange = named(
  "AuditChange",
  described(
    Type.Object({
      field: Type.String(),
      before: Nullable(Type.String()),
      after: Nullable(Type.String()),
    }),
    {
      field: "Name of the field",
      before: "Its old value as a text; of a long one, the part that changed",
      after: "Its new value as a text; of a long one, the part that changed",
    },
  ),
  {
    description: "The change of a field",
    example: { field: "name", before: "News", after: "Spring news" },
  },
);

export const AuditRecord = named(
  "AuditRecord",
  described(
    Type.Object({
      id: Type.String(),
      at: Time,
      actor: named(
        "AuditActor",
        described(
          Type.Object({
            kind: OneOf(ACTOR_KINDS),
            id: Nullable(Type.String()),
            label: Type.String(),
            name: Nullable(Type.String()),
          }),
          {
            kind: "USER, KEY, CLI for a command, or SYSTEM for the server itself",
            id: "Id of the user or key; null for CLI and SYSTEM",
            label: "The address of the user, or the name and last characters of the key",
            name: "The name of the user at that time; null for others and if it is not known",
          },
        ),
        {
          description: "Who made a change",
          example: ACTOR_EXAMPLE,
        },
      ),
      project: Nullable(
        named(
          "AuditProject",
          described(Type.Object({ id: Type.String(), name: Type.String() }), {
            id: "Id of the project",
            name: "Name of the project at that time",
          }),
          { description: "The project of a change", example: PROJECT_EXAMPLE },
        ),
      ),
      action: Type.String(),
      objectType: Type.String(),
      objectId: Nullable(Type.String()),
      objectName: Nullable(Type.String()),
      fields: Type.Array(Type.String()),
      changes: Type.Array(AuditChange),
      address: Nullable(Type.String()),
    }),
    {
      id: "Id of the record",
      at: "When the change was made",
      actor: "Who made the change",
      project: "The project in which it was made; null if it belongs to none",
      action: "The operation, such as `updateContact`",
      objectType: "What was changed, such as `contact`",
      objectId: "Id of the changed object; null if it has none",
      objectName: "Name of the object at that time; null if it has none",
      fields: "Names of the changed fields",
      changes: "Old and new values of changed fields, without secrets and personal data",
      address: "Address of the client; null if no request made the change",
    },
  ),
  {
    description: "A change and who made it",
    example: {
      id: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e14",
      at: EXAMPLE.createdAt,
      actor: ACTOR_EXAMPLE,
      project: PROJECT_EXAMPLE,
      action: "updateContact",
      objectType: "contact",
      objectId: EXAMPLE.contactId,
      objectName: "grace@example.com",
      fields: ["subscribed"],
      changes: [{ field: "subscribed", before: "true", after: "false" }],
      address: "192.0.2.7",
    },
  },
);
export type AuditRecord = Static<typeof AuditRecord>;

const FILTERS = {
  actor: Type.Optional(
    Type.String({ maxLength: 64, description: "Only changes by this user or key, by id" }),
  ),
  by: Type.Optional(describedUse(OneOf(ACTOR_KINDS), "Only changes by actors of this kind")),
  action: Type.Optional(Type.String({ maxLength: 100, description: "Only this operation" })),
  object: Type.Optional(
    Type.String({ maxLength: 320, description: "Only changes of this object, by id" }),
  ),
  type: Type.Optional(
    Type.String({ maxLength: 64, description: "Only changes of objects of this type: `template`" }),
  ),
  from: Type.Optional(
    Type.String({ format: "date-time", description: "Start of the period, included" }),
  ),
  to: Type.Optional(
    Type.String({ format: "date-time", description: "End of the period, included" }),
  ),
};

export const AuditQuery = Input({ ...PageQuery.properties, ...FILTERS });

export const AuditExportQuery = Input({
  format: Type.Optional(describedUse(OneOf(["csv", "ndjson"]), "Format of the file, default csv")),
  ...FILTERS,
});
