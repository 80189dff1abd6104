/** Requests and responses of bulk actions, and the stored input of their jobs. */

import { type Static, Type } from "@sinclair/typebox";
import { described, describedUse, named } from "../../../http/documented.ts";
import { Nullable } from "../../../http/envelope.ts";
import { EXAMPLE } from "../../../http/example-values.ts";
import { Input, OneOf, withChecks } from "../../../http/validation.ts";
import type { FieldError } from "../../../lib/errors.ts";
import { JobState, JobTimes } from "../jobs/model.ts";

const BULK_ACTIONS = ["subscribe", "unsubscribe", "delete"] as const;
export type BulkAction = (typeof BULK_ACTIONS)[number];

const MAX_IDS = 10_000;

/** A bulk action (docs/interface.md#contacts). `filter` is a condition like that of a segment. */
export const BulkInput = named(
  "BulkInput",
  withChecks(
    described(
      Input({
        action: OneOf(BULK_ACTIONS),
        ids: Type.Optional(Nullable(Type.Array(Type.String(), { minItems: 1, maxItems: MAX_IDS }))),
        filter: Type.Optional(named("Condition", Type.Unknown())),
      }),
      {
        action: "The change of each contact",
        ids: "Ids of the contacts; required if `filter` is omitted",
        filter: "Condition on the contacts, instead of `ids`",
      },
    ),
    idsOrFilter,
  ),
  {
    description: "An action on many contacts, given by id or by a condition",
    example: { action: "unsubscribe", ids: [EXAMPLE.contactId] },
  },
);
export type BulkInput = Static<typeof BulkInput>;

function idsOrFilter(body: Readonly<Record<string, unknown>>): FieldError[] {
  const [ids = null, filter = null] = [body["ids"], body["filter"]];
  if (ids === null && filter === null) {
    return [{ field: "ids", message: "is required if filter is omitted", code: "required" }];
  }
  if (ids === null || filter === null) return [];
  return [{ field: "filter", message: "must be omitted if ids are given", code: "invalid_value" }];
}

export const BulkError = named(
  "BulkError",
  described(Type.Object({ id: Nullable(Type.String()), message: Type.String() }), {
    id: "Id as given in the request; null if the error concerns the whole job",
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
    failed: Type.Integer({ description: "Ids for which there is no contact" }),
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
  /** The newest contact when the job was created; later contacts are not changed. */
  newestSeq: Type.Integer(),
});
export type BulkJob = Static<typeof BulkJob>;
