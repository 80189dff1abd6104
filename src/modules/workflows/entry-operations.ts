/** The operations on entry runs: contacts of a segment enter a workflow by hand or by its schedule. */

import { eq } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { workflowEntryRuns } from "../../db/schema/workflows.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { Envelope, ListEnvelope } from "../../http/envelope.ts";
import { operations, read, write } from "../../http/operations.ts";
import { newestPage, PageQuery } from "../../http/pagination.ts";
import { isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { AppError } from "../../lib/errors.ts";
import { EntryInput, EntryRun } from "./entry-model.ts";
import { endEntryRun, type EntryRunRow, getEntryRun, requestEntries } from "./entry-runs.ts";
import { workflowService } from "./service.ts";
import type { WorkflowRow } from "./store.ts";

function present({ id: workflowId }: Pick<WorkflowRow, "id">, run: EntryRunRow): EntryRun {
  const { id, status, segmentId, entered, skipped, error } = run;
  return {
    id,
    workflowId,
    status,
    segmentId,
    plannedAt: isoTimeOrNull(run.plannedAt),
    entered,
    skipped,
    error,
    createdAt: isoTime(run.createdAt),
    completedAt: isoTimeOrNull(run.completedAt),
  };
}

type Call = { project: { seq: number }; params: { readonly id: string } };

const workflowOf = (app: App, { project, params }: Call) =>
  workflowService(app).get(project.seq, params.id);

export const entryOperations = operations(
  "Workflows",
  { parameters: { id: "Id of the workflow", entryId: "Id of the entry run" } },
  [
    read("GET /workflows/:id/entries", {
      id: "listWorkflowEntries",
      role: "VIEWER",
      scopes: ["READ"],
      summary: "List the entry runs of a workflow",
      description: "Newest first. The newest 200 runs that have ended are kept.",
      query: PageQuery,
      answer: ListEnvelope(EntryRun),
      run(app, call) {
        const workflow = workflowOf(app, call);
        return newestPage(app, call.project, {
          name: `workflow-entries:${workflow.id}`,
          query: call.query,
          table: workflowEntryRuns,
          filter: eq(workflowEntryRuns.workflowSeq, workflow.seq),
          present: (row) => present(workflow, row),
        });
      },
    }),
    write("POST /workflows/:id/entries", {
      id: "startWorkflowEntries",
      role: "EDITOR",
      summary: "Let the contacts of a segment, or all contacts, enter a workflow",
      description:
        "They enter after the answer, some thousand a second; the run shows how many have. Each enters " +
        "once, and those that may not enter again are skipped. Contacts that are created later do not " +
        "enter. Refused with 409 if the workflow is not enabled, or has a run under way.",
      isIdempotent: true,
      objectType: "workflow",
      status: 202,
      body: limited(EntryInput, BODY_LIMITS.settings),
      answer: Envelope(EntryRun),
      links: { getWorkflowEntry: { id: "/data/workflowId", entryId: "/data/id" } },
      run(app, call) {
        const workflow = workflowOf(app, call);
        return present(workflow, requestEntries(app, workflow, call.body.segmentId));
      },
    }),
    read("GET /workflows/:id/entries/:entryId", {
      id: "getWorkflowEntry",
      role: "VIEWER",
      scopes: ["READ"],
      summary: "Get an entry run",
      description: "How many contacts have entered so far, and whether the run has ended.",
      answer: Envelope(EntryRun),
      run(app, call) {
        const workflow = workflowOf(app, call);
        return present(workflow, getEntryRun(app, workflow, call.params.entryId));
      },
    }),
    write("POST /workflows/:id/entries/:entryId/cancel", {
      id: "cancelWorkflowEntry",
      role: "EDITOR",
      summary: "Cancel an entry run",
      description:
        "Contacts that have entered stay in the workflow. A run that has ended is refused with 409. " +
        "Needs no body.",
      isWithinQuota: false,
      objectType: "workflow",
      answer: Envelope(EntryRun),
      run(app, call) {
        const workflow = workflowOf(app, call);
        const { seq } = getEntryRun(app, workflow, call.params.entryId);
        const run = endEntryRun(app, seq, { status: "CANCELLED", error: "Cancelled by hand." });
        if (run !== null) return present(workflow, run);
        throw new AppError(409, "INVALID_STATE", "The run has already ended.", {
          suggestion: "Only runs that are RUNNING can be cancelled.",
        });
      },
    }),
  ],
);
