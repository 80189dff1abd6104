/**
 * Comparisons of stored conditions that cannot be made, because an earlier version accepted a text
 * such as `2025/01/01` or `99,50` as their value. A condition with one matches fewer contacts than
 * before, never more: it counts as not met, also where it is negated.
 */

import type { Incomparable } from "./comparable.ts";
import type { Resolved, ResolvedTest } from "./references.ts";

/** Also those of the segments that the tests refer to. */
export function problemsOf(tests: readonly ResolvedTest[]): Incomparable[] {
  return tests.flatMap((test) => {
    if (test.kind === "condition") return problemsIn(test.condition);
    return test.kind === "field" && test.problem !== undefined ? [test.problem] : [];
  });
}

export function problemsIn({ groups }: Resolved): Incomparable[] {
  return groups.flatMap(({ filters, conditions }) => [
    ...problemsOf(filters),
    ...(conditions === null ? [] : problemsIn(conditions)),
  ]);
}

export const problemSentence = ({ field, value, message }: Incomparable): string =>
  `The comparison of ${field} with ${JSON.stringify(value.slice(0, 60))} cannot be made: its value ${message}.`;
