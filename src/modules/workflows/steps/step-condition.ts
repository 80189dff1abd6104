/**
 * The condition of a CONDITION step. It has the filters of segments, which test the contact
 * (docs/interface.md#segments), and filters on `context.<path>`, which test the execution's context
 * and have the operators of `data.<path>`.
 */

import { isRecord } from "../../../http/validation.ts";
import { type FieldError, validationError } from "../../../lib/errors.ts";
import {
  checkConditionWith,
  type Condition,
  type Group,
} from "../../segments/condition/condition.ts";
import { parseField } from "../../segments/condition/fields.ts";
import { checkFilter, type Filter } from "../../segments/condition/filter.ts";
import type { CheckResult, FilterOrigin } from "../../segments/condition/input.ts";
import type { ShortCondition } from "../graph/graph.ts";

/** `source` names the data that the filter tests. A filter on the context has a test on data. */
export type StepFilter = Filter & { source: "contact" | "context" };

const CONTEXT = "context.";

/** Checks one filter; `at` is its path in the request. */
export function checkStepFilter(
  given: unknown,
  at: string,
  origin: FilterOrigin = "REQUEST",
): CheckResult<StepFilter> {
  const { field } = isRecord(given) ? given : {};
  const contextFieldPath = typeof field === "string" ? contextPath(field) : null;
  if (contextFieldPath === null || !isRecord(given)) {
    const checked = checkFilter(given, at, origin);
    return checked.ok
      ? { ok: true, value: { ...checked.value, source: "contact" } }
      : { ok: false, errors: checked.errors.map((error) => mentionContext(error, at)) };
  }
  const checked = checkFilter({ ...given, field: `data.${contextFieldPath}` }, at, origin);
  if (!checked.ok) return { ok: false, errors: checked.errors.map((e) => mentionContext(e, at)) };
  const { value } = checked;
  const wire = { ...value.wire, field: `${CONTEXT}${contextFieldPath}` };
  return { ok: true, value: { ...value, wire, source: "context" } };
}

/** The reason why the name is not a field; null if it is one. */
export function fieldProblem(field: string): string | null {
  const contextFieldPath = contextPath(field);
  const target = parseField(contextFieldPath === null ? field : `data.${contextFieldPath}`);
  return typeof target === "string" ? addContextHint(target) : null;
}

/**
 * The condition of a stored config, which was checked before. A single filter becomes a condition
 * with one group. `at` is the path in the messages of errors; throws a 422 AppError.
 */
export function parseStepCondition(
  config: { condition: unknown } | ShortCondition,
  at: string,
): Condition<StepFilter> {
  const check = (given: unknown, path: string) => checkStepFilter(given, path, "STORED");
  if ("condition" in config) {
    return valueOf(checkConditionWith(config.condition, `${at}.condition`, check));
  }
  const filter = valueOf(check(config, at));
  return { logic: "AND", groups: [{ filters: [filter], conditions: null }] };
}

/** The condition without its filters on the context. */
export function contactPart({ logic, groups }: Condition<StepFilter>): Condition<Filter> {
  return {
    logic,
    groups: groups.map(({ filters, conditions }) => ({
      filters: filters.filter(({ source }) => source === "contact"),
      conditions: conditions === null ? null : contactPart(conditions),
    })),
  };
}

/**
 * Evaluates the filters on the context. Returns the result if they decide it, otherwise the
 * condition on the contact that remains.
 */
export function evaluateContextFilters(
  { logic, groups }: Condition<StepFilter>,
  holds: (filter: Filter) => boolean,
): Condition<Filter> | boolean {
  const decides = logic === "OR";
  const left = groups.map((group) => evaluateContextInGroup(group, holds));
  if (left.includes(decides)) return decides;
  const open = left.flatMap((group) => (typeof group === "boolean" ? [] : [group]));
  return open.length === 0 ? !decides : { logic, groups: open };
}

function evaluateContextInGroup(
  { filters, conditions }: Group<StepFilter>,
  holds: (filter: Filter) => boolean,
): Group<Filter> | boolean {
  if (filters.some((filter) => filter.source === "context" && !holds(filter))) return false;
  const nested = conditions === null ? true : evaluateContextFilters(conditions, holds);
  if (nested === false) return false;
  const open = filters.filter(({ source }) => source === "contact");
  if (nested === true && open.length === 0) return true;
  return { filters: open, conditions: nested === true ? null : nested };
}

function contextPath(field: string): string | null {
  return field.startsWith(CONTEXT) ? field.slice(CONTEXT.length) : null;
}

function valueOf<T>(checked: CheckResult<T>): T {
  if (!checked.ok) throw validationError(checked.errors);
  return checked.value;
}

/** Adds `context.<path>` to the message of an unknown field, which the parser of segments wrote. */
function mentionContext(error: FieldError, at: string): FieldError {
  const isField = error.field === `${at}.field` && error.code === "invalid_value";
  return isField ? { ...error, message: addContextHint(error.message) } : error;
}

function addContextHint(message: string): string {
  return `${message}, or context.<path>, the data of the execution's events`;
}
