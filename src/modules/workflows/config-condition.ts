/**
 * Reads the config of a CONDITION. Three forms, all with the fields and operators of segments'
 * filters (interface decision G):
 *
 * - `{condition}`: the shape of segments; branches `yes` and `no`.
 * - `{field, operator, value?, unit?}`: one filter; branches `yes` and `no`.
 * - `{mode: "multi", field, branches: [{id, operator, value?, unit?}]}`: the first that matches,
 *   else `default`.
 *
 * In the latter two the field may also be `context.<path>`: the data of the events that the
 * execution met, with the operators of `data.<path>`.
 */

import { isRecord } from "../../http/validation.ts";
import type { FieldError } from "../../lib/errors.ts";
import { checkCondition, wireCondition } from "../segments/condition.ts";
import { parseField } from "../segments/fields.ts";
import { checkFilter, type Filter } from "../segments/filter.ts";
import type { Checked } from "../segments/input.ts";
import type { ConditionConfig } from "./graph.ts";
import { readShape } from "./read-shape.ts";
import { MultiConfig } from "./step-schemas.ts";

type Given = Readonly<Record<string, unknown>>;

const CONTEXT = "context.";

/** A filter of the short form: `source` says what its `data` path is looked up in. */
export type ShortFilter = { source: "contact" | "context"; filter: Filter };

/** Checks one filter of the short form that stands at `at`. */
export function checkShort(given: Given, at: string): Checked<ShortFilter> {
  const { field } = given;
  const isContext = typeof field === "string" && field.startsWith(CONTEXT);
  const asked = isContext ? { ...given, field: `data.${field.slice(CONTEXT.length)}` } : given;
  const checked = checkFilter(asked, at);
  if (!checked.ok) return { ok: false, errors: checked.errors.map((e) => tellOfContext(e, at)) };
  const { value: filter } = checked;
  if (!isContext) return { ok: true, value: { source: "contact", filter } };
  const wire = { ...filter.wire, field };
  return { ok: true, value: { source: "context", filter: { ...filter, wire } } };
}

/** Reads the config that stands at `at`; null where it is wrong, and `errors` says why. */
export function readCondition(
  given: Given,
  at: string,
  errors: FieldError[],
): ConditionConfig | null {
  const isLong = (given["condition"] ?? null) !== null;
  if (isLong && given["field"] !== undefined) {
    const message = "Either a condition or a field with an operator, not both.";
    errors.push({ field: `${at}.field`, message, code: "invalid_value" });
    return null;
  }
  if (isLong) return readLong(given["condition"], `${at}.condition`, errors);
  if ((given["mode"] ?? null) === null) return readShort(given, at, errors);
  if (given["mode"] === "multi") return readMulti(given, at, errors);
  const message = 'Expected "multi", or no mode at all.';
  errors.push({ field: `${at}.mode`, message, code: "invalid_value" });
  return null;
}

function readLong(given: unknown, at: string, errors: FieldError[]): ConditionConfig | null {
  const checked = checkCondition(given, at);
  if (checked.ok) return { condition: wireCondition(checked.value) };
  errors.push(...checked.errors);
  return null;
}

function readShort(given: Given, at: string, errors: FieldError[]): ConditionConfig | null {
  const checked = checkShort(given, at);
  if (checked.ok) return checked.value.filter.wire;
  errors.push(...checked.errors);
  return null;
}

function readMulti(given: Given, at: string, errors: FieldError[]): ConditionConfig | null {
  if (!readShape(MultiConfig, given, at, errors)) return null;
  const { field } = given;
  const target = parseField(field.startsWith(CONTEXT) ? `data.${field.slice(8)}` : field);
  if (typeof target === "string") {
    const error = { field: `${at}.field`, message: target, code: "invalid_value" } as const;
    errors.push(tellOfContext(error, at));
    return null;
  }
  const before = errors.length;
  const ids = new Set<string>();
  const branches = given.branches.flatMap((branch, i) => {
    const place = `${at}.branches.${i}`;
    const problem = idProblem(branch.id, ids);
    ids.add(branch.id);
    if (problem !== null) {
      errors.push({ field: `${place}.id`, message: problem, code: "invalid_value" });
    }
    const checked = checkShort({ ...(isRecord(branch) ? branch : {}), field }, place);
    if (!checked.ok) {
      errors.push(...checked.errors);
      return [];
    }
    const { field: _, ...rest } = checked.value.filter.wire;
    return [{ id: branch.id, ...rest }];
  });
  return errors.length > before ? null : { mode: "multi", field, branches };
}

function idProblem(id: string, earlier: ReadonlySet<string>): string | null {
  if (id === "default") return 'The branch "default" is there anyway, for what matches no other.';
  return earlier.has(id) ? `There are two branches "${id}".` : null;
}

/** The parser of segments knows no context. */
function tellOfContext(error: FieldError, at: string): FieldError {
  if (error.field !== `${at}.field` || error.code !== "invalid_value") return error;
  return { ...error, message: `${error.message} Or context.<path>, data of the events met.` };
}
