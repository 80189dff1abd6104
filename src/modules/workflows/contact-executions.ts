/**
 * The executions of one contact in all workflows, newest first. The index by contact finds them; a
 * contact has few, so they are sorted after they are read.
 */

import { desc, eq, inArray } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { workflowExecutions, workflows } from "../../db/schema/workflows.ts";
import type { Page } from "../../http/envelope.ts";
import { bySeq, type ListPage, seqBound } from "../../http/pagination.ts";
import type { ContactRow, Contacts } from "../contacts/service.ts";
import type { ContactExecution, ExecutionQuery } from "./execution-model.ts";
import { presentExecution } from "./execution-queries.ts";

export type ListContactExecutions = (
  projectSeq: number,
  contactId: string,
  query: ExecutionQuery,
) => Promise<Page<ContactExecution>>;

export function createContactExecutions(deps: {
  db: Db;
  listPage: ListPage;
  contacts: Pick<Contacts, "get">;
}): ListContactExecutions {
  const { db, listPage, contacts } = deps;
  // A deleted workflow is not shown while its executions are removed.
  const findSeqs = db.sqlite.prepare<{ seq: number }, [number, string | null]>(`
    SELECT execution.seq FROM workflow_executions AS execution
      INDEXED BY workflow_executions_contact
    JOIN workflows ON workflows.seq = execution.workflow_seq
    WHERE execution.contact_seq = +?1 AND workflows.deleted_at IS NULL
      AND (?2 IS NULL OR execution.status = ?2)
    ORDER BY execution.seq DESC`);

  function read(seqs: readonly number[], contact: ContactRow): ContactExecution[] {
    return db
      .select({ execution: workflowExecutions, id: workflows.id, name: workflows.name })
      .from(workflowExecutions)
      .innerJoin(workflows, eq(workflows.seq, workflowExecutions.workflowSeq))
      .where(inArray(workflowExecutions.seq, [...seqs]))
      .orderBy(desc(workflowExecutions.seq))
      .all()
      .map(({ execution, id, name }) => ({
        ...presentExecution(
          { id },
          { execution, contactId: contact.id, contactEmail: contact.email },
        ),
        workflowName: name,
      }));
  }

  return (projectSeq, contactId, query) => {
    const contact = contacts.get(projectSeq, contactId);
    return listPage(
      { scope: `${projectSeq}:contact-executions:${contactId}`, query },
      (request) => {
        const all = findSeqs.all(contact.seq, query.status ?? null);
        const before = seqBound(request);
        const rows = all.filter(({ seq }) => seq < before).slice(0, request.limit);
        return { rows, total: all.length, positionOf: bySeq };
      },
      (rows) =>
        read(
          rows.map(({ seq }) => seq),
          contact,
        ),
    );
  };
}
