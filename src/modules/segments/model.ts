/** Requests and responses of segments. */

import { type Static, Type } from "@sinclair/typebox";
import { SEGMENT_TYPES } from "../../db/schema/segments.ts";
import { described, describedUse, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { EmailAddress } from "../../http/formats.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input, OneOf, withChecks } from "../../http/validation.ts";
import { Contact } from "../contacts/model.ts";
import type { FieldError } from "../../lib/errors.ts";
import { checkCondition } from "./condition/condition.ts";
import { CONDITION_EXAMPLE, ConditionSchema } from "./condition-model.ts";

const CountedSchema = OneOf(["EXACT", "RECENT"]);
export type Counted = Static<typeof CountedSchema>;

export const SegmentQuery = Input({
  counted: Type.Optional(
    describedUse(
      CountedSchema,
      "EXACT counts the members for this answer, which is the default; RECENT answers with the " +
        "last known count if counting takes longer than 200 ms",
    ),
  ),
});

const SegmentType = named("SegmentType", OneOf(SEGMENT_TYPES), {
  description: "DYNAMIC: the contacts that meet a condition; STATIC: a list of contacts",
});

/** Descriptions of the fields that callers set. */
const FIELD_TEXTS = {
  name: "Name of the segment",
  description: "Note about the segment",
  type: "DYNAMIC: the contacts that meet the condition; STATIC: a list. Default DYNAMIC",
  condition: "Condition on the contacts; required if DYNAMIC, otherwise null",
  trackMembership:
    "Whether entering and leaving the segment are events; default false. It cannot become false while a " +
    "workflow uses these events",
} as const;

const Mismatch = named(
  "SegmentMismatch",
  described(
    Type.Object({
      field: Type.String(),
      expected: OneOf(["date", "number"]),
      contacts: Type.Integer(),
    }),
    {
      field: "Field of the condition",
      expected: "Type of the value that the condition compares it with",
      contacts: "Number of contacts whose value is of another type, so that it never matches",
    },
  ),
  {
    description: "Values that a condition cannot compare, such as 15.06.2030 with a date",
    example: { field: "data.joined", expected: "date", contacts: 3 },
  },
);
export type Mismatch = Static<typeof Mismatch>;

const Problem = named(
  "SegmentProblem",
  described(Type.Object({ field: Type.String(), value: Type.String(), message: Type.String() }), {
    field: "Field of the condition, or of the condition of a segment that it refers to",
    value: "Value that it is compared with",
    message: "Why the comparison cannot be made",
  }),
  {
    description: "A comparison of an earlier version that cannot be made, so it matches no contact",
    example: {
      field: "data.joined",
      value: "2025/01/01",
      message: "must be a date; write 2025-01-01",
    },
  },
);

/** A segment as in docs/interface.md#segments, and the slug that is part of its event names. */
export const Segment = named(
  "Segment",
  described(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      slug: Type.String(),
      description: Nullable(Type.String()),
      type: SegmentType,
      condition: Nullable(ConditionSchema),
      memberCount: Type.Integer(),
      memberCountedAt: Type.String({ format: "date-time" }),
      mismatches: Type.Array(Mismatch),
      problems: Type.Array(Problem),
      trackMembership: Type.Boolean(),
      createdAt: Type.String({ format: "date-time" }),
      updatedAt: Type.String({ format: "date-time" }),
    }),
    {
      id: "Id of the segment",
      ...FIELD_TEXTS,
      slug: "Part of the event names segment.<slug>.entry and segment.<slug>.exit",
      memberCount: "Exact number of members at `memberCountedAt`",
      memberCountedAt:
        "The time of the request. In a list, the count can be older if counting takes longer than " +
        "200 ms; a later list has the new one",
      mismatches:
        "The fields of the condition that have values of another type than it compares them with, " +
        "for at most 5 fields; empty in lists and with `counted=RECENT`, which do not count them",
      problems:
        "Comparisons that cannot be made, because an earlier version accepted a text as their value. " +
        "They match no contact, also where the condition is negated; a tracked segment keeps its " +
        "members until the condition is corrected",
      createdAt: "When the segment was created",
      updatedAt: "When the segment was changed last",
    },
  ),
  {
    description: "A group of contacts",
    example: {
      id: EXAMPLE.segmentId,
      name: "Pro customers",
      slug: "pro-customers",
      description: null,
      type: "DYNAMIC",
      condition: CONDITION_EXAMPLE,
      memberCount: 40,
      memberCountedAt: EXAMPLE.updatedAt,
      mismatches: [],
      problems: [],
      trackMembership: false,
      createdAt: EXAMPLE.createdAt,
      updatedAt: EXAMPLE.updatedAt,
    },
  },
);
export type Segment = Static<typeof Segment>;

const SegmentUser = named(
  "SegmentUser",
  described(
    Type.Object({
      kind: OneOf(["segment", "campaign", "workflow", "form"]),
      id: Type.String(),
      name: Type.String(),
    }),
    { kind: "What it is", id: "Its id", name: "Its name" },
  ),
  { description: "An object that uses a segment" },
);

export const SegmentListQuery = Input({
  ...PageQuery.properties,
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: "Only segments whose name contains this text; case matters beyond ASCII",
    }),
  ),
});
export type SegmentListQuery = Static<typeof SegmentListQuery>;

export const SegmentUsage = named(
  "SegmentUsage",
  described(Type.Object({ users: Type.Array(SegmentUser) }), {
    users:
      "Segments and workflows whose conditions name it, workflows that one of its events starts or " +
      "that wait for one, and at most 5 campaigns that are not sent yet. It cannot be deleted " +
      "while there are any",
  }),
  {
    description: "Where a segment is used",
    example: { users: [{ kind: "workflow", id: EXAMPLE.workflowId, name: "Welcome" }] },
  },
);
export type SegmentUsage = Static<typeof SegmentUsage>;

/** A segment of a contact, in the list of its segments. */
export const ContactSegment = named(
  "ContactSegment",
  described(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      slug: Type.String(),
      type: SegmentType,
    }),
    {
      id: "Id of the segment",
      name: FIELD_TEXTS.name,
      slug: "Part of the event names segment.<slug>.entry and segment.<slug>.exit",
      type: "How the contact became a member",
    },
  ),
  {
    description: "A segment of which a contact is a member",
    example: {
      id: EXAMPLE.segmentId,
      name: "Pro customers",
      slug: "pro-customers",
      type: "DYNAMIC",
    },
  },
);
export type ContactSegment = Static<typeof ContactSegment>;

const Fields = described(
  Input({
    name: Type.String({ minLength: 1, maxLength: 255 }),
    description: Type.Optional(Nullable(Type.String({ maxLength: 1000 }))),
    type: Type.Optional(SegmentType),
    condition: Type.Optional(Nullable(ConditionSchema)),
    trackMembership: Type.Optional(Type.Boolean()),
  }),
  FIELD_TEXTS,
);

export const SegmentInput = named(
  "SegmentInput",
  withChecks(Fields, (value) => [...conditionErrors(value["condition"]), ...typeErrors(value)]),
  {
    description: "A segment to create",
    example: { name: "Pro customers", condition: CONDITION_EXAMPLE },
  },
);
export type SegmentInput = Static<typeof SegmentInput>;

export const SegmentPatch = named(
  "SegmentPatch",
  withChecks(Type.Partial(Fields), (value) => conditionErrors(value["condition"])),
  {
    description: "Changes of a segment; omitted fields stay as they are",
    example: { name: "Paying customers", trackMembership: true },
  },
);
export type SegmentPatch = Static<typeof SegmentPatch>;

export const ConditionToPreview = named(
  "ConditionToPreview",
  withChecks(Input({ condition: ConditionSchema }), (value) => conditionErrors(value["condition"])),
  { description: "A condition on contacts", example: { condition: CONDITION_EXAMPLE } },
);

export const ConditionPreview = named(
  "ConditionPreview",
  described(
    Type.Object({
      count: Type.Integer(),
      isExact: Type.Boolean(),
      members: Nullable(Type.Array(Contact)),
    }),
    {
      count: "Number of contacts that meet the condition",
      isExact: "False if the number is an estimate, because counting takes longer than 200 ms",
      members: "The 10 newest of them; null if finding them takes longer than 200 ms",
    },
  ),
  {
    description: "The contacts that a condition selects",
    example: { count: 40, isExact: true, members: [] },
  },
);
export type ConditionPreview = Static<typeof ConditionPreview>;

const emails = Type.Array(EmailAddress, { minItems: 1, maxItems: 1000 });

export const MembersInput = named(
  "MembersInput",
  described(Input({ emails, createMissing: Type.Optional(Type.Boolean()) }), {
    emails: "Addresses of the contacts to add",
    createMissing: "Whether to create contacts for unknown addresses; default false",
  }),
  { description: "Members to add to a segment", example: { emails: ["ada@example.com"] } },
);
export type MembersInput = Static<typeof MembersInput>;

export const MembersRemoval = named(
  "MembersRemoval",
  described(Input({ emails }), { emails: "Addresses of the contacts to remove" }),
  { description: "Members to remove from a segment", example: { emails: ["ada@example.com"] } },
);

const NOT_FOUND = "Addresses without a contact, as spelled in the request";

export const AddedMembers = named(
  "AddedMembers",
  described(
    Type.Object({
      added: Type.Integer(),
      created: Type.Integer(),
      notFound: Type.Array(Type.String()),
    }),
    {
      added: "Number of contacts that were not members before",
      created: "Number of contacts that were created",
      notFound: NOT_FOUND,
    },
  ),
  {
    description: "The members that were added to a segment",
    example: { added: 1, created: 0, notFound: [] },
  },
);

export const RemovedMembers = named(
  "RemovedMembers",
  described(Type.Object({ removed: Type.Integer(), notFound: Type.Array(Type.String()) }), {
    removed: "Number of contacts that were members before",
    notFound: NOT_FOUND,
  }),
  {
    description: "The members that were removed from a segment",
    example: { removed: 1, notFound: [] },
  },
);

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
