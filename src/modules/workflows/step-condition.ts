/**
 * What a CONDITION asks: filters on the contact, which are those of segments (interface decision
 * G), and filters on the execution's context, `context.<path>`, which are those of `data.<path>`.
 */

import { isRecord } from "../../http/validation.ts";
import { type FieldError, validationError } from "../../lib/errors.ts";
import { checkConditionOf, type Condition, type Group } from "../segments/condition.ts";
import { parseField } from "../segments/fields.ts";
import { checkFilter, type Filter } from "../segments/filter.ts";
import type { Checked } from "../segments/input.ts";
import type { ShortCondition } from "./graph.ts";

/** `source`: what its path is looked up in. A filter on the context has a test of kind `data`. */
export type AskedFilter = Filter & { source: "contact" | "context" };

const CONTEXT = "context.";

/** Checks one filter that stands at `at`. */
export function checkAsked(given: unknown, at: string): Checked<AskedFilter> {
  const { field } = isRecord(given) ? given : {};
  const inContext = typeof field === "string" ? contextPath(field) : null;
  if (inContext === null || !isRecord(given)) {
    const checked = checkFilter(given, at);
    return checked.ok
      ? { ok: true, value: { ...checked.value, source: "contact" } }
      : { ok: false, errors: checked.errors.map((error) => tellOfContext(error, at)) };
  }
  const checked = checkFilter({ ...given, field: `data.${inContext}` }, at);
  if (!checked.ok) return { ok: false, errors: checked.errors.map((e) => tellOfContext(e, at)) };
  const { value } = checked;
  const wire = { ...value.wire, field: `${CONTEXT}${inContext}` };
  return { ok: true, value: { ...value, wire, source: "context" } };
}

/** What is wrong with a field; null if it is one. */
export function fieldProblem(field: string): string | null {
  const inContext = contextPath(field);
  const target = parseField(inContext === null ? field : `data.${inContext}`);
  return typeof target === "string" ? orContext(target) : null;
}

/** What was checked when it was stored, as if it stood at `at`; a filter alone as a condition. */
export function askedCondition(
  config: { condition: unknown } | ShortCondition,
  at: string,
): Condition<AskedFilter> {
  if ("condition" in config) {
    return valueOf(checkConditionOf(config.condition, `${at}.condition`, checkAsked));
  }
  const filter = valueOf(checkAsked(config, at));
  return { logic: "AND", groups: [{ filters: [filter], conditions: null }] };
}

/** The part of a condition that is asked of the contact. */
export function contactPart({ logic, groups }: Condition<AskedFilter>): Condition<Filter> {
  return {
    logic,
    groups: groups.map(({ filters, conditions }) => ({
      filters: filters.filter(({ source }) => source === "contact"),
      conditions: conditions === null ? null : contactPart(conditions),
    })),
  };
}

/** Filters on the context answered: what is left to ask of the contact, or the answer. */
export function withContext(
  { logic, groups }: Condition<AskedFilter>,
  holds: (filter: Filter) => boolean,
): Condition<Filter> | boolean {
  const decides = logic === "OR";
  const left = groups.map((group) => groupWithContext(group, holds));
  if (left.includes(decides)) return decides;
  const open = left.flatMap((group) => (typeof group === "boolean" ? [] : [group]));
  return open.length === 0 ? !decides : { logic, groups: open };
}

function groupWithContext(
  { filters, conditions }: Group<AskedFilter>,
  holds: (filter: Filter) => boolean,
): Group<Filter> | boolean {
  if (filters.some((filter) => filter.source === "context" && !holds(filter))) return false;
  const nested = conditions === null ? true : withContext(conditions, holds);
  if (nested === false) return false;
  const open = filters.filter(({ source }) => source === "contact");
  if (nested === true && open.length === 0) return true;
  return { filters: open, conditions: nested === true ? null : nested };
}

function contextPath(field: string): string | null {
  return field.startsWith(CONTEXT) ? field.slice(CONTEXT.length) : null;
}

function valueOf<T>(checked: Checked<T>): T {
  if (!checked.ok) throw validationError(checked.errors);
  return checked.value;
}

/** The parser of segments knows no context. */
function tellOfContext(error: FieldError, at: string): FieldError {
  const isField = error.field === `${at}.field` && error.code === "invalid_value";
  return isField ? { ...error, message: orContext(error.message) } : error;
}

function orContext(message: string): string {
  return `${message}, or context.<path>, data of the events met`;
}
