/** The operations of the API on executions: list, get, start for a contact, cancel. */

import type { Db } from "../../db/open.ts";
import type { Change, Writer } from "../../db/writer.ts";
import type { Page } from "../../http/envelope.ts";
import type { Clock } from "../../lib/clock.ts";
import { AppError, fieldError } from "../../lib/errors.ts";
import type { JsonObject } from "../contacts/data.ts";
import type { Contacts } from "../contacts/service.ts";
import { createExecutionQueries, type ExecutionQueryDeps } from "./execution-queries.ts";
import type { AnnounceExecution } from "./run/announced-rows.ts";
import type { ExecutionRows, Execution } from "./run/execution-rows.ts";
import { end, isContextTooLarge, isEnded } from "./run/engine.ts";
import type {
  ExecutionDetails,
  ExecutionInput,
  ExecutionQuery,
  ListedExecution,
} from "./execution-model.ts";
import type { WorkflowRow } from "./store.ts";
import type { Triggers } from "./run/triggers.ts";

export type Executions = ReturnType<typeof createExecutions>;

/** Executions cancelled in one transaction, which takes about ten milliseconds. */
const SLICE = 500;
const BY_HAND = "Cancelled by hand.";

type ExecutionsDeps = ExecutionQueryDeps & {
  db: Db;
  executionRows: ExecutionRows;
  clock: Clock;
  contacts: Pick<Contacts, "get">;
  getWorkflow: (projectSeq: number, id: string) => WorkflowRow;
  announce: AnnounceExecution;
  onExecutionEnd: (execution: Pick<Execution, "workflowSeq" | "versionSeq">) => void;
  triggers: Triggers;
  writer: Writer;
  /** Called after the commit of a new execution, which is due at once. */
  wake: () => void;
};

export function createExecutions(deps: ExecutionsDeps) {
  const { db, executionRows, clock, getWorkflow, writer } = deps;
  const queries = createExecutionQueries(deps);
  const cancelSome = db.sqlite.prepare<{ versionSeq: number }, [string, number, number, number]>(`
    UPDATE workflow_executions
    SET status = 'CANCELLED', exit_reason = ?, completed_at = ?, due_at = NULL, due_for = NULL,
        awaited_event = NULL, error = NULL
    WHERE seq IN (SELECT seq FROM workflow_executions
                  WHERE workflow_seq = +? AND status IN ('RUNNING', 'WAITING') LIMIT +?)
    RETURNING version_seq AS versionSeq`);

  function start(workflow: WorkflowRow, contactId: string, context: JsonObject): string {
    if (!workflow.isEnabled) throw notEnabled();
    const contact = deps.contacts.get(workflow.projectSeq, contactId);
    const now = clock.now();
    const rest = { contactSeq: contact.seq, context, now };
    const execution = deps.triggers.startManually(workflow, rest);
    if (execution === null) throw mayNotStart(workflow);
    writer.afterCommit(deps.wake);
    return execution.id;
  }

  return {
    list: (
      projectSeq: number,
      workflowId: string,
      query: ExecutionQuery,
    ): Promise<Page<ListedExecution>> => queries.list(getWorkflow(projectSeq, workflowId), query),

    get: (projectSeq: number, workflowId: string, id: string): ExecutionDetails =>
      queries.details(getWorkflow(projectSeq, workflowId), id),

    /** Starts an execution, which runs right after the commit. 409 if the contact may not enter. */
    start(
      projectSeq: number,
      workflowId: string,
      { contactId, context = {} }: ExecutionInput,
    ): Change<ExecutionDetails> {
      if (isContextTooLarge(context)) {
        throw fieldError("context", "too_big", "must take at most 64 KiB as JSON");
      }
      return () => {
        const workflow = getWorkflow(projectSeq, workflowId);
        return queries.details(workflow, start(workflow, contactId, context));
      };
    },

    /** 409 if the execution has ended. */
    cancel(projectSeq: number, workflowId: string, id: string): Change<ExecutionDetails> {
      return () => {
        const workflow = getWorkflow(projectSeq, workflowId);
        const execution = executionRows.find(queries.find(workflow, id).execution.seq);
        if (execution === null || isEnded(execution.progress.status)) throw hasEnded();
        const how = { status: "CANCELLED", exitReason: BY_HAND } as const;
        executionRows.save(execution, end(execution.progress, clock.now(), how), []);
        deps.onExecutionEnd(execution);
        return queries.details(workflow, id);
      };
    },

    /** Cancels all active executions, in slices that `write` stores; returns their number. */
    async cancelAll(
      projectSeq: number,
      workflowId: string,
      write: Writer["write"],
    ): Promise<number> {
      const { seq } = getWorkflow(projectSeq, workflowId);
      for (let cancelled = 0; ;) {
        const ended = await write(() => {
          deps.announce({ projectSeq, workflowSeq: seq });
          const rows = cancelSome.all(BY_HAND, clock.now(), seq, SLICE);
          for (const versionSeq of new Set(rows.map((row) => row.versionSeq))) {
            deps.onExecutionEnd({ workflowSeq: seq, versionSeq });
          }
          return rows.length;
        });
        cancelled += ended;
        if (ended < SLICE) return cancelled;
      }
    },
  };
}

function notEnabled(): AppError {
  return new AppError(409, "INVALID_STATE", "The workflow is not enabled.", {
    suggestion: 'Enable it first with PATCH and `"enabled": true`.',
  });
}

function mayNotStart({ allowReentry }: WorkflowRow): AppError {
  const message = allowReentry
    ? "This contact has an active execution of this workflow."
    : "This contact has entered this workflow before, and re-entry is not allowed.";
  const suggestion = allowReentry
    ? "Wait until the execution ends, or cancel it."
    : 'Allow re-entry with PATCH and `"allowReentry": true`.';
  return new AppError(409, "CONFLICT", message, { suggestion });
}

function hasEnded(): AppError {
  return new AppError(409, "INVALID_STATE", "The execution has already ended.", {
    suggestion: "Only executions that are RUNNING or WAITING can be cancelled.",
  });
}
