/** Requests and responses of imports, and the stored input of their jobs. */

import { type Static, Type } from "@sinclair/typebox";
import { described, describedUse, named } from "../../../http/documented.ts";
import { Nullable } from "../../../http/envelope.ts";
import { EXAMPLE } from "../../../http/example-values.ts";
import { Input, OneOf, QueryBoolean } from "../../../http/validation.ts";
import { COLUMN_TYPES, GUESSES } from "./column-types.ts";
import { STANDINGS } from "./standing.ts";
import { JobState, JobTimes } from "../jobs/model.ts";

export const DATE_ORDERS = ["DMY", "MDY"] as const;
export const DECIMAL_SEPARATORS = [".", ","] as const;

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
  encoding: Type.Optional(
    Type.String({
      maxLength: 40,
      description: "Encoding of the file, such as windows-1250; otherwise it is guessed",
    }),
  ),
  dateOrder: Type.Optional(
    describedUse(OneOf(DATE_ORDERS), "Order of local dates in columns that are mapped to date:KEY"),
  ),
  decimalSeparator: Type.Optional(
    describedUse(
      OneOf(DECIMAL_SEPARATORS),
      "Sign before the decimals in columns that are mapped to number:KEY",
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

/** Reasons that a file may give. */
export const IMPORTED_REASONS = ["MANUAL", "HARD_BOUNCE", "COMPLAINT"] as const;
const SuppressionReason = OneOf(IMPORTED_REASONS);

/** Options of an import of suppressions, as query parameters. */
export const SuppressionImportQuery = Input({
  mapping: ImportQuery.properties.mapping,
  statuses: ImportQuery.properties.statuses,
  encoding: ImportQuery.properties.encoding,
  reason: Type.Optional(
    describedUse(SuppressionReason, "Reason for rows that contain no other; default MANUAL"),
  ),
});
export type SuppressionImportQuery = Static<typeof SuppressionImportQuery>;

/** Meaning of a status in a file; null if it says nothing. */
export const Statuses = Type.Record(Type.String(), Nullable(OneOf(STANDINGS)));

const ImportedColumn = named(
  "ImportedColumn",
  described(
    Type.Object({
      name: Type.String(),
      field: Nullable(Type.String()),
      type: Nullable(OneOf(["text", "number", "boolean", "date", "json"] as const)),
      guess: Nullable(OneOf(GUESSES)),
    }),
    {
      name: "Name of the column in the file",
      field: "What the column means, as the target of a mapping; null if it is ignored",
      type: "Type of its values; null if it is no data",
      guess:
        "What the texts of the column look like: numbers (number-comma: 99,50), dates (date: the " +
        "day or the month may be first), or mixed; null if the type says all. They are stored as " +
        "they are written, unless the column is mapped to number:KEY or date:KEY",
    },
  ),
  {
    description: "How a column of an imported file is read",
    example: { name: "Joined", field: "data.Joined", type: "text", guess: "date-dmy" },
  },
);
export type ImportedColumn = Static<typeof ImportedColumn>;

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
    encoding: Type.String({ description: "Encoding in which the file is read" }),
    columns: Type.Array(ImportedColumn, {
      description: "The first 100 columns; empty until the rows have been counted",
    }),
    notes: Type.Array(Type.String(), { description: "What should be checked, in words" }),
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
      encoding: "utf-8",
      columns: [],
      notes: [],
      errors: [],
      createdAt: EXAMPLE.createdAt,
      finishedAt: EXAMPLE.updatedAt,
    },
  },
);
export type ImportProgress = Static<typeof ImportProgress>;

/** Input of the job, as stored in its row. A job that an earlier version stored has fewer members. */
export const ImportJob = Type.Object({
  encoding: Type.String(),
  /** True if the request names the encoding. */
  hasNamedEncoding: Type.Optional(Type.Boolean()),
  dateOrder: Type.Optional(OneOf(DATE_ORDERS)),
  decimalSeparator: Type.Optional(OneOf(DECIMAL_SEPARATORS)),
  mapping: Type.Record(Type.String(), Nullable(Type.String())),
  subscribesNew: Type.Boolean(),
  resubscribes: Type.Optional(Type.Boolean()),
  statuses: Type.Optional(Statuses),
  /** Given if the rows only suppress addresses. */
  suppressAs: Type.Optional(SuppressionReason),
  /** The types of all columns, from the survey of the file; null for a column that is no data. */
  types: Type.Optional(Type.Array(Nullable(OneOf(COLUMN_TYPES)))),
  columns: Type.Optional(Type.Array(ImportedColumn)),
  /** Results that have no column in the table of jobs. */
  suppressed: Type.Optional(Type.Integer()),
  keptUnsubscribed: Type.Optional(Type.Integer()),
});
export type ImportJob = Static<typeof ImportJob>;
