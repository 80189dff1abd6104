/**
 * Resolves filters on segments: a STATIC segment is replaced by a test of its members, a DYNAMIC
 * one by its condition. The limits on depth and number of filters include the conditions of
 * referenced segments, so every condition has a bounded cost.
 */

import type { FieldError, FieldErrorCode } from "../../../lib/errors.ts";
import { type Condition, DEEPEST_CONDITION, type Group, MOST_FILTERS } from "./condition.ts";
import type { Filter, Test } from "./filter.ts";
import type { CheckResult } from "./input.ts";
import type { SegmentTest } from "./field-test.ts";

/** A stored segment as a filter refers to it. */
export type Definition = {
  seq: number;
  id: string;
  name: string;
  /** Null for a STATIC segment. */
  condition: Condition<Filter> | null;
};

export type FindDefinition = (id: string) => Definition | null;

export type MembersTest = { kind: "members"; segmentSeq: number; isMember: boolean };
type ConditionTest = {
  kind: "condition";
  condition: Condition<ResolvedTest>;
  isMember: boolean;
};

/** A test without references, which can be compiled to SQL. */
export type ResolvedTest = Exclude<Test, SegmentTest> | MembersTest | ConditionTest;

export type Resolved = Condition<ResolvedTest>;

/** Resolves all references. `self` is the segment that the condition belongs to, if any. */
export function resolve(
  condition: Condition<Filter>,
  find: FindDefinition,
  self?: Pick<Definition, "id" | "name">,
): CheckResult<Resolved> {
  const run: Run = { find, errors: [], filters: 0 };
  const chain = self === undefined ? [] : [self];
  const resolved = resolveCondition(run, condition, { depth: 1, chain, at: null });
  return run.errors.length > 0 ? { ok: false, errors: run.errors } : { ok: true, value: resolved };
}

/** Returns the ids of the segments that a condition refers to directly. */
export function referencesOf(condition: Condition<Filter>): string[] {
  return condition.groups.flatMap(({ filters, conditions }) => [
    ...filters.flatMap(({ test }) => (test.kind === "segment" ? [test.id] : [])),
    ...(conditions === null ? [] : referencesOf(conditions)),
  ]);
}

type Run = { find: FindDefinition; errors: FieldError[]; filters: number };

/** A position in the nested conditions. */
type Position = {
  depth: number;
  /** The segments that enclose this position, the outermost first. */
  chain: readonly Pick<Definition, "id" | "name">[];
  /** Path of the outermost filter that refers to a segment; null outside of references. */
  at: string | null;
};

function resolveCondition(run: Run, condition: Condition<Filter>, position: Position): Resolved {
  return {
    logic: condition.logic,
    groups: condition.groups.map((group) => resolveGroup(run, group, position)),
  };
}

function resolveGroup(run: Run, group: Group<Filter>, position: Position): Group<ResolvedTest> {
  const nested = { ...position, depth: position.depth + 1 };
  return {
    filters: group.filters.flatMap((filter) => resolveFilter(run, filter, position)),
    conditions:
      group.conditions === null || run.errors.length > 0
        ? null
        : resolveCondition(run, group.conditions, nested),
  };
}

function resolveFilter(run: Run, filter: Filter, position: Position): ResolvedTest[] {
  const { test } = filter;
  const at = position.at ?? filter.at;
  if (run.filters > MOST_FILTERS) return [];
  run.filters++;
  if (run.filters > MOST_FILTERS) {
    const counted = "including those of the segments that it refers to";
    const message = `is above the limit of ${MOST_FILTERS} filters in a condition, ${counted}`;
    return fail(run, at, "too_big", message);
  }
  if (position.depth > DEEPEST_CONDITION) {
    const counted = "including referenced segments";
    const message = `is nested more than ${DEEPEST_CONDITION} levels deep, ${counted}`;
    return fail(run, at, "too_big", message);
  }
  return test.kind === "segment" ? resolveReference(run, test, { ...position, at }) : [test];
}

function resolveReference(
  run: Run,
  { id, isMember }: SegmentTest,
  position: Position & { at: string },
): ResolvedTest[] {
  const field = `${position.at}.field`;
  const known = position.chain.find((segment) => segment.id === id);
  if (known !== undefined) {
    const names = [...position.chain, known].map(({ name }) => name).join(" → ");
    return fail(run, field, "invalid_value", `must not make a segment contain itself: ${names}`);
  }
  const segment = run.find(id);
  if (segment === null)
    return fail(run, field, "unknown_reference", "names no segment of this project");
  if (segment.condition === null) {
    return [{ kind: "members", segmentSeq: segment.seq, isMember }];
  }
  const condition = resolveCondition(run, segment.condition, {
    depth: position.depth + 1,
    chain: [...position.chain, segment],
    at: position.at,
  });
  return [{ kind: "condition", condition, isMember }];
}

function fail(run: Run, field: string, code: FieldErrorCode, message: string): [] {
  run.errors.push({ field, message, code });
  return [];
}
