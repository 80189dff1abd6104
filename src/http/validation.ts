/** Turns schema violations into the `errors[]` of a 422 response, each with a dotted path. */

import { Kind, type TProperties, type TSchema, Type, TypeRegistry } from "@sinclair/typebox";
import { type ValueError, ValueErrorType } from "@sinclair/typebox/errors";
import { Value } from "@sinclair/typebox/value";
import type { Project } from "./admission.ts";
import { choiceMessage, messageOf, QUERY_BOOLEAN, QUERY_INTEGER } from "./field-messages.ts";
import { type FieldError, type FieldErrorCode, validationError } from "../lib/errors.ts";

/** Most errors in one response, so that a body with a million errors gets a small response. */
export const MAX_ERRORS = 100;

/**
 * Rules that a JSON schema cannot express, such as fields that depend on each other. They also run
 * on a value that violates the schema, so that one response reports the errors of both.
 */
type Checks = (value: Readonly<Record<string, unknown>>, request: CheckContext) => FieldError[];

/** The values on which a rule may depend besides the checked one. */
export type CheckContext = {
  project: Project | null;
  /** Whether a template may contain the syntax of other languages (`LenientQuery`). */
  isLenient: boolean;
};

const STRICT: CheckContext = { project: null, isLenient: false };

const CHECKS = Symbol("checks");

/** Attaches cross-field rules to an object schema. */
export function withChecks<T extends TSchema>(schema: T, checks: Checks): T {
  return { ...schema, [CHECKS]: checks };
}

/** Every violation of `schema` by `value`, in document order, at most one per field. */
export function fieldErrors(
  schema: TSchema,
  value: unknown,
  request: CheckContext = STRICT,
): FieldError[] {
  return firstByField(allErrors(schema, value, request));
}

/**
 * Yields errors lazily: a body may have a million errors, and only the first hundred are reported.
 */
function* allErrors(schema: TSchema, value: unknown, request: CheckContext): Generator<FieldError> {
  for (const error of Value.Errors(schema, value)) yield* toFieldErrors(error);
  yield* crossFieldErrors(schema, value, request);
}

/** Throws 422 if a body that satisfies its schema violates a rule attached by `withChecks`. */
export function ensureChecks(schema: TSchema, value: unknown, isLenient = false): void {
  const errors = crossFieldErrors(schema, value, { ...STRICT, isLenient });
  if (errors.length > 0) throw validationError(errors.slice(0, MAX_ERRORS));
}

function crossFieldErrors(schema: TSchema, value: unknown, request: CheckContext): FieldError[] {
  const checks = findChecks(schema);
  return checks !== null && isRecord(value) ? checks(value, request) : [];
}

function findChecks(schema: object): Checks | null {
  for (const symbol of Object.getOwnPropertySymbols(schema)) {
    if (symbol !== CHECKS) continue;
    const checks: unknown = Reflect.get(schema, symbol);
    if (typeof checks === "function") {
      return (value, request) => Reflect.apply(checks, undefined, [value, request]);
    }
  }
  return null;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function firstByField(errors: Iterable<FieldError>): FieldError[] {
  const found = new Map<string, FieldError>();
  for (const error of errors) {
    if (!found.has(error.field)) found.set(error.field, error);
    if (found.size === MAX_ERRORS) break;
  }
  return [...found.values()];
}

function* toFieldErrors(error: ValueError): Generator<FieldError> {
  if (error.type === ValueErrorType.Union) yield* unionErrors(error);
  else yield { field: dottedPath(error.path), message: messageOf(error), code: codeOf(error) };
}

/**
 * For a value that matches no variant of a union, the errors are those of the first variant that
 * has the JSON type of the value. An invalid address in an array of recipients is thus reported
 * with the path of the address, not of the array.
 */
function* unionErrors(error: ValueError): Generator<FieldError> {
  const field = dottedPath(error.path);
  const variants: TSchema[] = error.schema["anyOf"];
  const literals = variants.flatMap((variant) => ("const" in variant ? [variant["const"]] : []));
  if (literals.length > 0 && typeof error.value === "string") {
    yield { field, message: choiceMessage(literals), code: "invalid_value" };
    return;
  }
  const inner = error.errors[variants.findIndex((variant) => hasTypeOf(error.value, variant))];
  if (inner === undefined) {
    yield { field, message: messageOf(error), code: "invalid_type" };
    return;
  }
  for (const fault of inner) yield* toFieldErrors(fault);
}

/** A nested union has no type of its own, so it is assumed to match any value except null. */
function hasTypeOf(value: unknown, { type, anyOf }: TSchema): boolean {
  const given = jsonType(value);
  if (type === undefined) return anyOf !== undefined && given !== "null";
  return type === given || (type === "integer" && given === "number");
}

function jsonType(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value;
}

function dottedPath(path: string): string {
  return path
    .slice(1)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .join(".");
}

const CODES: Partial<Record<ValueErrorType, FieldErrorCode>> = {
  [ValueErrorType.ObjectRequiredProperty]: "required",
  [ValueErrorType.ObjectAdditionalProperties]: "unknown_field",
  [ValueErrorType.StringFormat]: "invalid_format",
  [ValueErrorType.StringFormatUnknown]: "invalid_format",
  [ValueErrorType.StringPattern]: "invalid_format",
  [ValueErrorType.StringMinLength]: "too_small",
  [ValueErrorType.StringMaxLength]: "too_big",
  [ValueErrorType.ArrayMinItems]: "too_small",
  [ValueErrorType.ArrayMaxItems]: "too_big",
  [ValueErrorType.ObjectMinProperties]: "too_small",
  [ValueErrorType.ObjectMaxProperties]: "too_big",
  [ValueErrorType.NumberMinimum]: "too_small",
  [ValueErrorType.NumberMaximum]: "too_big",
  [ValueErrorType.NumberExclusiveMinimum]: "too_small",
  [ValueErrorType.IntegerMinimum]: "too_small",
  [ValueErrorType.IntegerMaximum]: "too_big",
  [ValueErrorType.Literal]: "invalid_value",
};

function codeOf(error: ValueError): FieldErrorCode {
  if (error.type === ValueErrorType.Kind) return queryCode(error);
  return CODES[error.type] ?? "invalid_type";
}

/** An object that a caller sends. unknown-fields.ts handles its unknown fields. */
export function Input<T extends TProperties>(properties: T) {
  return Type.Object(properties, { additionalProperties: true });
}

/** A string that is one of `values`. */
export function OneOf<const T extends string>(values: readonly T[]) {
  return Type.Unsafe<T>(Type.Union(values.map((value) => Type.Literal(value))));
}

/** The schema has no `default`, because Elysia would insert a number where the query has text. */
export function QueryInteger(options: { minimum: number; maximum: number; description: string }) {
  return Type.Unsafe<string>({ ...options, [Kind]: QUERY_INTEGER, type: "integer" });
}

export function QueryBoolean() {
  return Type.Unsafe<"true" | "false">({ [Kind]: QUERY_BOOLEAN, type: "boolean" });
}

const MAY_BE_EMPTY = Symbol("may be empty");

/** The query of routes that take templates. `?lenient` is the same as `?lenient=true`. */
export const LenientQuery = Input({
  lenient: Type.Optional({
    ...QueryBoolean(),
    [MAY_BE_EMPTY]: true,
    description:
      "Accepts the syntax of other template languages, such as {{#if}}, as the name of a variable",
  }),
});

/** Whether a request has the parameter of `LenientQuery`. */
export function isLenient({ url }: Pick<Request, "url">): boolean {
  const at = url.indexOf("?");
  return at !== -1 && /(?:^|&)lenient(?:=(?:true)?)?(?:&|$)/.test(url.slice(at + 1));
}

type Bounds = { minimum: number; maximum: number };

TypeRegistry.Set<Bounds>(QUERY_INTEGER, ({ minimum, maximum }, value) => {
  const isInteger = typeof value === "string" && /^-?\d{1,15}$/.test(value);
  return isInteger && Number(value) >= minimum && Number(value) <= maximum;
});
TypeRegistry.Set<object>(
  QUERY_BOOLEAN,
  (schema, value) =>
    value === "true" || value === "false" || (value === "" && MAY_BE_EMPTY in schema),
);

function queryCode({ schema, value }: ValueError): FieldErrorCode {
  if (schema[Kind] !== QUERY_INTEGER || !/^-?\d+$/.test(String(value))) return "invalid_type";
  return Number(value) < schema["minimum"] ? "too_small" : "too_big";
}
