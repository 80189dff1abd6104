/**
 * Tests on a contact's data as SQL over its JSON, typed as JSON is: "5" is not 5, true is not 1. A
 * missing key and null match `notExists` and nothing else.
 */

import { anyOf, bind, type Bound, type Fragment } from "./bind.ts";
import type { DataTest, Scalar } from "./operators.ts";

export function compileData(test: DataTest, now: number): Fragment {
  const place = placeOf(test.path);
  switch (test.operator) {
    case "exists":
      return bind`${place.type} <> 'null'`;
    case "notExists":
      return bind`coalesce(${place.type}, 'null') = 'null'`;
    case "equals":
      return equals(place, test.value);
    case "notEquals":
      return presentAndNot(place, equals(place, test.value));
    case "contains":
      return contains(place, test.value);
    case "notContains":
      return presentAndNot(place, contains(place, test.value));
    case "in":
      return isListed(place, test.values);
    case "notIn":
      return presentAndNot(place, isListed(place, test.values));
    case "greaterThan":
      return compared(place, test.value, bind`>`);
    case "greaterThanOrEqual":
      return compared(place, test.value, bind`>=`);
    case "lessThan":
      return compared(place, test.value, bind`<`);
    case "lessThanOrEqual":
      return compared(place, test.value, bind`<=`);
    case "within":
      return isDateBetween(place, now - test.spanMs, now);
    case "olderThan":
      return isDateBefore(place, now - test.spanMs);
  }
}

/** A place in the data: what is there (NULL where nothing is), its JSON type, the path to it. */
type Place = { value: Fragment; type: Fragment; path: string };

/** The path is bound as well. Each key is quoted as JSON text is, whatever characters it has. */
function placeOf(keys: readonly string[]): Place {
  const path = `$${keys.map((key) => `.${JSON.stringify(key)}`).join("")}`;
  return {
    value: bind`json_extract(contacts.data, ${path})`,
    type: bind`json_type(contacts.data, ${path})`,
    path,
  };
}

function presentAndNot({ type }: Place, test: Fragment): Fragment {
  return bind`(${type} <> 'null' AND (${test}) IS NOT TRUE)`;
}

const NUMERIC = bind`IN ('integer', 'real')`;
const TEXTUAL = bind`= 'text'`;

/**
 * One look into the JSON where one suffices: json_extract makes 1 and 0 of true and false, and
 * JSON text of arrays and objects; every other result is of the type that it had.
 */
function equals({ value, type }: Place, wanted: Scalar): Fragment {
  if (typeof wanted === "boolean") return bind`${type} = ${String(wanted)}`;
  const isSame = bind`${value} = ${bound(wanted)}`;
  if (typeof wanted === "number") {
    return wanted === 0 || wanted === 1 ? bind`(${isSame} AND ${type} ${NUMERIC})` : isSame;
  }
  return /^[[{]/.test(wanted) ? bind`(${isSame} AND ${type} ${TEXTUAL})` : isSame;
}

function compared({ value, type }: Place, wanted: string | number, sign: Fragment): Fragment {
  const sameType = typeof wanted === "number" ? NUMERIC : TEXTUAL;
  return bind`(${type} ${sameType} AND ${value} ${sign} ${bound(wanted)})`;
}

/** A text contains a text (upper and lower case differ), an array any value. */
function contains({ value, type, path }: Place, wanted: Scalar): Fragment {
  const item = equals({ value: bind`item.value`, type: bind`item.type`, path }, wanted);
  const hasItem = bind`(${type} = 'array' AND EXISTS (
    SELECT 1 FROM json_each(contacts.data, ${path}) AS item WHERE ${item}))`;
  if (typeof wanted !== "string") return hasItem;
  return bind`(${type} = 'text' AND instr(${value}, ${wanted}) > 0 OR ${hasItem})`;
}

function isListed({ value, type }: Place, wanted: readonly Scalar[]): Fragment {
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

/** Future dates are not within the last days. */
function isDateBetween(place: Place, fromMs: number, untilMs: number): Fragment {
  const at = bind`unixepoch(${place.value}, 'subsec')`;
  return bind`(${isDate(place)} AND ${at} BETWEEN ${fromMs / 1000} AND ${untilMs / 1000})`;
}

function isDateBefore(place: Place, beforeMs: number): Fragment {
  const at = bind`unixepoch(${place.value}, 'subsec')`;
  return bind`(${isDate(place)} AND ${at} < ${beforeMs / 1000})`;
}

/**
 * ISO 8601, a day (its first moment, UTC) or a day and a time. Without the pattern SQLite would
 * take "now" and Julian day numbers as well; without the second look, 31 February.
 */
function isDate({ value, type }: Place): Fragment {
  const day = bind`substr(${value}, 1, 10)`;
  return bind`${type} ${TEXTUAL}
    AND ${value} GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*' AND date(${day}) = ${day}`;
}

/**
 * JSON writes whole numbers beyond 2^53 with digits that a double does not have, and SQLite compares
 * all digits: what is bound are those that JSON would have stored.
 */
function bound(value: string | number): Bound {
  const isLarge = Number.isInteger(value) && !Number.isSafeInteger(value);
  return isLarge && Math.abs(Number(value)) < INT64_LIMIT ? BigInt(JSON.stringify(value)) : value;
}

const INT64_LIMIT = 2 ** 63;
