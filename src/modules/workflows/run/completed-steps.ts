/**
 * The rows of completed steps, and the counters of each step of a workflow. The counters still count
 * a step after the execution was purged. Every function that writes here is part of a change.
 */

import type { Db } from "../../../db/open.ts";
import type { CompletedStep } from "./engine.ts";

type StepRow = Omit<CompletedStep, "detail"> & { seq: number; detail: string | null };

export function createCompletedSteps({ sqlite }: Pick<Db, "sqlite">) {
  const insert = sqlite.prepare<unknown, [StepRow]>(`
    INSERT INTO workflow_execution_steps
      (execution_seq, number, step_id, type, outcome, branch, detail, started_at, completed_at)
    VALUES ($seq, $number, $stepId, $type, $outcome, $branch, $detail, $startedAt, $completedAt)`);
  const counters = {
    COMPLETED: prepareCounter({ sqlite }, "completed"),
    SKIPPED: prepareCounter({ sqlite }, "skipped"),
    FAILED: prepareCounter({ sqlite }, "failed"),
  };
  const countCompletions = sqlite.prepare<{ n: number }, [number, number, string, number, number]>(`
    SELECT count(*) AS n FROM workflow_execution_steps
    WHERE execution_seq = +? AND number > +? AND step_id = +?
      AND completed_at > +? AND completed_at <= +?`);

  return {
    /** Stores and counts a completed step of the execution `seq`. */
    add({ seq, workflowSeq }: { seq: number; workflowSeq: number }, step: CompletedStep): void {
      const detail = step.detail === null ? null : JSON.stringify(step.detail);
      insert.run({ ...step, seq, detail });
      counters[step.outcome].run({ workflowSeq, stepId: step.stepId });
    },

    /** Counts how often an execution completed a step in a period, after the step number `after`. */
    completionsOf: (
      seq: number,
      of: { stepId: string; after: number; since: number; until: number },
    ): number => countCompletions.get(seq, of.after, of.stepId, of.since, of.until)?.n ?? 0,
  };
}

/** A statement that adds one to a counter of a step, and creates the row of the step first. */
function prepareCounter(
  { sqlite }: Pick<Db, "sqlite">,
  counter: "completed" | "skipped" | "failed",
) {
  return sqlite.prepare<unknown, [{ workflowSeq: number; stepId: string }]>(`
    INSERT INTO workflow_step_counts (workflow_seq, step_id, ${counter})
    VALUES ($workflowSeq, $stepId, 1)
    ON CONFLICT (workflow_seq, step_id) DO UPDATE SET ${counter} = ${counter} + 1`);
}
