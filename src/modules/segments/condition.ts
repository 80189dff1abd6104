/**
 * The shape that segments, campaign audiences and bulk actions share (interface decision G):
 * groups of filters, joined by `logic`; a group's filters and its nested condition are ANDed.
 */

import { isRecord } from "../../http/validation.ts";
import {
  type FieldError,
  type FieldErrorCode,
  REQUIRED,
  validationError,
} from "../../lib/errors.ts";
import { checkFilter, type Filter, type WireFilter } from "./filter.ts";
import type { Checked } from "./input.ts";

export const LOGICS = ["AND", "OR"] as const;
export type Logic = (typeof LOGICS)[number];

export type Condition<F> = { logic: Logic; groups: readonly Group<F>[] };
export type Group<F> = { filters: readonly F[]; conditions: Condition<F> | null };

/** Counted through nesting and through references to other segments (see references.ts). */
export const DEEPEST_CONDITION = 10;
export const MOST_FILTERS = 200;

/** Checks one filter that stands at `at`. */
export type CheckOne<F> = (given: unknown, at: string) => Checked<F>;

/** Checks a condition that stands at `at` in its request, such as `condition`. */
export function checkCondition(given: unknown, at: string): Checked<Condition<Filter>> {
  return checkConditionOf(given, at, checkFilter);
}

/** The same with filters of another kind. */
export function checkConditionOf<F>(
  given: unknown,
  at: string,
  checkOne: CheckOne<F>,
): Checked<Condition<F>> {
  const check: Check<F> = { errors: [], filters: 0, checkOne };
  const condition = readCondition(check, given, { at, depth: 1 });
  return condition === null || check.errors.length > 0
    ? { ok: false, errors: check.errors }
    : { ok: true, value: condition };
}

/** The same for a condition that must be right: 422 where it is not. */
export function parseCondition(given: unknown, at: string): Condition<Filter> {
  const checked = checkCondition(given, at);
  if (!checked.ok) throw validationError(checked.errors);
  return checked.value;
}

/** What is stored and shown: the members that mean something, and nothing else. */
export function wireCondition(condition: Condition<Filter>): WireCondition {
  return {
    logic: condition.logic,
    groups: condition.groups.map(({ filters, conditions }) => ({
      filters: filters.map(({ wire }) => wire),
      ...(conditions === null ? {} : { conditions: wireCondition(conditions) }),
    })),
  };
}

export type WireCondition = { logic: Logic; groups: WireGroup[] };
type WireGroup = { filters: WireFilter[]; conditions?: WireCondition };

type Check<F> = { errors: FieldError[]; filters: number; checkOne: CheckOne<F> };
/** Where findings go, whatever the filters are. */
type Findings = { errors: FieldError[] };
type Place = { at: string; depth: number };

function readCondition<F>(check: Check<F>, given: unknown, place: Place): Condition<F> | null {
  const { at, depth } = place;
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

function readGroup<F>(check: Check<F>, given: unknown, { at, depth }: Place): Group<F> | null {
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

/** The first filter too many is told; those after it are not even looked at. */
function readFilter<F>(check: Check<F>, given: unknown, at: string): F[] {
  if (check.filters > MOST_FILTERS) return [];
  check.filters++;
  if (check.filters > MOST_FILTERS) {
    fail(check, at, "too_big", `is one filter too many: a condition may have ${MOST_FILTERS}`);
    return [];
  }
  const checked = check.checkOne(given, at);
  if (checked.ok) return [checked.value];
  check.errors.push(...checked.errors);
  return [];
}

function readLogic(check: Findings, given: unknown, at: string): Logic | null {
  const logic = LOGICS.find((name) => name === given);
  if (logic !== undefined) return logic;
  if (given === undefined) return fail(check, at, "required", REQUIRED);
  return fail(check, at, "invalid_value", `must be one of ${LOGICS.join(", ")}`);
}

function readList(check: Findings, given: unknown, at: string): readonly unknown[] | null {
  if (Array.isArray(given)) return given;
  if (given === undefined) return fail(check, at, "required", REQUIRED);
  return fail(check, at, "invalid_type", "must be an array");
}

function fail(check: Findings, field: string, code: FieldErrorCode, message: string): null {
  check.errors.push({ field, message, code });
  return null;
}
