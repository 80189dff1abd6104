/**
 * SQL of tests on a value in a contact's data, which is JSON. The types are those of JSON: "5" is not
 * 5 and true is not 1. The table of operators (condition/operators.ts) is made of these tests.
 */

import type { Period } from "../condition/dates.ts";
import type { Scalar } from "../condition/input.ts";
import { anyOf, bind, type Bound, type Fragment } from "./bind.ts";

/** SQL for the value at a path of the data (NULL if there is none), its JSON type, and the path. */
export type DataField = { value: Fragment; type: Fragment; path: Fragment };

/**
 * The path is a bound value. Each key is quoted as JSON text, so it may have any characters. A key
 * that contains dots is found without a backslash as well, and comes first, as in templates.
 */
export function fieldAt(keys: readonly string[]): DataField {
  const nested = `$${keys.map((key) => `.${JSON.stringify(key)}`).join("")}`;
  const literal = `$.${JSON.stringify(keys.join("."))}`;
  const path =
    keys.length === 1
      ? bind`${nested}`
      : bind`iif(json_type(contacts.data, ${literal}) IS NULL, ${nested}, ${literal})`;
  return {
    value: bind`json_extract(contacts.data, ${path})`,
    type: bind`json_type(contacts.data, ${path})`,
    path,
  };
}

export function exists({ type }: DataField): Fragment {
  return bind`${type} <> 'null'`;
}

/** True for a missing key and for null. */
export function isMissing({ type }: DataField): Fragment {
  return bind`coalesce(${type}, 'null') = 'null'`;
}

export function existsAndNot({ type }: DataField, test: Fragment): Fragment {
  return bind`(${type} <> 'null' AND (${test}) IS NOT TRUE)`;
}

const NUMERIC = bind`IN ('integer', 'real')`;
const TEXTUAL = bind`= 'text'`;

/**
 * Checks the type only where necessary, because each check parses the JSON once more. json_extract
 * converts true and false to 1 and 0, and arrays and objects to JSON text; other values keep their
 * type.
 */
export function equals({ value, type }: DataField, wanted: Scalar): Fragment {
  if (typeof wanted === "boolean") return bind`${type} = ${String(wanted)}`;
  const isSame = bind`${value} = ${bound(wanted)}`;
  if (typeof wanted === "number") {
    return wanted === 0 || wanted === 1 ? bind`(${isSame} AND ${type} ${NUMERIC})` : isSame;
  }
  return /^[[{]/.test(wanted) ? bind`(${isSame} AND ${type} ${TEXTUAL})` : isSame;
}

const COMPARISONS = {
  greaterThan: { sign: bind`>`, isAfterPeriod: true },
  greaterThanOrEqual: { sign: bind`>=`, isAfterPeriod: false },
  lessThan: { sign: bind`<`, isAfterPeriod: false },
  lessThanOrEqual: { sign: bind`<=`, isAfterPeriod: true },
} as const;

export type Comparison = keyof typeof COMPARISONS;

/** Compares a number with numbers only, and a date with dates only; texts are in no order. */
export function compare(
  field: DataField,
  wanted: number | Period,
  comparison: Comparison,
): Fragment {
  const { value, type } = field;
  const { sign, isAfterPeriod } = COMPARISONS[comparison];
  if (typeof wanted === "number") {
    return bind`(${type} ${NUMERIC} AND ${value} ${sign} ${bound(wanted)})`;
  }
  // The whole day of a date without time is equal to it.
  const edge = (isAfterPeriod ? wanted.untilMs : wanted.fromMs) / 1000;
  const order = comparison.startsWith("greater") ? bind`>=` : bind`<`;
  return bind`(${isDate(field)} AND ${secondsOf(field)} ${order} ${edge})`;
}

/** True for values that are no date or no number, which no comparison of these matches. */
export function isUnlike(field: DataField, expected: "date" | "number"): Fragment {
  if (expected === "number") return existsAndNot(field, bind`${field.type} ${NUMERIC}`);
  return existsAndNot(field, bind`${isDate(field)} AND ${secondsOf(field)} IS NOT NULL`);
}

/** A text may contain a text (case-sensitive), an array any value. */
export function contains({ value, type, path }: DataField, wanted: Scalar): Fragment {
  const item = equals({ value: bind`item.value`, type: bind`item.type`, path }, wanted);
  const hasItem = bind`(${type} = 'array' AND EXISTS (
    SELECT 1 FROM json_each(contacts.data, ${path}) AS item WHERE ${item}))`;
  if (typeof wanted !== "string") return hasItem;
  return bind`(${type} = 'text' AND instr(${value}, ${wanted}) > 0 OR ${hasItem})`;
}

export function isListed({ value, type }: DataField, wanted: readonly Scalar[]): Fragment {
  const texts = wanted.filter((item) => typeof item === "string");
  const numbers = wanted.filter((item) => typeof item === "number");
  const flags = wanted.filter((item) => typeof item === "boolean");
  const among = (list: readonly Scalar[]) =>
    bind`${value} IN (SELECT listed.value FROM json_each(${JSON.stringify(list)}) AS listed)`;
  return anyOf([
    ...(texts.length > 0 ? [bind`(${type} ${TEXTUAL} AND ${among(texts)})`] : []),
    ...(numbers.length > 0 ? [bind`(${type} ${NUMERIC} AND ${among(numbers)})`] : []),
    ...[...new Set(flags)].map((flag) => bind`${type} = ${String(flag)}`),
  ]);
}

/** A future date is not within the last days. */
export function isDateBetween(field: DataField, fromMs: number, untilMs: number): Fragment {
  return bind`(${isDate(field)} AND ${secondsOf(field)} BETWEEN ${fromMs / 1000} AND ${untilMs / 1000})`;
}

export function isDateBefore(field: DataField, beforeMs: number): Fragment {
  return bind`(${isDate(field)} AND ${secondsOf(field)} < ${beforeMs / 1000})`;
}

/** True on the day and month of the date, in UTC; on 28 February for 29 February in other years. */
export function isAnniversary(field: DataField, now: number): Fragment {
  const today = new Date(now).toISOString().slice(5, 10);
  const isLeap = new Date(Date.UTC(new Date(now).getUTCFullYear(), 1, 29)).getUTCMonth() === 1;
  const days = today === "02-28" && !isLeap ? [today, "02-29"] : [today];
  const day = bind`substr(${field.value}, 6, 5)`;
  return bind`(${isDate(field)} AND ${secondsOf(field)} IS NOT NULL AND ${anyOf(days.map((each) => bind`${day} = ${each}`))})`;
}

/** Seconds since the epoch; NULL if the text is no date. */
const secondsOf = ({ value }: DataField): Fragment => bind`unixepoch(${value}, 'subsec')`;

/**
 * Accepts ISO 8601: a day (its start in UTC) or a day and a time. The patterns exclude "now", Julian
 * day numbers and blanks, which SQLite accepts; the comparison of the day excludes 31 February.
 */
function isDate({ value, type }: DataField): Fragment {
  const day = bind`substr(${value}, 1, 10)`;
  const time = bind`substr(${value}, 11)`;
  return bind`${type} ${TEXTUAL}
    AND ${value} GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*' AND date(${day}) = ${day}
    AND (${time} = '' OR ${time} GLOB '[T ][0-9][0-9]:[0-9][0-9]*')`;
}

/**
 * JSON writes whole numbers above 2^53 with more digits than a double holds, and SQLite compares
 * all digits. The bound value therefore has the digits that JSON would have stored.
 */
function bound(value: string | number): Bound {
  const isLarge = Number.isInteger(value) && !Number.isSafeInteger(value);
  return isLarge && Math.abs(Number(value)) < INT64_LIMIT ? BigInt(JSON.stringify(value)) : value;
}

const INT64_LIMIT = 2 ** 63;
