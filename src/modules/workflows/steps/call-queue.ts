/**
 * The queue of webhook calls: executions at a WEBHOOK step whose call is due (CALL) or is leased
 * (ANSWER). Every function that writes here is part of a change.
 */

import type { Db } from "../../../db/open.ts";
import {
  EXECUTION_COLUMNS,
  type Execution,
  executionOf,
  type ExecutionRow,
} from "../run/execution-rows.ts";

/** A workflow with executions that are due for a webhook call, now or later. */
export type CallingWorkflow = { workflowSeq: number; projectSeq: number };

export type CallQueue = ReturnType<typeof createCallQueue>;

export function createCallQueue({ sqlite }: Pick<Db, "sqlite">) {
  const findNextDueAt = sqlite.prepare<{ at: number | null }, [number]>(`
    SELECT min(due_at) AS at FROM workflow_executions
    WHERE due_for = 'CALL' AND due_at > +? AND due_at IS NOT NULL`);
  const findNextWorkflow = sqlite.prepare<CallingWorkflow, [number]>(`
    SELECT workflow_seq AS workflowSeq, project_seq AS projectSeq FROM workflow_executions
    WHERE due_for = 'CALL' AND workflow_seq > +? ORDER BY workflow_seq LIMIT 1`);
  const findDue = sqlite.prepare<ExecutionRow, [number, number, number]>(`
    SELECT ${EXECUTION_COLUMNS} FROM workflow_executions e
    WHERE e.due_for = 'CALL' AND e.workflow_seq = +? AND e.due_at <= +?
    ORDER BY e.due_at LIMIT +?`);
  const requeue = sqlite.prepare<{ seq: number }, [number, number, string]>(`
    UPDATE workflow_executions SET due_for = 'CALL', due_at = +?
    WHERE due_for = 'ANSWER' AND due_at <= +? AND due_at IS NOT NULL
      AND seq NOT IN (SELECT value FROM json_each(+?))
    RETURNING seq`);

  return {
    /** The earliest due time of a call after `now`; null if there is none. */
    nextDueAt: (now: number): number | null => findNextDueAt.get(now)?.at ?? null,

    /**
     * Workflows with calls. Each step of the loop skips to the next workflow in the index, so the
     * cost does not depend on the number of calls.
     */
    workflows(): CallingWorkflow[] {
      const found: CallingWorkflow[] = [];
      for (let next = findNextWorkflow.get(0); next !== null;) {
        found.push(next);
        next = findNextWorkflow.get(next.workflowSeq);
      }
      return found;
    },

    /** Executions of a workflow whose call is due at `now`, in the order of due times. */
    due: (workflowSeq: number, now: number, limit: number): Execution[] =>
      findDue.all(workflowSeq, now, limit).map(executionOf),

    /**
     * Makes the calls due at `dueAt` whose lease ended by `until`, except those that are under way.
     * Returns their number.
     */
    requeue: (until: number, dueAt: number, underWay: readonly number[]): number =>
      requeue.all(dueAt, until, JSON.stringify(underWay)).length,
  };
}
