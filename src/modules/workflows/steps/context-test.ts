/**
 * Evaluates the test of a `data.<path>` filter on a value in memory. It has the same result as the
 * SQL of segments/sql/compile-data.ts. An execution needs it for its context, which the conditions of
 * segments cannot read. Values are compared with their JSON types; a missing key and null match only
 * `notExists`. Pure.
 */

import { isRecord } from "../../../http/validation.ts";
import { parsePeriod } from "../../segments/condition/dates.ts";
import type { DataTest, Scalar } from "../../segments/condition/operators.ts";

/** Whether the test holds for the value at its path in `root`. */
export function holdsFor(root: unknown, test: DataTest, now: number): boolean {
  const value = valueAt(root, test.path);
  const isThere = value !== undefined && value !== null;
  if (test.operator === "notExists") return !isThere;
  if (!isThere) return false;
  switch (test.operator) {
    case "exists":
      return true;
    case "equals":
      return value === test.value;
    case "notEquals":
      return value !== test.value;
    case "contains":
      return contains(value, test.value);
    case "notContains":
      return !contains(value, test.value);
    case "in":
      return test.values.some((item) => item === value);
    case "notIn":
      return !test.values.some((item) => item === value);
    case "within":
      return isDate(value, (at) => at >= now - test.spanMs && at <= now);
    case "olderThan":
      return isDate(value, (at) => at < now - test.spanMs);
    case "greaterThan":
      return isOrdered(value, test.value, (order) => order > 0);
    case "greaterThanOrEqual":
      return isOrdered(value, test.value, (order) => order >= 0);
    case "lessThan":
      return isOrdered(value, test.value, (order) => order < 0);
    case "lessThanOrEqual":
      return isOrdered(value, test.value, (order) => order <= 0);
  }
}

/** The value at a path of object keys. A key does not select an item of a list. */
function valueAt(root: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    root,
  );
}

/** A string may contain a string, case-sensitively; a list may contain any value. */
function contains(value: unknown, wanted: Scalar): boolean {
  if (Array.isArray(value)) return value.some((item) => item === wanted);
  return typeof value === "string" && typeof wanted === "string" && value.includes(wanted);
}

/** Compares numbers with numbers, and strings with strings by code point. */
function isOrdered(
  value: unknown,
  wanted: string | number,
  suits: (order: number) => boolean,
): boolean {
  if (typeof value === "number" && typeof wanted === "number") return suits(value - wanted);
  if (typeof value !== "string" || typeof wanted !== "string") return false;
  return suits(Buffer.compare(Buffer.from(value), Buffer.from(wanted)));
}

function isDate(value: unknown, suits: (at: number) => boolean): boolean {
  const period = typeof value === "string" ? parsePeriod(value) : null;
  return period !== null && suits(period.fromMs);
}
