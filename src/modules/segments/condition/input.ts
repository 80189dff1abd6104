/** Reads and checks the members of one filter; every error is recorded with its path. */

import { isRecord } from "../../../http/validation.ts";
import { type FieldError, type FieldErrorCode, REQUIRED } from "../../../lib/errors.ts";
import { splitPath } from "../../../lib/key-path.ts";
import { type Comparable, comparableMessage, dateMessage } from "./comparable.ts";
import { parsePeriod, type Period, spanMs, UNITS } from "./dates.ts";
import { parseField, type Target } from "./fields.ts";

export type Scalar = string | number | boolean;

/** The kinds of values that operators take, and the type of the checked value. */
export type Values = {
  /** The operator takes no value. */
  nothing: true;
  text: string;
  flag: boolean;
  scalar: Scalar;
  /** A scalar; a text is searched for in other texts. */
  part: Scalar;
  comparable: Comparable;
  list: readonly Scalar[];
  period: Period;
  /** `value` and `unit` together, in milliseconds. */
  span: number;
  /** A number of times, at least 1. */
  count: number;
};

export type CheckResult<T> =
  | { ok: true; value: T }
  /** All violations, each with the path of the faulty filter. */
  | { ok: false; errors: FieldError[] };

/** Reads a value of each kind. */
export type Readers = { [Kind in keyof Values]: () => Values[Kind] | null };

/** Each method returns null if its member is missing or wrong, and records an error. */
export type FilterInput = Readers & {
  target(): Target | null;
  operator(allowed: readonly string[]): string | null;
  /** The path in the data of an event. */
  property(): readonly string[] | null;
  /** The operator for that property. */
  test(allowed: readonly string[]): string | null;
};

/** Longest text value; the data of a contact cannot be larger (docs/interface.md#contacts). */
const LONGEST_TEXT = 64 * 1024;
/**
 * Longest text to search for within texts. SQLite compares it at every position, so the time of one
 * search is the product of both lengths: 1 ms for this one in the largest data of a contact.
 */
const LONGEST_PART = 1000;
const MAX_VALUES = 1000;
const LARGEST_AMOUNT = 10_000_000;
const LONGEST_PROPERTY = 1000;

/**
 * REQUEST: each fault is an error. STORED: a comparison with a text, which earlier versions accepted,
 * is read as a problem, so that an object that contains it can be loaded.
 */
export type FilterOrigin = "REQUEST" | "STORED";

export function createFilterInput(
  given: unknown,
  { at, errors, origin }: { at: string; errors: FieldError[]; origin: FilterOrigin },
): FilterInput {
  const filter = isRecord(given) ? given : {};

  function fail(member: string, code: FieldErrorCode, message: string): null {
    errors.push({ field: `${at}.${member}`, message, code });
    return null;
  }

  function failMissing(member: string): null {
    return fail(member, "required", REQUIRED);
  }

  function failType(expected: string): null {
    const isMissing = filter["value"] === undefined || filter["value"] === null;
    return isMissing ? failMissing("value") : fail("value", "invalid_type", `must be ${expected}`);
  }

  function readAmount(): number | null {
    const { value } = filter;
    if (typeof value !== "number") return failType("a whole number");
    if (!Number.isInteger(value)) return failType("a whole number");
    if (value < 1) return fail("value", "too_small", "must be at least 1");
    if (value > LARGEST_AMOUNT)
      return fail("value", "too_big", `must be at most ${LARGEST_AMOUNT}`);
    return value;
  }

  function readChoice(member: string, allowed: readonly string[], where: string): string | null {
    const chosen = filter[member];
    if (chosen === undefined) return failMissing(member);
    const known = allowed.find((name) => name === chosen);
    return known ?? fail(member, "invalid_value", `must be one of ${allowed.join(", ")} ${where}`);
  }

  function readItem(value: unknown, i: number): Scalar[] {
    const member = `value.${i}`;
    if (isScalar(value)) return [value];
    if (typeof value === "string") fail(member, "too_big", TOO_LONG);
    else fail(member, "invalid_type", "must be a string, a number, true or false");
    return [];
  }

  return {
    target() {
      const { field } = filter;
      if (field === undefined) return failMissing("field");
      if (typeof field !== "string") return fail("field", "invalid_type", "must be a string");
      const target = parseField(field);
      return typeof target === "string" ? fail("field", "invalid_value", target) : target;
    },
    operator: (allowed) => readChoice("operator", allowed, "for this field"),
    test: (allowed) => readChoice("test", allowed, "for a property"),
    property() {
      const { property } = filter;
      if (property === undefined) return failMissing("property");
      if (typeof property !== "string") return fail("property", "invalid_type", "must be a string");
      if (property.length > LONGEST_PROPERTY) {
        return fail("property", "too_big", `must have at most ${LONGEST_PROPERTY} characters`);
      }
      const path = splitPath(property);
      return path.includes("")
        ? fail("property", "invalid_value", "must name a key, as plan or order.total")
        : path;
    },
    count: readAmount,
    nothing: () => true,
    text() {
      const { value } = filter;
      if (typeof value !== "string") return failType("a string");
      return value.length > LONGEST_TEXT ? fail("value", "too_big", TOO_LONG) : value;
    },
    flag() {
      const { value } = filter;
      return typeof value === "boolean" ? value : failType("true or false");
    },
    scalar() {
      const { value } = filter;
      if (isScalar(value)) return value;
      if (typeof value === "string") return fail("value", "too_big", TOO_LONG);
      return failType("a string, a number, true or false");
    },
    part() {
      const { value } = filter;
      const isLong = typeof value === "string" && value.length > LONGEST_PART;
      if (isLong) return fail("value", "too_big", `must have at most ${LONGEST_PART} characters`);
      return this.scalar();
    },
    comparable() {
      const { value } = filter;
      if (typeof value === "number" && Number.isFinite(value)) return value;
      if (typeof value !== "string") return failType("a number or a date");
      const period = parsePeriod(value);
      if (period !== null) return period;
      const message = comparableMessage(value);
      if (origin === "REQUEST") return fail("value", "invalid_format", message);
      return { field: String(filter["field"]), value, message };
    },
    list() {
      const { value } = filter;
      if (!Array.isArray(value)) return failType("an array of strings, numbers, true or false");
      if (value.length === 0) return fail("value", "too_small", "must have at least one item");
      if (value.length > MAX_VALUES) {
        return fail("value", "too_big", `must have at most ${MAX_VALUES} items`);
      }
      const values = value.flatMap(readItem);
      return values.length === value.length ? values : null;
    },
    period() {
      const { value } = filter;
      if (typeof value !== "string") return failType("a date");
      return parsePeriod(value) ?? fail("value", "invalid_format", dateMessage(value));
    },
    span() {
      const value = readAmount();
      if (filter["unit"] === undefined) return failMissing("unit");
      const unit = UNITS.find((name) => name === filter["unit"]);
      if (unit === undefined) {
        return fail("unit", "invalid_value", `must be one of ${UNITS.join(", ")}`);
      }
      return value === null ? null : spanMs(value, unit);
    },
  };
}

const TOO_LONG = `must have at most ${LONGEST_TEXT} characters`;

/** JSON allows numbers that are too large for a double: 1e999 is parsed as infinity. */
function isScalar(value: unknown): value is Scalar {
  if (typeof value === "string") return value.length <= LONGEST_TEXT;
  return typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value));
}
