import { type Static, Type } from "@sinclair/typebox";
import { Nullable } from "../../../http/envelope.ts";
import { Input, OneOf, QueryBoolean } from "../../../http/validation.ts";
import { TEXT_ENCODINGS } from "../../../lib/text-encoding.ts";
import { JobState, JobTimes } from "../jobs/model.ts";

/** The same names as in the form; the form wins. */
export const ImportQuery = Input({
  mapping: Type.Optional(
    Type.String({ description: 'JSON: {"Column of the file": "email", "Plan": "data.plan"}' }),
  ),
  subscribed: Type.Optional(QueryBoolean()),
});
export type ImportQuery = Static<typeof ImportQuery>;

export const ImportError = Type.Object({
  line: Nullable(Type.Integer({ description: "From 1; null: about the whole file" })),
  message: Type.String(),
});
export type ImportError = Static<typeof ImportError>;

/** docs/interface.md#contacts. */
export const ImportProgress = Type.Object({
  ...JobState,
  created: Type.Integer(),
  updated: Type.Integer(),
  failed: Type.Integer(),
  errors: Type.Array(ImportError, { description: "The first 100, by line" }),
  ...JobTimes,
});
export type ImportProgress = Static<typeof ImportProgress>;

/** What the job is told. */
export const ImportJob = Type.Object({
  encoding: OneOf(TEXT_ENCODINGS),
  mapping: Type.Record(Type.String(), Nullable(Type.String())),
  subscribesNew: Type.Boolean(),
});
export type ImportJob = Static<typeof ImportJob>;
