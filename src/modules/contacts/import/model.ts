/** Requests and responses of imports, and the stored input of their jobs. */

import { type Static, Type } from "@sinclair/typebox";
import { described, describedUse, named } from "../../../http/documented.ts";
import { Nullable } from "../../../http/envelope.ts";
import { EXAMPLE } from "../../../http/example-values.ts";
import { Input, OneOf, QueryBoolean } from "../../../http/validation.ts";
import { TEXT_ENCODINGS } from "../../../lib/text-encoding.ts";
import { STANDINGS } from "./standing.ts";
import { JobState, JobTimes } from "../jobs/model.ts";

/** Options as query parameters. Form fields with the same names win. */
export const ImportQuery = Input({
  mapping: Type.Optional(
    Type.String({ description: 'JSON: {"Column of the file": "email", "Plan": "data.plan"}' }),
  ),
  subscribed: Type.Optional(
    describedUse(
      QueryBoolean(),
      "Subscription of new contacts without a value in the file; default true",
    ),
  ),
  resubscribe: Type.Optional(
    describedUse(
      QueryBoolean(),
      "Whether rows that say so subscribe contacts that are not subscribed now; default false",
    ),
  ),
  statuses: Type.Optional(
    Type.String({
      description:
        'JSON: the meaning of statuses in the file, such as {"gone": "UNSUBSCRIBED", "vip": null}',
    }),
  ),
});
export type ImportQuery = Static<typeof ImportQuery>;

export const ImportError = named(
  "ImportError",
  described(Type.Object({ line: Nullable(Type.Integer()), message: Type.String() }), {
    line: "Line in the file, from 1; null if the error concerns the whole file",
    message: "The fault in words",
  }),
  {
    description: "A line of an import that could not be imported",
    example: { line: 3, message: "email must be an email address such as ada@example.com" },
  },
);
export type ImportError = Static<typeof ImportError>;

/** Reasons that a file may give. */
export const IMPORTED_REASONS = ["MANUAL", "HARD_BOUNCE", "COMPLAINT"] as const;
const SuppressionReason = OneOf(IMPORTED_REASONS);

/** Options of an import of suppressions, as query parameters. */
export const SuppressionImportQuery = Input({
  mapping: ImportQuery.properties.mapping,
  statuses: ImportQuery.properties.statuses,
  reason: Type.Optional(
    describedUse(SuppressionReason, "Reason for rows that contain no other; default MANUAL"),
  ),
});
export type SuppressionImportQuery = Static<typeof SuppressionImportQuery>;

/** Meaning of a status in a file; null if it says nothing. */
export const Statuses = Type.Record(Type.String(), Nullable(OneOf(STANDINGS)));

/** Progress of an import (docs/interface.md#contacts). */
export const ImportProgress = named(
  "ImportProgress",
  Type.Object({
    ...JobState,
    created: Type.Integer({ description: "Contacts that were created" }),
    updated: Type.Integer({ description: "Contacts that existed and were updated" }),
    failed: Type.Integer({ description: "Lines that could not be imported" }),
    suppressed: Type.Integer({ description: "Addresses that the import suppressed" }),
    keptUnsubscribed: Type.Integer({
      description:
        "Lines that say that a contact is subscribed which is not: it stays unsubscribed unless " +
        "the request says resubscribe",
    }),
    errors: Type.Array(ImportError, { description: "The first 100 errors, by line" }),
    ...JobTimes,
  }),
  {
    description: "Progress of an import",
    example: {
      id: EXAMPLE.jobId,
      status: "COMPLETED",
      processed: 2,
      total: 2,
      created: 1,
      updated: 1,
      failed: 0,
      suppressed: 0,
      keptUnsubscribed: 0,
      errors: [],
      createdAt: EXAMPLE.createdAt,
      finishedAt: EXAMPLE.updatedAt,
    },
  },
);
export type ImportProgress = Static<typeof ImportProgress>;

/** Input of the job, as stored in its row. A job that an earlier version stored has fewer members. */
export const ImportJob = Type.Object({
  encoding: OneOf(TEXT_ENCODINGS),
  mapping: Type.Record(Type.String(), Nullable(Type.String())),
  subscribesNew: Type.Boolean(),
  resubscribes: Type.Optional(Type.Boolean()),
  statuses: Type.Optional(Statuses),
  /** Given if the rows only suppress addresses. */
  suppressAs: Type.Optional(SuppressionReason),
  /** Results that have no column in the table of jobs. */
  suppressed: Type.Optional(Type.Integer()),
  keptUnsubscribed: Type.Optional(Type.Integer()),
});
export type ImportJob = Static<typeof ImportJob>;
