/** Requests and responses of imports, and the stored input of their jobs. */

import { type Static, Type } from "@sinclair/typebox";
import { described, describedUse, named } from "../../../http/documented.ts";
import { Nullable } from "../../../http/envelope.ts";
import { EXAMPLE } from "../../../http/example-values.ts";
import { Input, OneOf, QueryBoolean } from "../../../http/validation.ts";
import { DELIMITERS } from "../../../lib/csv.ts";
import { COLUMN_TYPES, GUESSES } from "./column-types.ts";
import { STANDINGS } from "./standing.ts";
import { JobState, JobTimes } from "../jobs/model.ts";

export const DATE_ORDERS = ["DMY", "MDY"] as const;
export const DECIMAL_SEPARATORS = [".", ","] as const;
/** Names of the delimiters; `\\t` is easily lost in a form. */
export const DELIMITER_NAMES = ["comma", "semicolon", "tab", "pipe"] as const;

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
      "Whether rows that say so subscribe contacts that are not subscribed now, or have left a topic; " +
        "default false",
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
      description: "Encoding of the file, such as windows-1250; needed if its words show no other",
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
  delimiter: Type.Optional(
    describedUse(OneOf(DELIMITER_NAMES), "Sign between the values; otherwise it is detected"),
  ),
  dryRun: Type.Optional(
    describedUse(
      QueryBoolean(),
      "true only says what the import would do. The file is kept for a day, so that " +
        "`POST /contacts/import/{id}/run` can import it; default false",
    ),
  ),
});
export type ImportQuery = Static<typeof ImportQuery>;

/** Options of an import whose file was tried before. */
export const ImportRun = named(
  "ImportRun",
  Input({
    mapping: Type.Optional(
      Type.Record(Type.String(), Nullable(Type.String()), {
        description: 'Field of each column: {"E-Mail": "email", "Plan": "data.plan", "No": null}',
      }),
    ),
    statuses: Type.Optional(
      Type.Record(Type.String(), Nullable(OneOf(STANDINGS)), {
        description: 'The meaning of statuses in the file: {"gone": "UNSUBSCRIBED", "vip": null}',
      }),
    ),
    subscribed: Type.Optional(
      Type.Boolean({ description: "Subscription of new contacts without a value in the file" }),
    ),
    resubscribe: Type.Optional(
      Type.Boolean({
        description:
          "Whether rows that say so subscribe contacts that are not subscribed now, or have left a topic",
      }),
    ),
    encoding: ImportQuery.properties.encoding,
    dateOrder: ImportQuery.properties.dateOrder,
    decimalSeparator: ImportQuery.properties.decimalSeparator,
    delimiter: ImportQuery.properties.delimiter,
    dryRun: Type.Optional(Type.Boolean({ description: "Whether to try the file once more" })),
  }),
  {
    description: "How to import the file of a dry run",
    example: { mapping: { "E-Mail": "email", Price: "number:price" }, dryRun: false },
  },
);
export type ImportRun = Static<typeof ImportRun>;

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

const LeftContact = named(
  "LeftContact",
  described(Type.Object({ line: Type.Integer(), email: Type.String() }), {
    line: "Line in the file, from 1",
    email: "Address of the contact",
  }),
  {
    description: "A contact that is not subscribed, although its row says that it is",
    example: { line: 2, email: "ada@example.com" },
  },
);

const PreviewedRow = named(
  "PreviewedRow",
  described(
    Type.Object({
      line: Type.Integer(),
      cells: Type.Array(Type.String()),
      email: Nullable(Type.String()),
      subscribed: Nullable(Type.Boolean()),
      data: Type.Record(Type.String(), Type.Unknown()),
      error: Nullable(Type.String()),
    }),
    {
      line: "Line in the file, from 1",
      cells: "The values as they stand in the file; long ones are cut",
      email: "Address of the contact; null if the row has none",
      subscribed: "Whether the contact would be subscribed after the import; null for a faulty row",
      data: "Data of the row, as it would be stored; long texts are cut",
      error: "Why the row cannot be imported; null if it can",
    },
  ),
  {
    description: "A row of a file, and the contact that it would make",
    example: {
      line: 2,
      cells: ["ada@example.com", "pro"],
      email: "ada@example.com",
      subscribed: true,
      data: { Plan: "pro" },
      error: null,
    },
  },
);

const Problem = named(
  "ImportProblem",
  described(Type.Object({ field: Type.String(), message: Type.String(), code: Type.String() }), {
    field: "Field of the request",
    message: "The problem in words",
    code: "Kind of the problem",
  }),
  {
    description: "A reason why the file cannot be imported with these options",
    example: { field: "file", message: "has no column named email", code: "required" },
  },
);

const Question = named(
  "ImportQuestion",
  described(Type.Object({ column: Type.String(), words: Type.Array(Type.String()) }), {
    column: "Name of the column",
    words: "Statuses without a known meaning; none if the meaning of the column is not known",
  }),
  {
    description: "A column that seems to say who left; the request must say what it means",
    example: { column: "Stand", words: ["Abgemeldet"] },
  },
);

/** Progress of an import (docs/interface.md#contacts). */
export const ImportProgress = named(
  "ImportProgress",
  Type.Object({
    ...JobState,
    created: Type.Integer({ description: "Contacts that were created" }),
    createdSubscribed: describedUse(
      Nullable(Type.Integer()),
      "Those of `created` that are subscribed; null for imports of earlier versions",
    ),
    updated: Type.Integer({ description: "Lines about contacts that existed" }),
    unchanged: Type.Integer({
      description: "Those of `updated` whose contacts had all values already",
    }),
    failed: Type.Integer({ description: "Lines that could not be imported" }),
    suppressed: Type.Integer({ description: "Addresses that the import suppressed" }),
    keptUnsubscribed: Type.Integer({
      description:
        "Lines that say that a contact is subscribed which is not: it stays unsubscribed unless " +
        "the request says resubscribe",
    }),
    resubscribed: Type.Integer({
      description: "Lines that subscribed contacts that were not subscribed",
    }),
    unsubscribed: Type.Integer({
      description: "Lines that unsubscribed contacts that were subscribed",
    }),
    topicsJoined: Type.Integer({
      description: "Topics that contacts joined because of a column `topic:KEY`",
    }),
    topicsLeft: Type.Integer({
      description: "Topics that contacts left because of a column `topic:KEY`",
    }),
    keptOutOfTopics: Type.Integer({
      description:
        "Topics that contacts did not join, although their rows say so, because they had left the topic " +
        "or are not subscribed; the request may say resubscribe",
    }),
    left: Type.Array(LeftContact, {
      description: "The first 100 contacts of `keptUnsubscribed` and `resubscribed`, by line",
    }),
    dryRun: Type.Boolean({
      description: "Whether nothing is changed; then the counts say what would be",
    }),
    delimiter: describedUse(
      Nullable(OneOf(DELIMITER_NAMES)),
      "Sign between the values; null until the file has been read",
    ),
    preview: Type.Array(PreviewedRow, {
      description: "The first 20 rows of a dry run; none for viewers",
    }),
    problems: Type.Array(Problem, {
      description: "Why a dry run could not read the file as a whole; the import would be refused",
    }),
    questions: Type.Array(Question, {
      description: "What the request must say of columns, in `mapping` or `statuses`; of a dry run",
    }),
    options: describedUse(ImportRun, "The options of the import"),
    fileName: Type.String({ description: "Name of the uploaded file" }),
    fileExpiresAt: describedUse(
      Nullable(Type.String({ format: "date-time" })),
      "Until when the file of a dry run is kept; null if it is not",
    ),
    encoding: Type.String({ description: "Encoding in which the file is read" }),
    columns: Type.Array(ImportedColumn, {
      description: "The first 500 columns; empty until the rows have been counted",
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
      createdSubscribed: 1,
      updated: 1,
      failed: 0,
      suppressed: 0,
      keptUnsubscribed: 0,
      unchanged: 0,
      resubscribed: 0,
      unsubscribed: 0,
      topicsJoined: 0,
      topicsLeft: 0,
      keptOutOfTopics: 0,
      left: [],
      dryRun: false,
      delimiter: "comma",
      preview: [],
      problems: [],
      questions: [],
      options: { mapping: {} },
      fileName: "contacts.csv",
      fileExpiresAt: null,
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

/** An import in a list. */
export const ImportSummary = named(
  "ImportSummary",
  Type.Object({
    ...JobState,
    created: Type.Integer({ description: "Contacts that were created" }),
    updated: Type.Integer({ description: "Lines about contacts that existed" }),
    failed: Type.Integer({ description: "Lines that could not be imported" }),
    ...JobTimes,
  }),
  {
    description: "The state of an import in a list",
    example: {
      id: EXAMPLE.jobId,
      status: "RUNNING",
      processed: 1200,
      total: 5000,
      created: 1100,
      updated: 90,
      failed: 10,
      createdAt: EXAMPLE.createdAt,
      finishedAt: null,
    },
  },
);
export type ImportSummary = Static<typeof ImportSummary>;

/** Input of the job, as stored in its row. A job that an earlier version stored has fewer members. */
export const ImportJob = Type.Object({
  encoding: Type.String(),
  /** True if the request names the encoding. */
  hasNamedEncoding: Type.Optional(Type.Boolean()),
  /** Ways to read a word of the file, if its encoding is neither named nor sure. */
  encodingDoubt: Type.Optional(
    Type.Array(Type.Object({ encoding: Type.String(), word: Type.String() })),
  ),
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
  unchanged: Type.Optional(Type.Integer()),
  resubscribed: Type.Optional(Type.Integer()),
  unsubscribed: Type.Optional(Type.Integer()),
  createdSubscribed: Type.Optional(Nullable(Type.Integer())),
  topicsJoined: Type.Optional(Type.Integer()),
  topicsLeft: Type.Optional(Type.Integer()),
  keptOutOfTopics: Type.Optional(Type.Integer()),
  left: Type.Optional(Type.Array(LeftContact)),
  delimiter: Type.Optional(OneOf(DELIMITERS)),
  foundDelimiter: Type.Optional(OneOf(DELIMITERS)),
  preview: Type.Optional(Type.Array(PreviewedRow)),
  problems: Type.Optional(Type.Array(Problem)),
  questions: Type.Optional(Type.Array(Question)),
  fileName: Type.Optional(Type.String()),
  /** True if the request says whether new contacts are subscribed. */
  saysSubscribed: Type.Optional(Type.Boolean()),
});
export type ImportJob = Static<typeof ImportJob>;
