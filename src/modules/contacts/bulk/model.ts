/** Requests and responses of bulk actions, and the stored input of their jobs. */

import { type Static, Type } from "@sinclair/typebox";
import { described, describedUse, named } from "../../../http/documented.ts";
import { Nullable } from "../../../http/envelope.ts";
import { EXAMPLE } from "../../../http/example-values.ts";
import { Input, OneOf, withChecks } from "../../../http/validation.ts";
import type { FieldError } from "../../../lib/errors.ts";
import { JobState, JobTimes } from "../jobs/model.ts";

const BULK_ACTIONS = [
  "subscribe",
  "unsubscribe",
  "delete",
  "addToSegment",
  "removeFromSegment",
  "joinTopic",
  "leaveTopic",
  "set",
] as const;
export type BulkAction = (typeof BULK_ACTIONS)[number];

const MAX_IDS = 10_000;

const SEGMENT_ACTIONS: readonly unknown[] = ["addToSegment", "removeFromSegment"];

const TOPIC_ACTIONS: readonly unknown[] = ["joinTopic", "leaveTopic"];

const BulkQuery = named(
  "BulkQuery",
  described(
    Input({
      subscribed: Type.Optional(Type.Boolean()),
      topic: Type.Optional(Type.String({ maxLength: 60 })),
      search: Type.Optional(Type.String({ maxLength: 320 })),
      data: Type.Optional(Type.Record(Type.String(), Type.String())),
    }),
    {
      subscribed: "Only contacts that are subscribed, or only those that are not",
      topic: "Key of a topic: only contacts who are in it",
      search: "Part of the address or of the name",
      data: "Parts of values of the data",
    },
  ),
  {
    description: "The filters of `GET /contacts`; all contacts without any",
    example: { subscribed: true, data: { city: "Berlin" } },
  },
);
export type BulkQuery = Static<typeof BulkQuery>;

/** A bulk action (docs/interface.md#contacts). `filter` is a condition like that of a segment. */
export const BulkInput = named(
  "BulkInput",
  withChecks(
    described(
      Input({
        action: OneOf(BULK_ACTIONS),
        ids: Type.Optional(Nullable(Type.Array(Type.String(), { minItems: 1, maxItems: MAX_IDS }))),
        filter: Type.Optional(named("Condition", Type.Unknown())),
        query: Type.Optional(Nullable(BulkQuery)),
        segmentId: Type.Optional(Type.String()),
        topicId: Type.Optional(Type.String({ maxLength: 100 })),
        data: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { minProperties: 1 })),
      }),
      {
        action: "The change of each contact",
        ids: "Ids of the contacts; required if `filter` and `query` are omitted",
        filter: "Condition on the contacts, instead of `ids`",
        query: "Filters of the list of contacts, instead of `ids`",
        segmentId: "The STATIC segment; required by `addToSegment` and `removeFromSegment`",
        topicId: "The topic; required by `joinTopic` and `leaveTopic`",
        data: "Values that `set` stores in the data of each contact; null removes a key",
      },
    ),
    (body) => [...targetFaults(body), ...queryFaults(body), ...valueFaults(body)],
  ),
  {
    description:
      "An action on many contacts, given by id, by a condition or by filters of the list",
    example: { action: "unsubscribe", ids: [EXAMPLE.contactId] },
  },
);
export type BulkInput = Static<typeof BulkInput>;

function targetFaults(body: Readonly<Record<string, unknown>>): FieldError[] {
  const given = ["ids", "filter", "query"].filter((name) => (body[name] ?? null) !== null);
  const [first, second] = given;
  if (first === undefined) {
    const message = "is required if filter and query are omitted";
    return [{ field: "ids", message, code: "required" }];
  }
  if (second === undefined) return [];
  return [
    { field: second, message: `must be omitted if ${first} is given`, code: "invalid_value" },
  ];
}

/** A filter that is not known would be ignored, and the action would mean too many contacts. */
function queryFaults({ query }: Readonly<Record<string, unknown>>): FieldError[] {
  const known = Object.keys(BulkQuery.properties);
  const unknown = Object.keys(Object(query ?? {})).filter((name) => !known.includes(name));
  return unknown.map((name) => ({
    field: `query.${name}`,
    message: `is no filter; the filters are ${known.join(", ")}`,
    code: "unknown_field",
  }));
}

/** An action has the value that it needs and no other. */
function valueFaults(body: Readonly<Record<string, unknown>>): FieldError[] {
  const { action } = body;
  const needs = {
    segmentId: SEGMENT_ACTIONS.includes(action),
    topicId: TOPIC_ACTIONS.includes(action),
    data: action === "set",
  };
  return Object.entries(needs).flatMap(([field, isNeeded]): FieldError[] => {
    if (isNeeded === (body[field] !== undefined)) return [];
    return isNeeded
      ? [{ field, message: `is required by the action ${String(action)}`, code: "required" }]
      : [{ field, message: `has no use for the action ${String(action)}`, code: "invalid_value" }];
  });
}

export const BulkError = named(
  "BulkError",
  described(Type.Object({ id: Nullable(Type.String()), message: Type.String() }), {
    id: "Id of the contact as given in the request; null if the error concerns the whole job",
    message: "The fault in words",
  }),
  {
    description: "An id of a bulk action that could not be processed",
    example: { id: EXAMPLE.contactId, message: "There is no contact with this id." },
  },
);
export type BulkError = Static<typeof BulkError>;

export const BulkProgress = named(
  "BulkProgress",
  Type.Object({
    ...JobState,
    action: describedUse(OneOf(BULK_ACTIONS), "The change of each contact"),
    updated: Type.Integer({ description: "Contacts that were changed or deleted" }),
    unchanged: Type.Integer({
      description: "Contacts that were as the action leaves them before, such as unsubscribed ones",
    }),
    failed: Type.Integer({ description: "Contacts that do not exist or cannot have the values" }),
    errors: Type.Array(BulkError, { description: "The first 100 errors" }),
    ...JobTimes,
  }),
  {
    description: "Progress of a bulk action",
    example: {
      id: EXAMPLE.jobId,
      status: "COMPLETED",
      processed: 1,
      total: 1,
      action: "unsubscribe",
      updated: 1,
      unchanged: 0,
      failed: 0,
      errors: [],
      createdAt: EXAMPLE.createdAt,
      finishedAt: EXAMPLE.updatedAt,
    },
  },
);
export type BulkProgress = Static<typeof BulkProgress>;

/** Input of the job, as stored in its row. */
export const BulkJob = Type.Object({
  action: OneOf(BULK_ACTIONS),
  ids: Nullable(Type.Array(Type.String())),
  filter: Type.Unknown(),
  query: Type.Optional(Nullable(BulkQuery)),
  segmentId: Type.Optional(Type.String()),
  topicId: Type.Optional(Type.String()),
  data: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  /** The newest contact when the job was created; later contacts are not changed. */
  newestSeq: Type.Integer(),
});
export type BulkJob = Static<typeof BulkJob>;
