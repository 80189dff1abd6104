/** The ways on that a step has. */

import type { Step } from "./graph.ts";

/** The plain way on, without a name. */
export const PLAIN = null;

/** Names of the ways on, `PLAIN` among them; a way without a transition ends the execution. */
export function branchesOf(step: Step): readonly (string | typeof PLAIN)[] {
  switch (step.type) {
    case "EXIT":
      return [];
    case "CONDITION":
      return "branches" in step.config
        ? [...step.config.branches.map(({ id }) => id), "default"]
        : ["yes", "no"];
    case "WAIT_FOR_EVENT":
      return step.config.timeout === undefined ? [PLAIN] : [PLAIN, "timeout"];
    default:
      return [PLAIN];
  }
}
