/** Reads executions for the API: the pages of a workflow, and one with its completed steps. */

import { and, asc, eq } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { contacts as contactRows } from "../../db/schema/contacts.ts";
import { workflowExecutions, workflowExecutionSteps } from "../../db/schema/workflows.ts";
import type { CountedRows, SlicedCount } from "../../db/sliced-count.ts";
import type { Page } from "../../http/envelope.ts";
import { type ListPage, newestRows } from "../../http/pagination.ts";
import { isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { fieldError, notFound } from "../../lib/errors.ts";
import { parseData } from "../contacts/data.ts";
import { executionsAt } from "./counts.ts";
import type {
  ExecutionDetails,
  ExecutionQuery,
  ExecutionStep,
  ListedExecution,
} from "./execution-model.ts";
import type { Graph } from "./graph/graph.ts";
import type { WorkflowRow } from "./store.ts";

type Found = {
  execution: typeof workflowExecutions.$inferSelect;
  contactId: string | null;
  contactEmail: string | null;
};

export type ExecutionQueryDeps = {
  db: Db;
  listPage: ListPage;
  graphOf: (versionSeq: number) => Graph | null;
  count: SlicedCount;
};

export function createExecutionQueries({ db, listPage, graphOf, count }: ExecutionQueryDeps) {
  const select = () =>
    db
      .select({
        execution: workflowExecutions,
        seq: workflowExecutions.seq,
        contactId: contactRows.id,
        contactEmail: contactRows.email,
      })
      .from(workflowExecutions)
      .leftJoin(contactRows, eq(contactRows.seq, workflowExecutions.contactSeq));

  /** Throws 404 EXECUTION_NOT_FOUND. */
  function find(workflow: WorkflowRow, id: string): Found {
    const ofWorkflow = eq(workflowExecutions.workflowSeq, workflow.seq);
    const [row] = select()
      .where(and(ofWorkflow, eq(workflowExecutions.id, id)))
      .limit(1)
      .all();
    if (row === undefined) throw notFound("EXECUTION");
    return row;
  }

  function stepsOf({ execution }: Found): ExecutionStep[] {
    const graph = graphOf(execution.versionSeq);
    const names = new Map(graph?.steps.map(({ id, name }) => [id, name]) ?? []);
    return db
      .select()
      .from(workflowExecutionSteps)
      .where(eq(workflowExecutionSteps.executionSeq, execution.seq))
      .orderBy(asc(workflowExecutionSteps.number))
      .all()
      .map((row) => ({
        id: `${execution.id}.${row.number}`,
        stepId: row.stepId,
        type: row.type,
        name: names.get(row.stepId) ?? null,
        outcome: row.outcome,
        branch: row.branch,
        detail: row.detail === null ? null : parseData(row.detail),
        startedAt: isoTime(row.startedAt),
        completedAt: isoTime(row.completedAt),
      }));
  }

  /** A workflow may have millions of executions. */
  function readerOf({ seq, projectSeq }: WorkflowRow, { status, step }: ExecutionQuery) {
    const read = newestRows(db, {
      table: workflowExecutions,
      filter: and(
        eq(workflowExecutions.workflowSeq, seq),
        status === undefined ? undefined : eq(workflowExecutions.status, status),
        step === undefined ? undefined : eq(workflowExecutions.currentStepId, step),
      ),
      select: select(),
      total: () => 0,
    });
    return async (request: Parameters<typeof read>[0]) => {
      const total = await count(projectSeq, countedRows(seq, { status, step }));
      return { ...read(request), total };
    };
  }

  return {
    find,

    details(workflow: WorkflowRow, id: string): ExecutionDetails {
      const found = find(workflow, id);
      return { ...presentExecution(workflow, found), steps: stepsOf(found) };
    },

    /** Throws 422 if a step is given without a status, for which there is no index. */
    list(workflow: WorkflowRow, query: ExecutionQuery): Promise<Page<ListedExecution>> {
      if (query.step !== undefined && query.status === undefined) {
        throw fieldError("status", "required", "is required if a step is given");
      }
      return listPage(
        { scope: `${workflow.projectSeq}:executions:${workflow.id}`, query },
        readerOf(workflow, query),
        (rows) => rows.map((row) => presentExecution(workflow, row)),
      );
    },
  };
}

function countedRows(
  workflowSeq: number,
  { status, step }: { [Key in "status" | "step"]: ExecutionQuery[Key] | undefined },
): CountedRows {
  const table = "workflow_executions INDEXED BY";
  if (status === undefined) {
    const from = `${table} workflow_executions_page WHERE workflow_seq = +?`;
    return { from, values: [workflowSeq] };
  }
  if (step !== undefined) return executionsAt(workflowSeq, status, step);
  const from = `${table} workflow_executions_status WHERE workflow_seq = +? AND status = +?`;
  return { from, values: [workflowSeq, status] };
}

export function presentExecution(
  workflow: Pick<WorkflowRow, "id">,
  { execution, contactId, contactEmail }: Found,
): ListedExecution {
  const { id, status, currentStepId, exitReason, error } = execution;
  return {
    id,
    workflowId: workflow.id,
    contactId,
    contactEmail,
    status,
    currentStepId,
    context: parseData(execution.context),
    startedAt: isoTime(execution.startedAt),
    completedAt: isoTimeOrNull(execution.completedAt),
    exitReason,
    error,
  };
}
