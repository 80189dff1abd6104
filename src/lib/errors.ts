/** Errors that callers of the API may see. Every other error becomes a 500 without details. */

export type FieldErrorCode =
  | "required"
  | "invalid_type"
  | "invalid_format"
  | "too_small"
  | "too_big"
  | "invalid_value"
  | "reserved_event"
  | "unknown_field"
  | "unknown_reference";

/** The message of a field that is missing. */
export const REQUIRED = "is required";

/**
 * One faulty field of a request. `field` is a dotted path such as `to.1.email`, or empty for the
 * whole body. `message` is a predicate of the field without a full stop, such as `must not be
 * empty`.
 */
export type FieldError = { field: string; message: string; code: FieldErrorCode };

type AppErrorDetails = {
  errors?: readonly FieldError[];
  /** The fix for the caller, in one sentence. */
  suggestion?: string;
  headers?: Readonly<Record<string, string>>;
  cause?: unknown;
  /** The body is `{"error": message}`, as a route that imitates another service answers. */
  isBare?: boolean;
};

/** The refusal of a request. `message` is for the caller and contains no internal details. */
export class AppError extends Error {
  readonly status: number;
  readonly code: string;
  readonly errors: readonly FieldError[] | undefined;
  readonly suggestion: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly isBare: boolean;

  constructor(status: number, code: string, message: string, details: AppErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.name = "AppError";
    this.status = status;
    this.code = code;
    this.errors = details.errors;
    this.suggestion = details.suggestion;
    this.headers = details.headers ?? {};
    this.isBare = details.isBare ?? false;
  }
}

/** 422 with all violations. Its message is the first one, because many clients show only that. */
export function validationError(errors: readonly FieldError[]): AppError {
  return new AppError(422, "VALIDATION_ERROR", summaryOf(errors), { errors });
}

/** A path contains names from the request, and a name may be as long as the body. */
const LONGEST_FIELD_SHOWN = 200;

/** Describes the first violation and counts the others: `from: is required (and 2 more)`. */
export function summaryOf(errors: readonly Pick<FieldError, "field" | "message">[]): string {
  const [first] = errors;
  if (first === undefined) return "The request is not valid.";
  const more = errors.length === 1 ? "" : ` (and ${errors.length - 1} more)`;
  return `${shownField(first.field)}: ${first.message}${more}`;
}

/** Sentences in a row. A message that ends without a full stop gets one. */
export const inSentences = (...texts: readonly string[]): string =>
  texts
    .filter((text) => text !== "")
    .map((text, i, all) => (i === all.length - 1 || /[.!?]$/.test(text) ? text : `${text}.`))
    .join(" ");

function shownField(field: string): string {
  if (field === "") return "request body";
  return field.length > LONGEST_FIELD_SHOWN
    ? `${field.slice(0, LONGEST_FIELD_SHOWN).toWellFormed()}…`
    : field;
}

/** 422 for one field. */
export function fieldError(field: string, code: FieldErrorCode, message: string): AppError {
  return validationError([{ field, message, code }]);
}

/** 404 `<RESOURCE>_NOT_FOUND`. It is also the answer for a resource of another project. */
export function notFound(resource: string): AppError {
  const name = resource.toLowerCase().replaceAll("_", " ");
  return new AppError(404, `${resource}_NOT_FOUND`, `No such ${name}.`, {
    suggestion: `Check the ${name} id; it must belong to the project of the API key.`,
  });
}
