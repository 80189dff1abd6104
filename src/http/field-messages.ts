/**
 * The messages for violations of a schema. Each message is a predicate without a full stop, such as
 * `must not be empty`. It is shown alone beside the field's name in `errors[]`, and after the
 * field's name in the `message` of the whole error.
 */

import { FormatRegistry, Kind, type TSchema } from "@sinclair/typebox";
import { type ValueError, ValueErrorType } from "@sinclair/typebox/errors";
import { REQUIRED } from "../lib/errors.ts";

type FormatMessage = string | ((text: string) => string);

const formatMessages = new Map<string, FormatMessage>();

/** Registers a string format: `isValid` checks a text, and `message` says what is expected. */
export function defineFormat(
  name: string,
  isValid: (text: string) => boolean,
  message: FormatMessage,
): void {
  FormatRegistry.Set(name, isValid);
  formatMessages.set(name, message);
}

/* Query strings carry only text. These kinds check the text, and OpenAPI shows the parsed type. */
export const QUERY_INTEGER = "QueryInteger";
export const QUERY_BOOLEAN = "QueryBoolean";

export function messageOf({ type, schema, value, message }: ValueError): string {
  switch (type) {
    case ValueErrorType.ObjectRequiredProperty:
      return REQUIRED;
    case ValueErrorType.ObjectAdditionalProperties:
      return "is not supported";
    case ValueErrorType.StringFormat:
      return formatMessage(String(schema["format"]), value);
    case ValueErrorType.StringPattern:
      return patternText(schema);
    case ValueErrorType.StringMinLength:
      return isOne(schema["minLength"])
        ? "must not be empty"
        : `must have at least ${schema["minLength"]} characters`;
    case ValueErrorType.StringMaxLength:
      return `must have at most ${quantity(schema["maxLength"], "character")}`;
    case ValueErrorType.ArrayMinItems:
      return `must have at least ${quantity(schema["minItems"], "item")}`;
    case ValueErrorType.ArrayMaxItems:
      return `must have at most ${quantity(schema["maxItems"], "item")}`;
    case ValueErrorType.NumberMinimum:
    case ValueErrorType.IntegerMinimum:
      return `must be at least ${minimumText(schema)}`;
    case ValueErrorType.NumberMaximum:
    case ValueErrorType.IntegerMaximum:
      return `must be at most ${schema["maximum"]}`;
    case ValueErrorType.Kind:
      return queryMessage(schema);
    default:
      return typeMessage(schema) ?? `is not valid: ${message}`;
  }
}

function formatMessage(format: string, value: unknown): string {
  const message = formatMessages.get(format) ?? "has the wrong format";
  return typeof message === "string" ? message : message(String(value));
}

/**
 * Key of a text that says the minimum in words. It is a symbol, so that OpenAPI does not show it.
 */
export const MINIMUM_TEXT = Symbol("minimumText");

/** Key of a text that says in words what a pattern demands, such as "must be …". */
export const PATTERN_TEXT = Symbol("patternText");

function patternText(schema: TSchema): string {
  const text: unknown = Reflect.get(schema, PATTERN_TEXT);
  return typeof text === "string" ? text : `must match the pattern ${schema["pattern"]}`;
}

function minimumText(schema: TSchema): string {
  const text: unknown = Reflect.get(schema, MINIMUM_TEXT);
  return typeof text === "string" ? text : String(schema["minimum"]);
}

function isOne(count: unknown): boolean {
  return count === 1;
}

function quantity(count: unknown, noun: string): string {
  return isOne(count) ? `one ${noun}` : `${String(count)} ${noun}s`;
}

function queryMessage(schema: TSchema): string {
  if (schema[Kind] === QUERY_BOOLEAN) return "must be true or false";
  return `must be a whole number from ${schema["minimum"]} to ${schema["maximum"]}`;
}

/** The message for a value that has none of the schema's types; null if the schema has no type. */
function typeMessage(schema: TSchema): string | null {
  const names = typeNames(schema);
  const last = names.pop();
  if (last === undefined) return null;
  return `must be ${names.length === 0 ? last : `${names.join(", ")} or ${last}`}`;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  object: "an object",
  array: "an array",
  null: "null",
};

function typeNames(schema: TSchema): string[] {
  const variants: readonly TSchema[] = schema["anyOf"] ?? [];
  if (variants.length > 0) return [...new Set(variants.flatMap(typeNames))];
  if ("const" in schema) return [JSON.stringify(schema["const"])];
  const name = TYPE_NAMES[String(schema["type"])];
  return name === undefined ? [] : [name];
}

/** The message for a string that is not one of the accepted strings. */
export function choiceMessage(choices: readonly unknown[]): string {
  return choices.length === 1
    ? `must be ${String(choices[0])}`
    : `must be one of ${choices.join(", ")}`;
}
