/**
 * Conditions of segments, campaign audiences and bulk actions: groups of filters, joined by
 * `logic`. The filters of a group and its nested condition are joined by AND
 * (docs/interface.md#campaigns).
 */

import { isRecord } from "../../../http/validation.ts";
import {
  type FieldError,
  type FieldErrorCode,
  REQUIRED,
  validationError,
} from "../../../lib/errors.ts";
import { checkFilter, type Filter, type WireFilter } from "./filter.ts";
import type { CheckResult } from "./input.ts";

const LOGICS = ["AND", "OR"] as const;
type Logic = (typeof LOGICS)[number];

export type Condition<F> = { logic: Logic; groups: readonly Group<F>[] };
export type Group<F> = { filters: readonly F[]; conditions: Condition<F> | null };

/** Limits on nested conditions, including those of referenced segments (see references.ts). */
export const DEEPEST_CONDITION = 10;
export const MOST_FILTERS = 200;

/** Checks one filter; `at` is its path in the request. */
type CheckOne<F> = (given: unknown, at: string) => CheckResult<F>;

/** Checks a condition; `at` is its path in the request, such as `condition`. */
export function checkCondition(given: unknown, at: string): CheckResult<Condition<Filter>> {
  return checkConditionWith(given, at, checkFilter);
}

/** Checks a condition whose filters are checked by `checkOne`. */
export function checkConditionWith<F>(
  given: unknown,
  at: string,
  checkOne: CheckOne<F>,
): CheckResult<Condition<F>> {
  const check: Check<F> = { errors: [], filters: 0, checkOne };
  const condition = readCondition(check, given, { at, depth: 1 });
  return condition === null || check.errors.length > 0
    ? { ok: false, errors: check.errors }
    : { ok: true, value: condition };
}

/** Returns a checked condition, or throws 422 with all violations. */
export function parseCondition(given: unknown, at: string): Condition<Filter> {
  return valueOf(checkCondition(given, at));
}

/**
 * Parses a stored condition. It was checked before it was stored, so an error here is a bug; a
 * comparison with a text, which earlier versions accepted, is a problem of its test.
 */
export function parseStored(given: unknown, at: string): Condition<Filter> {
  const check: CheckOne<Filter> = (filter, path) => checkFilter(filter, path, "STORED");
  return valueOf(checkConditionWith(given, at, check));
}

function valueOf<F>(checked: CheckResult<Condition<F>>): Condition<F> {
  if (!checked.ok) throw validationError(checked.errors);
  return checked.value;
}

/** Converts a condition to its stored and shown form, without unknown or unused members. */
export function wireCondition(condition: Condition<Filter>): WireCondition {
  return {
    logic: condition.logic,
    groups: condition.groups.map(({ filters, conditions }) => ({
      filters: filters.map(({ wire }) => wire),
      ...(conditions === null ? {} : { conditions: wireCondition(conditions) }),
    })),
  };
}

type WireCondition = { logic: Logic; groups: WireGroup[] };
type WireGroup = { filters: WireFilter[]; conditions?: WireCondition };

type Check<F> = { errors: FieldError[]; filters: number; checkOne: CheckOne<F> };
/** The part of `Check` that does not depend on the kind of filter. */
type ErrorList = { errors: FieldError[] };
type Position = { at: string; depth: number };

function readCondition<F>(
  check: Check<F>,
  given: unknown,
  position: Position,
): Condition<F> | null {
  const { at, depth } = position;
  if (depth > DEEPEST_CONDITION) {
    return fail(
      check,
      at,
      "too_big",
      `must not be nested more than ${DEEPEST_CONDITION} levels deep`,
    );
  }
  if (!isRecord(given)) return fail(check, at, "invalid_type", "must be an object");
  const logic = readLogic(check, given["logic"], `${at}.logic`);
  const groups = readList(check, given["groups"], `${at}.groups`);
  if (groups?.length === 0) {
    return fail(check, `${at}.groups`, "too_small", "must have at least one group");
  }
  const read = (groups ?? []).flatMap((group, i) =>
    check.filters > MOST_FILTERS
      ? []
      : (readGroup(check, group, { at: `${at}.groups.${i}`, depth }) ?? []),
  );
  return logic === null ? null : { logic, groups: read };
}

function readGroup<F>(check: Check<F>, given: unknown, { at, depth }: Position): Group<F> | null {
  if (!isRecord(given)) return fail(check, at, "invalid_type", "must be an object");
  const nested = given["conditions"] ?? null;
  const list = readList(check, given["filters"], `${at}.filters`);
  if (list?.length === 0 && nested === null) {
    return fail(check, `${at}.filters`, "too_small", "must have at least one filter");
  }
  const filters = (list ?? []).flatMap((filter, i) =>
    readFilter(check, filter, `${at}.filters.${i}`),
  );
  const conditions =
    nested === null
      ? null
      : readCondition(check, nested, { at: `${at}.conditions`, depth: depth + 1 });
  return { filters, conditions };
}

/** Reports the first filter above the limit and skips the ones after it. */
function readFilter<F>(check: Check<F>, given: unknown, at: string): F[] {
  if (check.filters > MOST_FILTERS) return [];
  check.filters++;
  if (check.filters > MOST_FILTERS) {
    fail(check, at, "too_big", `is above the limit of ${MOST_FILTERS} filters in a condition`);
    return [];
  }
  const checked = check.checkOne(given, at);
  if (checked.ok) return [checked.value];
  check.errors.push(...checked.errors);
  return [];
}

function readLogic(check: ErrorList, given: unknown, at: string): Logic | null {
  const logic = LOGICS.find((name) => name === given);
  if (logic !== undefined) return logic;
  if (given === undefined) return fail(check, at, "required", REQUIRED);
  return fail(check, at, "invalid_value", `must be one of ${LOGICS.join(", ")}`);
}

function readList(check: ErrorList, given: unknown, at: string): readonly unknown[] | null {
  if (Array.isArray(given)) return given;
  if (given === undefined) return fail(check, at, "required", REQUIRED);
  return fail(check, at, "invalid_type", "must be an array");
}

function fail(check: ErrorList, field: string, code: FieldErrorCode, message: string): null {
  check.errors.push({ field, message, code });
  return null;
}
