/** The response headers and the errors that the operations of the OpenAPI document share. */

import { AppError, fieldError, notFound } from "../lib/errors.ts";
import { EXAMPLE } from "./example-values.ts";
import { errorBody } from "./errors.ts";
import { revisionConflict } from "./if-match.ts";

type Header = { description: string; schema: { type: string }; example: string | number };

/** All headers that responses of the API are documented with. */
export const HEADERS = {
  "X-Request-Id": text(
    "Id of the request: the one that the caller sent, or a new one",
    EXAMPLE.requestId,
  ),
  "RateLimit-Limit": integer(
    "Requests per minute that the key or the user may send; absent if there is no limit",
    1000,
  ),
  "RateLimit-Remaining": integer("Requests that are still possible in this minute", 999),
  "RateLimit-Reset": integer("Seconds until a request counts no longer", 60),
  "Retry-After": integer("Seconds to wait before the request is sent again", 12),
  "Idempotency-Replayed": text(
    "`true` if this is the stored response to an earlier request with the same Idempotency-Key",
    "true",
  ),
  "Mailstead-Ignored": text(
    "Names of unknown fields and query parameters that were ignored; absent if there are none",
    "note, to.0.nickname",
  ),
  "WWW-Authenticate": text("The authentication scheme", "Bearer"),
  "Accept-Encoding": text("The content coding that the server accepts", "identity"),
  "Content-Disposition": text("The name of the file", 'attachment; filename="contacts.csv"'),
  ETag: text("The revision of the object, for If-Match", '"3"'),
  Location: text("The target of the link", "https://acme.example/news"),
} as const satisfies Readonly<Record<string, Header>>;

type DocumentedHeader = keyof typeof HEADERS;

const ALWAYS = ["X-Request-Id"] as const;
const OF_SUCCESS = ["X-Request-Id", "Mailstead-Ignored"] as const;
const WITH_KEY = ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"] as const;

/** The headers of the success of an operation. */
export function headersOfSuccess(options: {
  /** Whether requests count against a rate limit. */
  hasRate: boolean;
  isIdempotent: boolean;
  own: readonly DocumentedHeader[];
}) {
  return references([
    ...OF_SUCCESS,
    ...(options.hasRate ? WITH_KEY : []),
    ...(options.isIdempotent ? (["Idempotency-Replayed"] as const) : []),
    ...options.own,
  ]);
}

function references(names: readonly DocumentedHeader[]) {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Descriptions of statuses. The named ones are errors with the shared schema. */
const STATUSES: Readonly<Record<string, string>> = {
  200: "Done",
  201: "Created",
  202: "Accepted; the work continues",
  204: "Done; no body",
  302: "Redirect to the address in Location",
  400: "Malformed request",
  401: "Missing or invalid API key",
  403: "Not permitted",
  404: "No such resource",
  408: "The body did not arrive in time",
  409: "Conflict with the current state, or a quota is used up",
  412: "The object was changed since its ETag was read",
  413: "Body too large",
  415: "Compressed body",
  422: "Validation failed; details in errors",
  429: "Rate limit exceeded",
  500: "Unexpected error",
  503: "Not available right now",
};

export function describeStatus(status: string): string {
  return STATUSES[status] ?? "Done";
}

type SharedError = {
  name: string;
  example: AppError;
  /** Headers besides those of every error. */
  headers?: readonly DocumentedHeader[];
};

const ERRORS: Readonly<Record<string, SharedError>> = {
  400: {
    name: "BadRequest",
    example: new AppError(400, "INVALID_JSON", "The body is not valid JSON."),
    headers: WITH_KEY,
  },
  401: {
    name: "Unauthorized",
    example: new AppError(401, "MISSING_AUTH", "No API key was sent, or the header is malformed."),
    headers: ["WWW-Authenticate"],
  },
  403: {
    name: "Forbidden",
    example: new AppError(403, "FORBIDDEN", "A public key may only be used for /v1/track."),
    headers: WITH_KEY,
  },
  404: { name: "NotFound", example: notFound("CONTACT"), headers: WITH_KEY },
  408: {
    name: "RequestTimeout",
    example: new AppError(408, "REQUEST_TIMEOUT", "The body did not arrive in time."),
    headers: WITH_KEY,
  },
  409: {
    name: "Conflict",
    example: new AppError(409, "CONFLICT", "Another contact has this email address."),
    headers: WITH_KEY,
  },
  412: {
    name: "PreconditionFailed",
    example: revisionConflict("template", 3),
    headers: [...WITH_KEY, "ETag"],
  },
  413: {
    name: "PayloadTooLarge",
    example: new AppError(413, "PAYLOAD_TOO_LARGE", "The body is larger than 512 KiB."),
    headers: WITH_KEY,
  },
  415: {
    name: "UnsupportedMediaType",
    example: new AppError(415, "UNSUPPORTED_MEDIA_TYPE", "A compressed body is not accepted."),
    headers: [...WITH_KEY, "Accept-Encoding"],
  },
  422: {
    name: "ValidationFailed",
    example: fieldError(
      "email",
      "invalid_format",
      "must be an email address such as ada@example.com",
    ),
    headers: WITH_KEY,
  },
  429: {
    name: "TooManyRequests",
    example: new AppError(429, "RATE_LIMIT_EXCEEDED", "Too many requests in one minute."),
    headers: [...WITH_KEY, "Retry-After"],
  },
  500: {
    name: "InternalServerError",
    example: new AppError(
      500,
      "INTERNAL_SERVER_ERROR",
      "The server failed to answer because of an internal error.",
    ),
    headers: WITH_KEY,
  },
  503: {
    name: "ServiceUnavailable",
    example: new AppError(503, "SERVICE_UNAVAILABLE", "The service is shutting down."),
    headers: [...WITH_KEY, "Retry-After"],
  },
};

/** Returns a reference to the shared response of an error status. */
export function errorReference(status: string): { $ref: string } {
  const name = ERRORS[status]?.name;
  if (name === undefined) throw new Error(`no shared error has the status ${status}`);
  return { $ref: `#/components/responses/${name}` };
}

/** The shared responses, by name. */
export function errorResponses(): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(ERRORS).map(([status, { name, example, headers = [] }]) => [
      name,
      {
        description: describeStatus(status),
        headers: references([...ALWAYS, ...headers]),
        content: {
          "application/json": {
            schema: { $ref: "#/components/schemas/Error" },
            example: errorBody(example, CONTEXT),
          },
        },
      },
    ]),
  );
}

const CONTEXT = {
  requestId: EXAMPLE.requestId,
  path: "/",
  nowMs: Date.parse(EXAMPLE.createdAt),
};

function text(description: string, example: string) {
  return { description, schema: { type: "string" }, example };
}

function integer(description: string, example: number) {
  return { description, schema: { type: "integer" }, example };
}
