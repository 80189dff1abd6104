/** Turns errors into structured responses with a request id. Internal errors show no details. */

import { KindGuard } from "@sinclair/typebox";
import { ValidationError } from "elysia";
import { AppError, validationError } from "../lib/errors.ts";
import { describeError, type Log } from "../lib/log.ts";
import type { Project } from "./admission.ts";
import type { ErrorBody } from "./envelope.ts";
import { withoutImitation } from "./route-path.ts";
import { type CheckContext, fieldErrors } from "./validation.ts";

const SUGGESTIONS: Readonly<Record<number, string>> = {
  400: "Check the request against the documentation at /docs.",
  401: "Send the header Authorization: Bearer <API key>.",
  403: "Use a key that is allowed to do this.",
  404: "Check the path; /docs shows every route in a browser, and /openapi.json is for programs.",
  405: "Use one of the methods that the Allow header names.",
  408: "Send the request again, faster.",
  409: "Read the current state, then decide whether to send another request.",
  422: "Correct the fields listed in errors and send the request again.",
  429: "Wait for the number of seconds in Retry-After, then try again.",
  503: "Try again in a few seconds.",
};
const DEFAULT_SUGGESTION =
  "Try again. If the error persists, send the requestId to the operator, who finds it in the log.";

export type ErrorContext = {
  requestId: string;
  path: string;
  /** The pattern of the route, such as `/contacts/:id`; null if the request reached none. */
  route: string | null;
  nowMs: number;
  log: Log;
  /** Null if the request was not admitted. */
  project: Project | null;
  /** Whether the request has the parameter `lenient`. */
  isLenient: boolean;
};

/**
 * Returns the response for an error. An unknown error is logged and becomes a 500 without details.
 */
export function toAppError(error: unknown, context: ErrorContext): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof ValidationError && error.type === "params") return badPath();
  if (error instanceof ValidationError && error.type !== "response") {
    return refusalOf(error, context);
  }
  // Elysia wraps errors that are thrown while a body is parsed.
  if (error instanceof Error && error.cause instanceof AppError) return error.cause;
  // The path is not logged: it may contain the address of a person or a secret token.
  context.log.error("unexpected error", {
    requestId: context.requestId,
    route: context.route,
    error: describeError(error),
  });
  return new AppError(
    500,
    "INTERNAL_SERVER_ERROR",
    "The server failed to answer because of an internal error.",
  );
}

/** Path parameters are strings, so the only invalid ones have a broken percent-encoding. */
function badPath(): AppError {
  return new AppError(400, "BAD_REQUEST", "The path is not valid percent-encoded UTF-8.");
}

function refusalOf(error: ValidationError, request: CheckContext): AppError {
  const schema: unknown = Reflect.get(error.validator, "schema");
  const found = KindGuard.IsSchema(schema) ? fieldErrors(schema, error.value, request) : [];
  return validationError(
    found.length > 0
      ? found
      : [{ field: error.type, message: "is not valid", code: "invalid_value" }],
  );
}

/**
 * Returns the error body (docs/specification.md#s7.1). On `/v1/*` it also has the members of the
 * older format (docs/specification.md#s7.2).
 */
export function errorBody(
  error: AppError,
  context: Pick<ErrorContext, "requestId" | "path" | "nowMs">,
): ErrorBody | { error: string } {
  if (error.isBare) return { error: error.message };
  return {
    success: false,
    error: {
      code: error.code,
      message: error.message,
      statusCode: error.status,
      requestId: context.requestId,
      ...(error.errors === undefined ? {} : { errors: [...error.errors] }),
      suggestion: error.suggestion ?? SUGGESTIONS[error.status] ?? DEFAULT_SUGGESTION,
    },
    timestamp: new Date(context.nowMs).toISOString(),
    ...(withoutImitation(context.path).startsWith("/v1/")
      ? { code: error.status, message: error.message, time: context.nowMs }
      : {}),
  };
}
