/** The way of an execution through the graph of its workflow. */

import type { ExecutionDetails } from "../../../modules/workflows/execution-model.ts";
import type { Transition } from "./step-texts.ts";

type Taken = ExecutionDetails["steps"][number];

/** The course of an execution at a step. A step in a cycle is passed several times. */
export type Visit = {
  /** COMPLETED, SKIPPED or FAILED for the latest passage, or CURRENT. */
  state: Taken["outcome"] | "CURRENT";
  times: number;
  /** When the latest passage began, and when it ended; null while the execution is there. */
  startedAt: string;
  completedAt: string | null;
};

export type ExecutionPath = {
  visits: ReadonlyMap<string, Visit>;
  /** Ids of the transitions that were taken. */
  transitions: ReadonlySet<string>;
  /** Passed steps that the present graph does not have. */
  missing: number;
};

export function pathOf(
  execution: Pick<ExecutionDetails, "steps" | "currentStepId" | "startedAt">,
  graph: { steps: readonly { id: string }[]; transitions: readonly Transition[] },
): ExecutionPath {
  const { steps, currentStepId, startedAt } = execution;
  const known = new Set(graph.steps.map(({ id }) => id));
  const visits = new Map<string, Visit>();
  for (const { stepId, outcome, startedAt: at, completedAt } of steps) {
    const times = (visits.get(stepId)?.times ?? 0) + 1;
    visits.set(stepId, { state: outcome, times, startedAt: at, completedAt });
  }
  if (currentStepId !== null) {
    const times = (visits.get(currentStepId)?.times ?? 0) + 1;
    const since = steps.at(-1)?.completedAt ?? startedAt;
    visits.set(currentStepId, { state: "CURRENT", times, startedAt: since, completedAt: null });
  }
  const missing = new Set([...visits.keys()].filter((id) => !known.has(id))).size;
  return { visits, transitions: transitionsOf(execution, graph.transitions), missing };
}

function transitionsOf(
  { steps, currentStepId }: Pick<ExecutionDetails, "steps" | "currentStepId">,
  transitions: readonly Transition[],
): Set<string> {
  const taken = new Set<string>();
  for (const [i, { stepId, branch }] of steps.entries()) {
    const next = steps[i + 1]?.stepId ?? currentStepId;
    const found = transitions.find(
      (each) => each.from === stepId && each.to === next && each.branch === branch,
    );
    if (found !== undefined) taken.add(found.id);
  }
  return taken;
}
