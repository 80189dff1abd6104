/**
 * Exact numbers of executions by status and by step. Executions are counted in slices in an index;
 * for completed steps there are counters, because an index of them would be written for each step.
 */

import type { Db } from "../../db/open.ts";
import { EXECUTION_STATUSES, type ExecutionStatus } from "../../db/schema/workflows.ts";
import type { CountedRows, SlicedCount } from "../../db/sliced-count.ts";
import type { ExecutionCounts, ListedCounts, WorkflowCounts } from "./count-model.ts";
import type { WorkflowRow } from "./store.ts";

type StepCounts = WorkflowCounts["steps"][number];

const ACTIVE = ["RUNNING", "WAITING"] as const;

export type WorkflowCounter = ReturnType<typeof createWorkflowCounts>;

export function createWorkflowCounts(deps: {
  db: Db;
  count: SlicedCount;
  /** Returns the row of a workflow; throws 404 WORKFLOW_NOT_FOUND. */
  getWorkflow: (projectSeq: number, id: string) => WorkflowRow;
  findWorkflow: (projectSeq: number, id: string) => Pick<WorkflowRow, "seq"> | null;
}) {
  const { count } = deps;
  const { sqlite } = deps.db;
  const findNextStep = sqlite.prepare<{ stepId: string | null }, [number, string, string]>(`
    SELECT min(current_step_id) AS stepId
    FROM workflow_executions INDEXED BY workflow_executions_step
    WHERE workflow_seq = +? AND status = +? AND current_step_id > +?`);
  const findCompleted = sqlite.prepare<Omit<StepCounts, "active">, [number]>(`
    SELECT step_id AS stepId, completed, skipped, failed
    FROM workflow_step_counts WHERE workflow_seq = +?`);

  async function byStatus(projectSeq: number, workflowSeq: number): Promise<ExecutionCounts> {
    const counts = { RUNNING: 0, WAITING: 0, COMPLETED: 0, EXITED: 0, FAILED: 0, CANCELLED: 0 };
    for (const status of EXECUTION_STATUSES) {
      const from =
        "workflow_executions INDEXED BY workflow_executions_status " +
        "WHERE workflow_seq = +? AND status = +?";
      counts[status] = await count(projectSeq, { from, values: [workflowSeq, status] });
    }
    return counts;
  }

  /** Adds the active executions at each step, also at steps that are not in the graph any more. */
  async function addActive({ projectSeq, seq }: WorkflowRow, steps: Steps): Promise<void> {
    for (const status of ACTIVE) {
      // Each look-up skips to the next step in the index.
      for (let after = ""; ;) {
        const stepId = findNextStep.get(seq, status, after)?.stepId ?? null;
        if (stepId === null) break;
        steps.of(stepId).active += await count(projectSeq, executionsAt(seq, status, stepId));
        after = stepId;
      }
    }
  }

  return {
    async ofWorkflow(projectSeq: number, id: string): Promise<WorkflowCounts> {
      const workflow = deps.getWorkflow(projectSeq, id);
      const steps = createSteps();
      const executions = await byStatus(projectSeq, workflow.seq);
      await addActive(workflow, steps);
      for (const row of findCompleted.all(workflow.seq)) Object.assign(steps.of(row.stepId), row);
      return { executions, steps: steps.all() };
    },

    /** Ids of workflows that do not exist are left out. */
    async ofWorkflows(projectSeq: number, ids: readonly string[]): Promise<ListedCounts[]> {
      const counts: ListedCounts[] = [];
      for (const id of new Set(ids)) {
        const workflow = deps.findWorkflow(projectSeq, id);
        if (workflow === null) continue;
        counts.push({ workflowId: id, executions: await byStatus(projectSeq, workflow.seq) });
      }
      return counts;
    },
  };
}

type Steps = ReturnType<typeof createSteps>;

function createSteps() {
  const byId = new Map<string, StepCounts>();
  return {
    of(stepId: string): StepCounts {
      const known = byId.get(stepId);
      if (known !== undefined) return known;
      const added = { stepId, active: 0, completed: 0, skipped: 0, failed: 0 };
      byId.set(stepId, added);
      return added;
    },
    all: (): StepCounts[] => [...byId.values()],
  };
}

/** The executions of a status at a step. */
export function executionsAt(
  workflowSeq: number,
  status: ExecutionStatus,
  stepId: string,
): CountedRows {
  const from =
    "workflow_executions INDEXED BY workflow_executions_step " +
    "WHERE workflow_seq = +? AND status = +? AND current_step_id = +?";
  return { from, values: [workflowSeq, status, stepId] };
}
