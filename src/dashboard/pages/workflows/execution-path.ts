/** The way of an execution through the graph of its workflow. */

import type { ExecutionDetails } from "../../../modules/workflows/execution-model.ts";
import type { Transition } from "./step-texts.ts";

type Taken = ExecutionDetails["steps"][number];

/** The runs of a step in an execution: their number and times. A step in a cycle runs several times. */
export type StepRun = {
  /**
   * COMPLETED, SKIPPED or FAILED for the latest run, CURRENT, or LEFT: the execution waited there when
   * it was ended early.
   */
  state: Taken["outcome"] | "CURRENT" | "LEFT";
  times: number;
  /** When the latest run began, and when it ended; null while the execution is there. */
  startedAt: string;
  completedAt: string | null;
  /** The reason why the latest run skipped the step; null if it did not. */
  skippedBecause: string | null;
};

export type ExecutionPath = {
  runs: ReadonlyMap<string, StepRun>;
  /** Ids of the transitions that were taken. */
  transitions: ReadonlySet<string>;
  /** Number of steps that ran and are not in the present graph. */
  missing: number;
};

type Travelled = Pick<ExecutionDetails, "steps" | "currentStepId" | "startedAt"> & {
  /** The time at which an exit condition or a person ended it early; null or absent if none did. */
  leftAt?: string | null;
};

/** The time at which an exit condition or a person ended an execution early; null if none did. */
export const leftAt = (execution: Pick<ExecutionDetails, "status" | "completedAt">) =>
  execution.status === "EXITED" || execution.status === "CANCELLED" ? execution.completedAt : null;

export function pathOf(
  execution: Travelled,
  graph: { steps: readonly { id: string }[]; transitions: readonly Transition[] },
): ExecutionPath {
  const { steps, startedAt } = execution;
  const completedAt = execution.leftAt ?? null;
  const currentStepId =
    completedAt === null ? execution.currentStepId : followingStep(steps, graph.transitions);
  const known = new Set(graph.steps.map(({ id }) => id));
  const runs = new Map<string, StepRun>();
  for (const taken of steps) {
    const { stepId, outcome: state, startedAt: at, completedAt } = taken;
    const times = (runs.get(stepId)?.times ?? 0) + 1;
    const skippedBecause = reasonOfSkip(taken);
    runs.set(stepId, { state, times, startedAt: at, completedAt, skippedBecause });
  }
  if (currentStepId !== null) {
    const times = (runs.get(currentStepId)?.times ?? 0) + 1;
    const since = steps.at(-1)?.completedAt ?? startedAt;
    runs.set(currentStepId, {
      state: completedAt === null ? "CURRENT" : "LEFT",
      times,
      startedAt: since,
      completedAt,
      skippedBecause: null,
    });
  }
  const missing = new Set([...runs.keys()].filter((id) => !known.has(id))).size;
  return { runs, transitions: transitionsOf({ steps, currentStepId }, graph.transitions), missing };
}

/** The step after the last one that was taken: null after an end. */
function followingStep(steps: readonly Taken[], transitions: readonly Transition[]): string | null {
  const last = steps.at(-1);
  const way = transitions.find(
    ({ from, branch }) => from === last?.stepId && branch === last.branch,
  );
  return way?.to ?? null;
}

function reasonOfSkip({ outcome, detail }: Pick<Taken, "outcome" | "detail">): string | null {
  const reason = outcome === "SKIPPED" ? detail?.["reason"] : null;
  return typeof reason === "string" ? reason : null;
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
