/** What can change who meets a condition. */

import type { Condition } from "./condition.ts";
import type { ResolvedTest } from "./references.ts";

export type Dependencies = {
  /** Time alone does: `within 30 days`. */
  isRelative: boolean;
  /** Events of these names do. */
  eventNames: ReadonlySet<string>;
};

export function dependsOn(condition: Condition<ResolvedTest>): Dependencies {
  const tests = testsOf(condition);
  return {
    isRelative: tests.some((test) => "spanMs" in test),
    eventNames: new Set(tests.flatMap((test) => (test.kind === "event" ? [test.name] : []))),
  };
}

function testsOf({ groups }: Condition<ResolvedTest>): ResolvedTest[] {
  return groups.flatMap(({ filters, conditions }) => [
    ...filters.flatMap((test) => (test.kind === "condition" ? testsOf(test.condition) : [test])),
    ...(conditions === null ? [] : testsOf(conditions)),
  ]);
}
