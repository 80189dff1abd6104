/** Schemas that all responses share: the success envelope, lists, errors and empty responses. */

import { type Static, type TSchema, Type } from "@sinclair/typebox";

const DateTime = Type.String({ format: "date-time" });

/** The structured error body (docs/specification.md#s7.1). */
export const ErrorBody = Type.Object(
  {
    success: Type.Literal(false),
    error: Type.Object({
      code: Type.String({ description: "Machine-readable code such as VALIDATION_ERROR" }),
      message: Type.String(),
      statusCode: Type.Integer(),
      requestId: Type.String(),
      errors: Type.Optional(
        Type.Array(
          Type.Object({
            field: Type.String({ description: "Dotted path such as to.1.email" }),
            message: Type.String(),
            code: Type.String(),
          }),
        ),
      ),
      suggestion: Type.String(),
    }),
    timestamp: DateTime,
    code: Type.Optional(
      Type.Integer({ description: "Only on /v1/*: the same as error.statusCode" }),
    ),
    message: Type.Optional(
      Type.String({ description: "Only on /v1/*: the same as error.message" }),
    ),
    time: Type.Optional(
      Type.Integer({ description: "Only on /v1/*: milliseconds since the Unix epoch" }),
    ),
  },
  { description: "Error" },
);
export type ErrorBody = Static<typeof ErrorBody>;

/** The schema of `{success: true, data}` (docs/specification.md#s2.9). */
export function Envelope<T extends TSchema>(data: T) {
  return Type.Object({ success: Type.Literal(true), data });
}

export function envelope<T>(data: T) {
  return { success: true as const, data };
}

/** On `/v1/*` the members of `data` are repeated beside it (docs/interface.md#requests). */
export function MirroredEnvelope<T extends { [key: string]: TSchema }>(members: T) {
  return Type.Object({ success: Type.Literal(true), data: Type.Object(members), ...members });
}

export function mirroredEnvelope<T extends object>(data: T) {
  return { success: true as const, data, ...data };
}

/** The schema of one page of a list, under `data` (docs/specification.md#s2.9). */
export function ListEnvelope<T extends TSchema>(item: T) {
  return Envelope(
    Type.Object({
      items: Type.Array(item),
      nextCursor: Type.Union([Type.String(), Type.Null()]),
      hasMore: Type.Boolean(),
      total: Type.Integer({ description: "Exact count of the filtered set" }),
    }),
  );
}

/** A page of a list, before it becomes a response. */
export type Page<T> = { items: T[]; nextCursor: string | null; hasMore: boolean; total: number };

export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

export const IdParams = Type.Object({ id: Type.String() });

/** The schema of a 204 response, which has no body (docs/interface.md#requests). */
export const NoContent = Type.Void({ description: "Done; no body" });

type ErrorStatus = 400 | 401 | 403 | 404 | 405 | 408 | 409 | 413 | 415 | 422 | 429 | 500 | 503;

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
