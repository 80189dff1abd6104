/**
 * Plans for a scan of the contacts that meet a condition, in the order of `contacts.seq`. One plan
 * scans all contacts of the project. If a test must hold and its contacts are in an index in that
 * order, there is a further plan that scans only this index. Pure.
 */

import type { Context, RowSource } from "../condition/field-test.ts";
import type { Resolved, ResolvedTest } from "../condition/references.ts";
import { allOf, bind, type Fragment } from "./bind.ts";
import { compileTest } from "./compile.ts";

export type Plan = RowSource & {
  /** SQL condition for the contact: all other tests. */
  rest: Fragment;
  /** Whether the scan must also read the contacts of the rows. */
  isJoined: boolean;
};

export type Audience = Context & {
  tests: readonly ResolvedTest[];
  /** SQL condition for a row of `contacts`. */
  where: Fragment;
  /** Scans all contacts of the project. */
  whole: Plan;
  /** Plans that scan fewer contacts, but all contacts of the audience. */
  narrow: readonly Plan[];
};

/** Returns the contacts of a project that meet all of `tests`; without tests, all contacts. */
export function audienceOf(tests: readonly ResolvedTest[], context: Context): Audience {
  const compiled = tests.map((test) => compileTest(test, context));
  const where = allOf(compiled);
  const narrow = tests.flatMap((test, i): Plan[] => {
    const source = sourceOf(test, context);
    const others = compiled.filter((_, j) => j !== i);
    return source === null ? [] : [{ ...source, rest: allOf(others), isJoined: others.length > 0 }];
  });
  return { ...context, tests, where, whole: wholePlan(where, context), narrow };
}

/** Returns the audience with relative times, such as `within`, evaluated at another time. */
export function audienceAt({ tests, projectSeq }: Audience, now: number): Audience {
  return audienceOf(tests, { projectSeq, now });
}

/** SQL condition for a row of `contacts`: it belongs to the audience at another time. */
export const whereAt = ({ tests, projectSeq }: Audience, now: number): Fragment =>
  allOf(tests.map((test) => compileTest(test, { projectSeq, now })));

/** Splits a condition into tests that must all hold. An OR condition is one test. */
export function conjunctsOf(condition: Resolved): ResolvedTest[] {
  if (condition.logic === "OR" && condition.groups.length > 1) {
    return [{ kind: "condition", condition, isMember: true }];
  }
  return condition.groups.flatMap(({ filters, conditions }) => [
    ...filters.flatMap((test) =>
      test.kind === "condition" && test.isMember ? conjunctsOf(test.condition) : [test],
    ),
    ...(conditions === null ? [] : conjunctsOf(conditions)),
  ]);
}

function wholePlan(where: Fragment, { projectSeq }: Context): Plan {
  return {
    from: bind`contacts INDEXED BY contacts_page`,
    key: bind`contacts.seq`,
    stretch: bind`contacts.project_seq = ${projectSeq}`,
    filter: bind`1`,
    rest: where,
    isJoined: false,
  };
}

function sourceOf(test: ResolvedTest, context: Context): RowSource | null {
  if (test.kind === "field") return test.source(context);
  if (test.kind === "condition" || !test.isMember) return null;
  return {
    from: bind`segment_members AS member`,
    key: bind`member.contact_seq`,
    stretch: bind`member.segment_seq = ${test.segmentSeq}`,
    filter: bind`1`,
  };
}
