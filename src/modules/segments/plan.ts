/**
 * Ways to go through the contacts that meet a condition, in the order of `contacts.seq`. Besides
 * the walk over all contacts of a project there is one for every test that must hold and has its
 * contacts in an index in that order: the walk then visits those only. Pure.
 */

import { storedAddress } from "../../mail/address.ts";
import { allOf, bind, type Fragment } from "./bind.ts";
import { compileTest, type Context, eventName, lastTime } from "./compile.ts";
import type { Resolved, ResolvedTest } from "./references.ts";

/** What a walk visits: rows with one contact each, by an index in the order of `key`. */
type Source = {
  from: Fragment;
  /** The column that holds `contacts.seq`. */
  key: Fragment;
  /** The stretch of the index to go through. */
  stretch: Fragment;
  /** Which of the rows there. */
  filter: Fragment;
};

export type Plan = Source & {
  /** What else must hold of the contact. */
  rest: Fragment;
  /** Whether the contacts have to be read besides the rows of `from`. */
  isJoined: boolean;
};

export type Audience = Context & {
  /** All must hold. */
  tests: readonly ResolvedTest[];
  /** Of a row of `contacts` in the project. */
  where: Fragment;
  /** Visits every contact. */
  whole: Plan;
  /** Visit some, and all that belong. */
  narrow: readonly Plan[];
};

/** Those of a project's contacts for whom every one of `tests` holds; without tests, all. */
export function audienceOf(tests: readonly ResolvedTest[], context: Context): Audience {
  const compiled = tests.map((test) => compileTest(test, context));
  const where = allOf(compiled);
  const narrow = tests.flatMap((test, i): Plan[] => {
    const source = sourceOf(test, context);
    const others = compiled.filter((_, j) => j !== i);
    return source === null ? [] : [{ ...source, rest: allOf(others), isJoined: others.length > 0 }];
  });
  return { ...context, tests, where, whole: wholeWalk(where, context), narrow };
}

/** What must all hold for a condition to hold. */
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

function wholeWalk(where: Fragment, { projectSeq }: Context): Plan {
  return {
    from: bind`contacts INDEXED BY contacts_page`,
    key: bind`contacts.seq`,
    stretch: bind`contacts.project_seq = ${projectSeq}`,
    filter: bind`1`,
    rest: where,
    isJoined: false,
  };
}

function sourceOf(test: ResolvedTest, context: Context): Source | null {
  switch (test.kind) {
    case "event":
      if (test.operator === "notTriggered" || test.operator === "notTriggeredWithin") return null;
      return {
        from: bind`contact_events AS history`,
        key: bind`history.contact_seq`,
        stretch: bind`history.name_seq = ${eventName(test.name, context)}`,
        filter: lastTime(test, context.now),
      };
    case "members":
      if (!test.isMember) return null;
      return {
        from: bind`segment_members AS member`,
        key: bind`member.contact_seq`,
        stretch: bind`member.segment_seq = ${test.segmentSeq}`,
        filter: bind`1`,
      };
    case "email":
      if (test.operator !== "equals") return null;
      return {
        from: bind`contacts AS addressed`,
        key: bind`addressed.seq`,
        stretch: bind`addressed.project_seq = ${context.projectSeq}
          AND addressed.email = ${storedAddress(test.value)}`,
        filter: bind`1`,
      };
    default:
      return null;
  }
}
