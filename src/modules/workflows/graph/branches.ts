/** The branches that a step has. */

import type { Step } from "./graph.ts";

/** The branch of a transition without a condition, which has no name. */
export const UNCONDITIONAL = null;

/**
 * The branches that transitions from this step may name; `UNCONDITIONAL` is one that has no name. An
 * execution ends where a branch has no transition.
 */
export function branchesOf(step: Step): readonly (string | typeof UNCONDITIONAL)[] {
  switch (step.type) {
    case "EXIT":
      return [];
    case "CONDITION":
      return "branches" in step.config
        ? [...step.config.branches.map(({ id }) => id), "default"]
        : ["yes", "no"];
    case "SPLIT":
      return step.config.branches.map(({ id }) => id);
    case "WAIT_FOR_EVENT":
      return step.config.timeout === undefined ? [UNCONDITIONAL] : [UNCONDITIONAL, "timeout"];
    default:
      return [UNCONDITIONAL];
  }
}
