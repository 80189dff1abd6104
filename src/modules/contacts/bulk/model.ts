/** Requests and responses of bulk actions, and the stored input of their jobs. */

import { type Static, Type } from "@sinclair/typebox";
import { Nullable } from "../../../http/envelope.ts";
import { Input, OneOf, withChecks } from "../../../http/validation.ts";
import type { FieldError } from "../../../lib/errors.ts";
import { JobState, JobTimes } from "../jobs/model.ts";

const BULK_ACTIONS = ["subscribe", "unsubscribe", "delete"] as const;
export type BulkAction = (typeof BULK_ACTIONS)[number];

const MAX_IDS = 10_000;

/** A bulk action (docs/interface.md#contacts). `filter` is a condition like that of a segment. */
export const BulkInput = withChecks(
  Input({
    action: OneOf(BULK_ACTIONS),
    ids: Type.Optional(
      Nullable(
        Type.Array(Type.String(), {
          minItems: 1,
          maxItems: MAX_IDS,
          description: "Ids of contacts",
        }),
      ),
    ),
    filter: Type.Optional(Type.Unknown({ description: "A condition, as in a segment" })),
  }),
  idsOrFilter,
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

export const BulkError = Type.Object({ id: Nullable(Type.String()), message: Type.String() });
export type BulkError = Static<typeof BulkError>;

export const BulkProgress = Type.Object({
  ...JobState,
  action: OneOf(BULK_ACTIONS),
  updated: Type.Integer({ description: "Contacts that were changed or deleted" }),
  failed: Type.Integer({ description: "Ids for which there is no contact" }),
  errors: Type.Array(BulkError, { description: "The first 100 errors" }),
  ...JobTimes,
});
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
