/** Requests and responses of imports, and the stored input of their jobs. */

import { type Static, Type } from "@sinclair/typebox";
import { Nullable } from "../../../http/envelope.ts";
import { Input, OneOf, QueryBoolean } from "../../../http/validation.ts";
import { TEXT_ENCODINGS } from "../../../lib/text-encoding.ts";
import { JobState, JobTimes } from "../jobs/model.ts";

/** Options as query parameters. Form fields with the same names win. */
export const ImportQuery = Input({
  mapping: Type.Optional(
    Type.String({ description: 'JSON: {"Column of the file": "email", "Plan": "data.plan"}' }),
  ),
  subscribed: Type.Optional(QueryBoolean()),
});
export type ImportQuery = Static<typeof ImportQuery>;

export const ImportError = Type.Object({
  line: Nullable(
    Type.Integer({
      description: "Line in the file, from 1; null if the error concerns the whole file",
    }),
  ),
  message: Type.String(),
});
export type ImportError = Static<typeof ImportError>;

/** Progress of an import (docs/interface.md#contacts). */
export const ImportProgress = Type.Object({
  ...JobState,
  created: Type.Integer(),
  updated: Type.Integer(),
  failed: Type.Integer(),
  errors: Type.Array(ImportError, { description: "The first 100 errors, by line" }),
  ...JobTimes,
});
export type ImportProgress = Static<typeof ImportProgress>;

/** Input of the job, as stored in its row. */
export const ImportJob = Type.Object({
  encoding: OneOf(TEXT_ENCODINGS),
  mapping: Type.Record(Type.String(), Nullable(Type.String())),
  subscribesNew: Type.Boolean(),
});
export type ImportJob = Static<typeof ImportJob>;
