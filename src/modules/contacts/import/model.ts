/** Requests and responses of imports, and the stored input of their jobs. */

import { type Static, Type } from "@sinclair/typebox";
import { described, describedUse, named } from "../../../http/documented.ts";
import { Nullable } from "../../../http/envelope.ts";
import { EXAMPLE } from "../../../http/example-values.ts";
import { Input, OneOf, QueryBoolean } from "../../../http/validation.ts";
import { TEXT_ENCODINGS } from "../../../lib/text-encoding.ts";
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

/** Progress of an import (docs/interface.md#contacts). */
export const ImportProgress = named(
  "ImportProgress",
  Type.Object({
    ...JobState,
    created: Type.Integer({ description: "Contacts that were created" }),
    updated: Type.Integer({ description: "Contacts that existed and were updated" }),
    failed: Type.Integer({ description: "Lines that could not be imported" }),
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
      errors: [],
      createdAt: EXAMPLE.createdAt,
      finishedAt: EXAMPLE.updatedAt,
    },
  },
);
export type ImportProgress = Static<typeof ImportProgress>;

/** Input of the job, as stored in its row. */
export const ImportJob = Type.Object({
  encoding: OneOf(TEXT_ENCODINGS),
  mapping: Type.Record(Type.String(), Nullable(Type.String())),
  subscribesNew: Type.Boolean(),
});
export type ImportJob = Static<typeof ImportJob>;
