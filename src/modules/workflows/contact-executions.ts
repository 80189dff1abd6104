/** The executions of one contact in all workflows, newest first. */

import { and, eq, sql } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { workflowExecutions, workflows } from "../../db/schema/workflows.ts";
import { statement } from "../../db/statement.ts";
import type { Page } from "../../http/envelope.ts";
import { newestPage } from "../../http/pagination.ts";
import type { ContactRow } from "../contacts/service.ts";
import type { ContactExecution, ExecutionQuery } from "./execution-model.ts";
import { presentExecution } from "./execution-queries.ts";

export function listContactExecutions(
  app: App,
  project: { seq: number },
  contact: ContactRow,
  { status, ...query }: ExecutionQuery,
): Promise<Page<ContactExecution>> {
  return newestPage(app, project, {
    name: `contact-executions:${contact.id}`,
    query,
    table: workflowExecutions,
    filter: and(
      eq(workflowExecutions.contactSeq, contact.seq),
      isOfShownWorkflow,
      status === undefined ? undefined : eq(workflowExecutions.status, status),
    ),
    present(execution) {
      const workflow = findWorkflow(app).get(execution.workflowSeq);
      if (workflow === null) return null;
      const found = { execution, contactId: contact.id, contactEmail: contact.email };
      return { ...presentExecution(workflow, found), workflowName: workflow.name };
    },
  });
}

/** A deleted workflow is not shown while its executions are removed. */
const isOfShownWorkflow = sql`EXISTS (SELECT 1 FROM ${workflows}
  WHERE ${workflows.seq} = ${workflowExecutions.workflowSeq} AND ${workflows.deletedAt} IS NULL)`;

const findWorkflow = statement<{ id: string; name: string }, [number]>(
  "SELECT id, name FROM workflows WHERE seq = +?",
);
