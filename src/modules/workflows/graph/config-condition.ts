/**
 * Reads the config of a CONDITION. It has one of three forms, all with the fields and operators of
 * segment filters (docs/interface.md#segments):
 *
 * - `{condition}`: the condition of a segment; branches `yes` and `no`.
 * - `{field, operator, value?, unit?}`: one filter; branches `yes` and `no`.
 * - `{mode: "multi", field, branches: [{id, operator, value?, unit?}]}`: the first branch that
 *   matches, otherwise `default`.
 *
 * A field may also be `context.<path>`: the data of the execution's events, with the operators of
 * `data.<path>`.
 */

import { isRecord } from "../../../http/validation.ts";
import type { FieldError } from "../../../lib/errors.ts";
import { checkConditionWith, wireCondition } from "../../segments/condition/condition.ts";
import { checkStepFilter, fieldProblem } from "../steps/step-condition.ts";
import type { ConditionConfig } from "./graph.ts";
import { readShape } from "./read-shape.ts";
import { MultiConfig } from "./step-schemas.ts";

type Given = Readonly<Record<string, unknown>>;

/** Reads the config at the path `at`. Returns null and adds to `errors` if it is invalid. */
export function readCondition(
  given: Given,
  at: string,
  errors: FieldError[],
): ConditionConfig | null {
  const isLong = (given["condition"] ?? null) !== null;
  if (isLong && given["field"] !== undefined) {
    const message = "must be left out if a condition is given";
    errors.push({ field: `${at}.field`, message, code: "invalid_value" });
    return null;
  }
  if (isLong) return readLong(given["condition"], `${at}.condition`, errors);
  if ((given["mode"] ?? null) === null) return readShort(given, at, errors);
  if (given["mode"] === "multi") return readMulti(given, at, errors);
  const message = 'must be "multi", or left out';
  errors.push({ field: `${at}.mode`, message, code: "invalid_value" });
  return null;
}

function readLong(given: unknown, at: string, errors: FieldError[]): ConditionConfig | null {
  const checked = checkConditionWith(given, at, checkStepFilter);
  if (checked.ok) return { condition: wireCondition(checked.value) };
  errors.push(...checked.errors);
  return null;
}

function readShort(given: Given, at: string, errors: FieldError[]): ConditionConfig | null {
  const checked = checkStepFilter(given, at);
  if (checked.ok) return checked.value.wire;
  errors.push(...checked.errors);
  return null;
}

function readMulti(given: Given, at: string, errors: FieldError[]): ConditionConfig | null {
  if (!readShape(MultiConfig, given, at, errors)) return null;
  const { field } = given;
  const problem = fieldProblem(field);
  if (problem !== null) {
    errors.push({ field: `${at}.field`, message: problem, code: "invalid_value" });
    return null;
  }
  const before = errors.length;
  const ids = new Set<string>();
  const branches = given.branches.flatMap((branch, i) => {
    const path = `${at}.branches.${i}`;
    const idFault = idProblem(branch.id, ids);
    ids.add(branch.id);
    if (idFault !== null) {
      errors.push({ field: `${path}.id`, message: idFault, code: "invalid_value" });
    }
    const checked = checkStepFilter({ ...(isRecord(branch) ? branch : {}), field }, path);
    if (!checked.ok) {
      errors.push(...checked.errors);
      return [];
    }
    const { field: _, ...rest } = checked.value.wire;
    return [{ id: branch.id, ...rest }];
  });
  return errors.length > before ? null : { mode: "multi", field, branches };
}

function idProblem(id: string, earlier: ReadonlySet<string>): string | null {
  if (id === "default")
    return 'must not be "default": every step has that branch, for values that match no other';
  return earlier.has(id) ? `must be unique: there are two branches "${id}"` : null;
}
