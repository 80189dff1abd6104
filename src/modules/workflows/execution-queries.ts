/** Reads executions for the API: the pages of a workflow, and one with its completed steps. */

import { and, asc, eq } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { contacts as contactRows } from "../../db/schema/contacts.ts";
import { workflowExecutions, workflowExecutionSteps } from "../../db/schema/workflows.ts";
import { statement } from "../../db/statement.ts";
import type { Page } from "../../http/envelope.ts";
import { newestPage } from "../../http/pagination.ts";
import { isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { fieldError, notFound } from "../../lib/errors.ts";
import { parseData } from "../contacts/data.ts";
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
  app: App;
  graphOf: (versionSeq: number) => Graph | null;
};

export function createExecutionQueries({ app, graphOf }: ExecutionQueryDeps) {
  const { db } = app;
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
      const { id, seq, projectSeq } = workflow;
      const { status, step, ...page } = query;
      return newestPage(
        app,
        { seq: projectSeq },
        {
          name: `executions:${id}`,
          query: page,
          table: workflowExecutions,
          filter: and(
            eq(workflowExecutions.workflowSeq, seq),
            status === undefined ? undefined : eq(workflowExecutions.status, status),
            step === undefined ? undefined : eq(workflowExecutions.currentStepId, step),
          ),
          present: (execution) => presentRow(app, workflow, execution),
        },
      );
    },
  };
}

const findContact = statement<{ id: string; email: string }, [number | null]>(
  "SELECT id, email FROM contacts WHERE seq = +?",
);

/** An execution of a workflow, with its contact. */
export function presentRow(
  app: App,
  workflow: Pick<WorkflowRow, "id">,
  execution: Found["execution"],
): ListedExecution {
  const { id = null, email = null } = findContact(app).get(execution.contactSeq) ?? {};
  return presentExecution(workflow, { execution, contactId: id, contactEmail: email });
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
