import { Kind, type Static, Type, TypeRegistry } from "@sinclair/typebox";
import { SEGMENT_TYPES } from "../../db/schema/segments.ts";
import { Nullable } from "../../http/envelope.ts";
import { EmailAddress } from "../../http/formats.ts";
import { Input, OneOf, withChecks } from "../../http/validation.ts";
import type { FieldError } from "../../lib/errors.ts";
import { checkCondition } from "./condition/condition.ts";
import { OPERATOR_NAMES } from "./condition/operators.ts";

const CONDITION = "FilterCondition";
TypeRegistry.Set(CONDITION, () => true);

/** Describes a condition for OpenAPI only; condition.ts checks it and names the faulty filter. */
const ConditionSchema = Type.Unsafe<unknown>({
  [Kind]: CONDITION,
  type: "object",
  required: ["logic", "groups"],
  description:
    "Groups of filters joined by `logic`. A contact must meet all filters of a group and its " +
    "nested `conditions`, which have the same shape. At most 10 levels and 200 filters, " +
    "including those of referenced segments.",
  properties: {
    logic: { type: "string", enum: ["AND", "OR"] },
    groups: {
      type: "array",
      minItems: 1,
      items: {
        type: "object",
        required: ["filters"],
        properties: {
          filters: {
            type: "array",
            items: {
              type: "object",
              required: ["field", "operator"],
              properties: {
                field: {
                  type: "string",
                  description:
                    "email, subscribed, createdAt, updatedAt, data.<path>, event.<name>, " +
                    "email.<opened|clicked|sent|delivered|bounced|complained> or segment.<id>. " +
                    "In a path, write a dot that belongs to a key as `\\.`.",
                },
                operator: { type: "string", enum: OPERATOR_NAMES },
                value: {
                  description: "Depends on the operator: a date, a number of units or a list",
                },
                unit: { type: "string", enum: ["minutes", "hours", "days"] },
              },
            },
          },
          conditions: { type: "object", description: "A nested condition" },
        },
      },
    },
  },
  example: {
    logic: "AND",
    groups: [
      {
        filters: [
          { field: "data.plan", operator: "equals", value: "pro" },
          { field: "event.login", operator: "triggeredWithin", value: 30, unit: "days" },
        ],
      },
    ],
  },
});

const SegmentType = OneOf(SEGMENT_TYPES);

/** A segment as in docs/interface.md#segments, and the slug that is part of its event names. */
export const Segment = Type.Object({
  id: Type.String(),
  name: Type.String(),
  slug: Type.String({
    description: "Part of the event names segment.<slug>.entry and segment.<slug>.exit",
  }),
  description: Nullable(Type.String()),
  type: SegmentType,
  condition: Nullable(ConditionSchema),
  memberCount: Type.Integer({ description: "Exact number of members at `memberCountedAt`" }),
  memberCountedAt: Type.String({
    format: "date-time",
    description:
      "The time of the request. In a list, the count can be older if counting takes longer than a " +
      "second; the next list has the new one",
  }),
  trackMembership: Type.Boolean(),
  createdAt: Type.String({ format: "date-time" }),
  updatedAt: Type.String({ format: "date-time" }),
});
export type Segment = Static<typeof Segment>;

const name = Type.String({ minLength: 1, maxLength: 255 });
const optional = {
  description: Type.Optional(Nullable(Type.String({ maxLength: 1000 }))),
  type: Type.Optional(SegmentType),
  condition: Type.Optional(Nullable(ConditionSchema)),
  trackMembership: Type.Optional(
    Type.Boolean({
      description: "Whether entering and leaving the segment are events; default false",
    }),
  ),
};

export const SegmentInput = withChecks(Input({ name, ...optional }), (value) => [
  ...conditionErrors(value["condition"]),
  ...typeErrors(value),
]);
export type SegmentInput = Static<typeof SegmentInput>;

export const SegmentPatch = withChecks(Input({ name: Type.Optional(name), ...optional }), (value) =>
  conditionErrors(value["condition"]),
);
export type SegmentPatch = Static<typeof SegmentPatch>;

const emails = Type.Array(EmailAddress, { minItems: 1, maxItems: 1000 });

export const MembersInput = Input({
  emails,
  createMissing: Type.Optional(
    Type.Boolean({
      description: "Whether to create contacts for unknown addresses; default false",
    }),
  ),
});
export type MembersInput = Static<typeof MembersInput>;

export const MembersRemoval = Input({ emails });

const notFound = Type.Array(Type.String(), {
  description: "Addresses without a contact, as spelled in the request",
});

export const AddedMembers = Type.Object({
  added: Type.Integer({ description: "Number of contacts that were not members before" }),
  created: Type.Integer({ description: "Number of contacts that were created" }),
  notFound,
});

export const RemovedMembers = Type.Object({
  removed: Type.Integer({ description: "Number of contacts that were members before" }),
  notFound,
});

/** Longest condition as JSON, in bytes. Larger ones would make lists of segments too large. */
const LONGEST_CONDITION_BYTES = 256 * 1024;

function conditionErrors(given: unknown): FieldError[] {
  if (given === undefined || given === null) return [];
  const checked = checkCondition(given, "condition");
  if (!checked.ok) return checked.errors;
  if (Buffer.byteLength(JSON.stringify(given)) <= LONGEST_CONDITION_BYTES) return [];
  return [{ field: "condition", message: "must not exceed 256 KiB as JSON", code: "too_big" }];
}

/** A DYNAMIC segment requires a condition, a STATIC one must not have one. */
function typeErrors(value: Readonly<Record<string, unknown>>): FieldError[] {
  const hasCondition = value["condition"] !== undefined && value["condition"] !== null;
  if (value["type"] === "STATIC" && hasCondition) {
    const message = "must be absent for a STATIC segment, whose members are added by email";
    return [{ field: "condition", message, code: "invalid_value" }];
  }
  const isDynamic = value["type"] === undefined || value["type"] === "DYNAMIC";
  if (!isDynamic || hasCondition) return [];
  return [{ field: "condition", message: "is required for a DYNAMIC segment", code: "required" }];
}
