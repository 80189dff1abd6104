/**
 * Numbers of executions: by status, which are exact, and by step. All reading is in slices.
 *
 * The log of completed steps has no index of steps, because every step of every execution would
 * write to it. So the completed steps of the newest executions are read, up to a limit.
 */

import type { Db } from "../../db/open.ts";
import { EXECUTION_STATUSES } from "../../db/schema/workflows.ts";
import type { SlicedCount } from "../../db/sliced-count.ts";
import type { FairScheduler } from "../../lib/slice-queue.ts";
import { startSlices } from "../../lib/slices.ts";
import type { ExecutionCounts, ListedCounts, WorkflowCounts } from "./count-model.ts";
import type { WorkflowRow } from "./store.ts";

type StepCounts = WorkflowCounts["steps"][number];
type Outcome = "completed" | "skipped" | "failed";
type CompletedRow = { stepId: string; outcome: string; count: number };

const LIMITS = {
  /** Rows of one statement, which takes about three milliseconds. */
  rows: 1_000,
  activeExecutions: 100_000,
  completedSteps: 50_000,
};
/** Executions that are read at once to find those whose steps are counted next. */
const PAGE = 500;

const OUTCOMES: Readonly<Record<string, Outcome>> = {
  COMPLETED: "completed",
  SKIPPED: "skipped",
  FAILED: "failed",
};

export type WorkflowCounter = ReturnType<typeof createWorkflowCounts>;

export function createWorkflowCounts(deps: {
  db: Db;
  scheduler: FairScheduler;
  count: SlicedCount;
  /** Returns the row of a workflow; throws 404 WORKFLOW_NOT_FOUND. */
  getWorkflow: (projectSeq: number, id: string) => WorkflowRow;
  findWorkflow: (projectSeq: number, id: string) => Pick<WorkflowRow, "seq"> | null;
  limits?: typeof LIMITS;
}) {
  const { scheduler, count, limits = LIMITS } = deps;
  const { sqlite } = deps.db;
  const findActive = sqlite.prepare<
    { seq: number; stepId: string | null },
    [{ workflow: number; status: string; before: number; limit: number }]
  >(`
    SELECT seq, current_step_id AS stepId
    FROM workflow_executions INDEXED BY workflow_executions_status
    WHERE workflow_seq = +$workflow AND status = +$status AND seq < +$before
    ORDER BY seq DESC LIMIT +$limit`);
  const findNewest = sqlite.prepare<
    { seq: number; stepCount: number },
    [{ workflow: number; before: number; limit: number }]
  >(`
    SELECT seq, step_count AS stepCount
    FROM workflow_executions INDEXED BY workflow_executions_page
    WHERE workflow_seq = +$workflow AND seq < +$before ORDER BY seq DESC LIMIT +$limit`);
  const countCompleted = sqlite.prepare<CompletedRow, [string]>(`
    SELECT s.step_id AS stepId, s.outcome, count(*) AS count
    FROM json_each(?) AS wanted CROSS JOIN workflow_execution_steps s
      ON s.execution_seq = wanted.value
    GROUP BY s.step_id, s.outcome`);

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

  /** Adds the active executions at each step. Resolves to whether all of them were read. */
  async function addActive({ projectSeq, seq }: WorkflowRow, steps: Steps): Promise<boolean> {
    const slices = await startSlices(scheduler.queueOf(projectSeq));
    let left = limits.activeExecutions;
    for (const status of ["RUNNING", "WAITING"]) {
      let before = Number.MAX_SAFE_INTEGER;
      for (;;) {
        const limit = Math.min(limits.rows, left);
        const rows = findActive.all({ workflow: seq, status, before, limit });
        for (const { stepId } of rows) if (stepId !== null) steps.of(stepId).active++;
        left -= rows.length;
        if (rows.length < limit) break;
        if (left === 0) return false;
        before = rows.at(-1)?.seq ?? 0;
        if (slices.isOver()) await slices.next();
      }
    }
    return true;
  }

  /** Adds the completed steps of the newest executions. Resolves to the number of the executions. */
  async function addCompleted({ projectSeq, seq }: WorkflowRow, steps: Steps): Promise<number> {
    const slices = await startSlices(scheduler.queueOf(projectSeq));
    let left = limits.completedSteps;
    let counted = 0;
    let before = Number.MAX_SAFE_INTEGER;
    for (;;) {
      const page = findNewest.all({ workflow: seq, before, limit: PAGE });
      for (const batch of batchesOf(page, limits.rows)) {
        const seqs = JSON.stringify(batch.map((execution) => execution.seq));
        for (const row of countCompleted.all(seqs)) {
          const outcome = OUTCOMES[row.outcome];
          if (outcome !== undefined) steps.of(row.stepId)[outcome] += row.count;
        }
        counted += batch.length;
        left -= stepsOf(batch);
        if (left <= 0) return counted;
        if (slices.isOver()) await slices.next();
      }
      if (page.length < PAGE) return counted;
      before = page.at(-1)?.seq ?? 0;
    }
  }

  return {
    async ofWorkflow(projectSeq: number, id: string): Promise<WorkflowCounts> {
      const workflow = deps.getWorkflow(projectSeq, id);
      const steps = createSteps();
      const executions = await byStatus(projectSeq, workflow.seq);
      const isEveryActiveCounted = await addActive(workflow, steps);
      const countedExecutions = await addCompleted(workflow, steps);
      return { executions, steps: steps.all(), countedExecutions, isEveryActiveCounted };
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

type Counted = { seq: number; stepCount: number };

const stepsOf = (batch: readonly Counted[]): number =>
  batch.reduce((sum, { stepCount }) => sum + stepCount, 0);

/** Groups with about `rows` completed steps each; an execution alone may have more. */
function batchesOf(page: readonly Counted[], rows: number): Counted[][] {
  const batches: Counted[][] = [];
  for (const execution of page) {
    const last = batches.at(-1);
    if (last === undefined || stepsOf(last) + execution.stepCount > rows) batches.push([execution]);
    else last.push(execution);
  }
  return batches;
}
