/**
 * Filters on segments, looked up and put in place: a STATIC segment by its members, a DYNAMIC one
 * by its own condition. Depth and number of filters count through references, so the work that a
 * condition makes is bounded whatever it refers to.
 */

import type { FieldError, FieldErrorCode } from "../../lib/errors.ts";
import { type Condition, DEEPEST_CONDITION, type Group, MOST_FILTERS } from "./condition.ts";
import type { Filter } from "./filter.ts";
import type { Checked } from "./input.ts";
import type { SegmentTest, Test } from "./operators.ts";

/** What a filter on a segment may refer to. */
export type Definition = {
  seq: number;
  id: string;
  name: string;
  /** Null for a STATIC one. */
  condition: Condition<Filter> | null;
};

export type FindDefinition = (id: string) => Definition | null;

export type MembersTest = { kind: "members"; segmentSeq: number; isMember: boolean };
export type ConditionTest = {
  kind: "condition";
  condition: Condition<ResolvedTest>;
  isMember: boolean;
};

/** A test that needs no further look-up to become SQL. */
export type ResolvedTest = Exclude<Test, SegmentTest> | MembersTest | ConditionTest;

export type Resolved = Condition<ResolvedTest>;

/** Puts references in place; `self` is the segment that the condition belongs to, if it has one. */
export function resolve(
  condition: Condition<Filter>,
  find: FindDefinition,
  self?: Pick<Definition, "id" | "name">,
): Checked<Resolved> {
  const run: Run = { find, errors: [], filters: 0 };
  const chain = self === undefined ? [] : [self];
  const resolved = resolveCondition(run, condition, { depth: 1, chain, at: null });
  return run.errors.length > 0 ? { ok: false, errors: run.errors } : { ok: true, value: resolved };
}

/** The segments that a condition names itself. */
export function referencesOf(condition: Condition<Filter>): string[] {
  return condition.groups.flatMap(({ filters, conditions }) => [
    ...filters.flatMap(({ test }) => (test.kind === "segment" ? [test.id] : [])),
    ...(conditions === null ? [] : referencesOf(conditions)),
  ]);
}

type Run = { find: FindDefinition; errors: FieldError[]; filters: number };

/** `chain`: the segments we are inside of; `at`: the outermost filter that refers to one. */
type Place = {
  depth: number;
  chain: readonly Pick<Definition, "id" | "name">[];
  at: string | null;
};

function resolveCondition(run: Run, condition: Condition<Filter>, place: Place): Resolved {
  return {
    logic: condition.logic,
    groups: condition.groups.map((group) => resolveGroup(run, group, place)),
  };
}

function resolveGroup(run: Run, group: Group<Filter>, place: Place): Group<ResolvedTest> {
  const nested = { ...place, depth: place.depth + 1 };
  return {
    filters: group.filters.flatMap((filter) => resolveFilter(run, filter, place)),
    conditions:
      group.conditions === null || run.errors.length > 0
        ? null
        : resolveCondition(run, group.conditions, nested),
  };
}

function resolveFilter(run: Run, filter: Filter, place: Place): ResolvedTest[] {
  const { test } = filter;
  const at = place.at ?? filter.at;
  if (run.filters > MOST_FILTERS) return [];
  run.filters++;
  if (run.filters > MOST_FILTERS) {
    const counted = "those of the segments it refers to included";
    const message = `is one filter too many: a condition may have ${MOST_FILTERS}, ${counted}`;
    return fail(run, at, "too_big", message);
  }
  if (place.depth > DEEPEST_CONDITION) {
    const counted = "segments that refer to segments included";
    const message = `is nested more than ${DEEPEST_CONDITION} levels deep, ${counted}`;
    return fail(run, at, "too_big", message);
  }
  return test.kind === "segment" ? resolveReference(run, test, { ...place, at }) : [test];
}

function resolveReference(
  run: Run,
  { id, isMember }: SegmentTest,
  place: Place & { at: string },
): ResolvedTest[] {
  const field = `${place.at}.field`;
  const known = place.chain.find((segment) => segment.id === id);
  if (known !== undefined) {
    const names = [...place.chain, known].map(({ name }) => name).join(" → ");
    return fail(run, field, "invalid_value", `must not make a segment contain itself: ${names}`);
  }
  const segment = run.find(id);
  if (segment === null)
    return fail(run, field, "unknown_reference", "names no segment of this project");
  if (segment.condition === null) {
    return [{ kind: "members", segmentSeq: segment.seq, isMember }];
  }
  const condition = resolveCondition(run, segment.condition, {
    depth: place.depth + 1,
    chain: [...place.chain, segment],
    at: place.at,
  });
  return [{ kind: "condition", condition, isMember }];
}

function fail(run: Run, field: string, code: FieldErrorCode, message: string): [] {
  run.errors.push({ field, message, code });
  return [];
}
