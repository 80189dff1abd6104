/**
 * Exact numbers of executions by status and by step. Executions are counted by readers, in indexes; for
 * completed steps there are counters, because an index of them would be written for each step.
 */

import type { App } from "../../core/app.ts";
import { inTimeBy } from "../../db/queries.ts";
import { statement } from "../../db/statement.ts";
import type { ExecutionCounts, ListedCounts, WorkflowCounts } from "./count-model.ts";
import type { WorkflowRow } from "./store.ts";

type StepCounts = WorkflowCounts["steps"][number];

const NO_EXECUTIONS = { RUNNING: 0, WAITING: 0, COMPLETED: 0, EXITED: 0, FAILED: 0, CANCELLED: 0 };

export async function countExecutions(app: App, workflow: WorkflowRow): Promise<WorkflowCounts> {
  const [executions, active] = await Promise.all([
    countByStatus(app, workflow.projectSeq, [workflow.seq]),
    countActive(app, workflow),
  ]);
  const steps = new Map<string, StepCounts>();
  const add = (stepId: string, more: Partial<StepCounts>) =>
    steps.set(stepId, { ...(steps.get(stepId) ?? noneAt(stepId)), ...more });
  for (const { stepId, count } of active) {
    add(stepId, { active: (steps.get(stepId)?.active ?? 0) + count });
  }
  for (const row of findCompleted(app).all(workflow.seq)) add(row.stepId, row);
  return { executions: executions.get(workflow.seq) ?? NO_EXECUTIONS, steps: [...steps.values()] };
}

export async function countExecutionsOfAll(
  app: App,
  projectSeq: number,
  workflows: readonly WorkflowRow[],
): Promise<ListedCounts[]> {
  const seqs = workflows.map(({ seq }) => seq);
  const counts = await countByStatus(app, projectSeq, seqs);
  return workflows.map(({ id, seq }) => ({
    workflowId: id,
    executions: counts.get(seq) ?? NO_EXECUTIONS,
  }));
}

async function countByStatus(
  { reader }: App,
  projectSeq: number,
  workflowSeqs: readonly number[],
): Promise<ReadonlyMap<number, ExecutionCounts>> {
  const sql = `
    SELECT workflow_seq, status, count(*)
    FROM workflow_executions INDEXED BY workflow_executions_status
    WHERE workflow_seq IN (SELECT value FROM json_each(?)) AND ${inTimeBy("seq")}
    GROUP BY workflow_seq, status`;
  const { rows } = await reader.find(projectSeq, { sql, values: [JSON.stringify(workflowSeqs)] });
  const counts = new Map<number, ExecutionCounts>();
  for (const [seq, status, count] of rows) {
    const known = counts.get(Number(seq)) ?? NO_EXECUTIONS;
    counts.set(Number(seq), { ...known, [String(status)]: Number(count) });
  }
  return counts;
}

/** The active executions at each step, also at steps that are not in the graph any more. */
async function countActive({ reader }: App, { projectSeq, seq }: WorkflowRow) {
  const sql = `
    SELECT current_step_id, count(*)
    FROM workflow_executions INDEXED BY workflow_executions_step
    WHERE workflow_seq = ? AND status IN ('RUNNING', 'WAITING') AND current_step_id IS NOT NULL
      AND ${inTimeBy("seq")}
    GROUP BY status, current_step_id`;
  const { rows } = await reader.find(projectSeq, { sql, values: [seq] });
  return rows.map(([stepId, count]) => ({ stepId: String(stepId), count: Number(count) }));
}

const findCompleted = statement<Omit<StepCounts, "active">, [number]>(`
  SELECT step_id AS stepId, completed, skipped, failed
  FROM workflow_step_counts WHERE workflow_seq = +?`);

const noneAt = (stepId: string): StepCounts => ({
  stepId,
  active: 0,
  completed: 0,
  skipped: 0,
  failed: 0,
});
