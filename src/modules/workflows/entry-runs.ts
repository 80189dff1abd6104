/**
 * Entry runs: the contacts of a segment, or all contacts, enter a workflow. A schedule or a request
 * creates a run. entry-runner.ts walks its contacts: the condition, the time from which its relative times
 * count, and the newest contact are fixed at the start. A run of a workflow that is disabled or deleted
 * is cancelled. This file has the rows; every function that writes here is part of a change.
 */

import { and, eq } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { workflowEntryRuns, type workflows } from "../../db/schema/workflows.ts";
import { statement } from "../../db/statement.ts";
import { AppError, fieldError, notFound } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import { perApp } from "../../lib/per-app.ts";
import { createSignal } from "../../lib/signal.ts";

export type EntryRunRow = typeof workflowEntryRuns.$inferSelect;

type WorkflowRow = Pick<typeof workflows.$inferSelect, "id" | "seq" | "projectSeq" | "isEnabled">;

/** Ended runs of a workflow that are kept. */
const MAX_ENDED = 200;

/** A run or a schedule may be due. */
const due = perApp(() => createSignal());

/** Calls `wake` after each commit of a change with which a run or a schedule may be due. */
export function onEntriesDue(app: App, wake: () => void): void {
  due(app).onRaised(wake);
}

/** Part of a change. */
export function announceEntries(app: App): void {
  app.writer.afterCommit(() => due(app).raise());
}

const findSegment = statement<{ condition: string | null }, [number, string]>(`
  SELECT condition FROM segments
  WHERE project_seq = +? AND id = +? AND deleted_at IS NULL`);

const findLastContact = statement<{ seq: number | null }, [number]>(
  "SELECT max(seq) AS seq FROM contacts WHERE project_seq = +?",
);

const existsOpen = statement<{ found: 0 | 1 }, [number, number]>(`
  SELECT EXISTS (SELECT 1 FROM workflow_entry_runs INDEXED BY workflow_entry_runs_open
                 WHERE status = 'RUNNING' AND workflow_seq = +?
                   AND (planned_at IS NOT NULL) = +?) AS found`);

const removeOld = statement<unknown, [number, number, number]>(`
  DELETE FROM workflow_entry_runs
  WHERE workflow_seq = +? AND status <> 'RUNNING' AND seq <= (
    SELECT seq FROM workflow_entry_runs WHERE workflow_seq = +? ORDER BY seq DESC LIMIT 1 OFFSET +?)`);

const cancelOpen = statement<unknown, [string, number, number]>(`
  UPDATE workflow_entry_runs INDEXED BY workflow_entry_runs_open
  SET status = 'CANCELLED', error = ?, completed_at = ?
  WHERE status = 'RUNNING' AND workflow_seq = +?`);

/** True if a run of the schedule is under way, or one that was requested. */
export const hasOpenRun = (app: App, workflowSeq: number, isPlanned: boolean): boolean =>
  existsOpen(app).get(workflowSeq, isPlanned ? 1 : 0)?.found === 1;

/**
 * Creates a run; null if the planned time had one already, because the clock was set back. A segment that
 * does not exist any more makes a run that has failed.
 */
export function insertEntryRun(
  app: App,
  { seq: workflowSeq, projectSeq }: Pick<WorkflowRow, "seq" | "projectSeq">,
  { segmentId, plannedAt }: { segmentId: string | null; plannedAt: number | null },
): EntryRunRow | null {
  const now = app.clock.now();
  const segment = segmentId === null ? null : findSegment(app).get(projectSeq, segmentId);
  const isGone = segmentId !== null && segment === null;
  const run = app.db
    .insert(workflowEntryRuns)
    .values({
      id: newId(now),
      projectSeq,
      workflowSeq,
      plannedAt,
      status: isGone ? "FAILED" : "RUNNING",
      error: isGone ? "The segment does not exist." : null,
      segmentId,
      condition: segment?.condition ?? null,
      endSeq: findLastContact(app).get(projectSeq)?.seq ?? 0,
      createdAt: now,
      completedAt: isGone ? now : null,
    })
    .onConflictDoNothing()
    .returning()
    .get();
  removeOld(app).run(workflowSeq, workflowSeq, MAX_ENDED);
  announceEntries(app);
  return run ?? null;
}

/** Creates the run of a request. Throws 409 if the workflow is disabled or has a run under way. */
export function requestEntries(
  app: App,
  workflow: WorkflowRow,
  segmentId: string | null,
): EntryRunRow {
  if (!workflow.isEnabled) {
    throw new AppError(409, "INVALID_STATE", "The workflow is not enabled.", {
      suggestion: 'Enable it first with PATCH and `"enabled": true`.',
    });
  }
  if (segmentId !== null && findSegment(app).get(workflow.projectSeq, segmentId) === null) {
    throw fieldError("segmentId", "unknown_reference", "names no segment of this project");
  }
  if (hasOpenRun(app, workflow.seq, false)) {
    throw new AppError(
      409,
      "CONFLICT",
      "Contacts that a request chose are entering this workflow already.",
      {
        suggestion:
          "Wait until that run ends, or cancel it: POST /workflows/{id}/entries/{entryId}/cancel.",
      },
    );
  }
  const run = insertEntryRun(app, workflow, { segmentId, plannedAt: null });
  if (run === null) throw new Error("a requested run was not stored");
  return run;
}

/** Throws 404 ENTRY_NOT_FOUND. */
export function getEntryRun(app: App, workflow: WorkflowRow, id: string): EntryRunRow {
  const { seq } = workflow;
  const [run] = app.db
    .select()
    .from(workflowEntryRuns)
    .where(and(eq(workflowEntryRuns.id, id), eq(workflowEntryRuns.workflowSeq, seq)))
    .limit(1)
    .all();
  if (run === undefined) throw notFound("ENTRY");
  return run;
}

/** Ends a run, unless it has ended. Returns the row as it is then; null if it had ended. */
export function endEntryRun(
  app: App,
  seq: number,
  how: Pick<EntryRunRow, "status" | "error">,
): EntryRunRow | null {
  const [ended] = app.db
    .update(workflowEntryRuns)
    .set({ ...how, completedAt: app.clock.now() })
    .where(and(eq(workflowEntryRuns.seq, seq), eq(workflowEntryRuns.status, "RUNNING")))
    .returning()
    .all();
  return ended ?? null;
}

/** Cancels the runs of a workflow. Contacts that entered stay in it. */
export function cancelEntryRuns(app: App, workflowSeq: number, reason: string): void {
  cancelOpen(app).run(reason, app.clock.now(), workflowSeq);
}
