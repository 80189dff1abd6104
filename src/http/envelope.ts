/** Schemas that all responses share: the success envelope, lists, errors and empty responses. */

import { type Static, type TObject, type TProperties, type TSchema, Type } from "@sinclair/typebox";
import { described, describedUse, named, nameOf } from "./documented.ts";

const DateTime = Type.String({ format: "date-time" });

export const FieldFault = named(
  "FieldError",
  described(Type.Object({ field: Type.String(), message: Type.String(), code: Type.String() }), {
    field: "Dotted path such as to.1.email; empty for the whole body",
    message: "The fault of the field, as a predicate such as `is required`",
    code:
      "required, invalid_type, invalid_format, too_small, too_big, invalid_value, reserved_event, " +
      "unknown_field or unknown_reference",
  }),
  { description: "A faulty field of a request" },
);

const ErrorDetails = named(
  "ErrorDetails",
  described(
    Type.Object({
      code: Type.String(),
      message: Type.String(),
      statusCode: Type.Integer(),
      requestId: Type.String(),
      errors: Type.Optional(Type.Array(FieldFault)),
      suggestion: Type.String(),
    }),
    {
      code: "Machine-readable code such as VALIDATION_ERROR or CONTACT_NOT_FOUND",
      message: "The reason, in one sentence for people",
      statusCode: "Status of the response",
      requestId: "Id of the request, as in the header X-Request-Id and in the log",
      errors: "The faulty fields of the request; only in a 422",
      suggestion: "How to fix it, in one sentence",
    },
  ),
  { description: "The error and its reason" },
);

/** The structured error body (docs/specification.md#s7.1). */
export const ErrorBody = named(
  "Error",
  described(
    Type.Object({
      success: Type.Literal(false),
      error: ErrorDetails,
      timestamp: DateTime,
      code: Type.Optional(Type.Integer()),
      message: Type.Optional(Type.String()),
      time: Type.Optional(Type.Integer()),
    }),
    {
      success: "Always false",
      error: "The error and its reason",
      timestamp: "When the error happened",
      code: "Only on /v1/*: the same as error.statusCode",
      message: "Only on /v1/*: the same as error.message",
      time: "Only on /v1/*: milliseconds since the Unix epoch",
    },
  ),
  { description: "The body of every error" },
);
export type ErrorBody = Static<typeof ErrorBody>;

const Success = Type.Literal(true, { description: "Always true" });

/** The schema of `{success: true, data}` (docs/specification.md#s2.9). */
export function Envelope<T extends TSchema>(data: T) {
  return envelopeOf(data, Type.Object({ success: Success, data: result(data) }));
}

/** Gives an envelope the name and the description of its data. */
function envelopeOf<T extends TSchema>(data: TSchema, schema: T): T {
  const name = nameOf(data);
  const { description } = data;
  return name === null || description === undefined
    ? schema
    : named(`${name}Response`, schema, { description });
}

const result = <T extends TSchema>(data: T) => describedUse(data, "The result");

export function envelope<T>(data: T) {
  return { success: true as const, data };
}

/** On `/v1/*` the members of `data` are repeated beside it (docs/interface.md#requests). */
export function MirroredEnvelope<T extends TProperties>(data: TObject<T>) {
  const { examples } = data;
  const [example] = Array.isArray(examples) ? examples : [];
  const schema = Type.Object(
    { success: Success, data: result(data), ...data.properties },
    { examples: [{ success: true, data: example, ...Object(example) }] },
  );
  return envelopeOf(data, schema);
}

export function mirroredEnvelope<T extends object>(data: T) {
  return { success: true as const, data, ...data };
}

/** The schema of one page of a list, under `data` (docs/specification.md#s2.9). */
export function ListEnvelope<T extends TSchema>(item: T) {
  return listOf(item, Type.Integer({ examples: [1] }), {
    items: "The items of this page",
    total: "Exact number of items that match the filters",
  });
}

/** The same for a list whose search may stop at a time limit. */
export function SearchEnvelope<T extends TSchema>(item: T) {
  return listOf(item, Type.Union([Type.Integer(), Type.Null()], { examples: [1] }), {
    items: "The items of this page; fewer than `limit`, or none, if the search stopped early",
    total: "Exact number of items that match the filters; null if the search stopped early",
  });
}

function listOf<T extends TSchema, Total extends TSchema>(
  item: T,
  total: Total,
  texts: { items: string; total: string },
) {
  const page = described(
    Type.Object({
      items: Type.Array(item),
      nextCursor: Type.Union([Type.String(), Type.Null()], { examples: [null] }),
      hasMore: Type.Boolean({ examples: [false] }),
      total,
    }),
    {
      ...texts,
      nextCursor: "Value of `cursor` for the next page; null on the last page",
      hasMore: "Whether there is another page",
    },
  );
  const schema = Type.Object({ success: Success, data: describedUse(page, "The page") });
  const name = nameOf(item);
  return name === null ? schema : named(`${name}List`, schema, { description: "A page of a list" });
}

/** A page of a list, before it becomes a response. */
export type Page<T, Total = number> = {
  items: T[];
  nextCursor: string | null;
  hasMore: boolean;
  total: Total;
};

export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

export const IdParams = Type.Object({ id: Type.String() });

/** The schema of a 204 response, which has no body (docs/interface.md#requests). */
export const NoContent = Type.Void({ description: "Done; no body" });

type ErrorStatus = 400 | 401 | 403 | 404 | 405 | 408 | 409 | 413 | 415 | 422 | 429 | 500 | 503;

/** The error response of an operation that reads If-Match. */
export const CONDITIONAL_ERRORS = { 412: ErrorBody } as const;

/** Adds the error responses that every authenticated route can return. */
export function withErrors<T extends { [status: number]: TSchema }>(success: T) {
  return {
    ...success,
    400: ErrorBody,
    401: ErrorBody,
    403: ErrorBody,
    404: ErrorBody,
    408: ErrorBody,
    409: ErrorBody,
    413: ErrorBody,
    415: ErrorBody,
    422: ErrorBody,
    429: ErrorBody,
    500: ErrorBody,
    503: ErrorBody,
  } satisfies { [Status in Exclude<ErrorStatus, 405>]: TSchema } & T;
}
