/** The operations on one workflow: read, change, copy, its versions, and who will enter it. */

import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { Envelope, ListEnvelope } from "../../http/envelope.ts";
import { ensureRevision } from "../../http/if-match.ts";
import { operations, read, write } from "../../http/operations.ts";
import { forecastEntries } from "./entry-forecast.ts";
import { EntryForecast } from "./entry-model.ts";
import { Workflow, WorkflowPatch } from "./model.ts";
import { toWorkflow } from "./operations.ts";
import { readableBy } from "./present.ts";
import { workflowService } from "./service.ts";
import {
  presentListedWorkflowVersion,
  presentWorkflowVersion,
  VersionQuery,
  WorkflowVersion,
  WorkflowVersionDetails,
} from "./version-model.ts";

const etag = ({ revision }: { revision: number }): number => revision;

export const singleWorkflowOperations = operations(
  "Workflows",
  { parameters: { id: "Id of the workflow", number: "Number of a version" } },
  [
    read("GET /workflows/:id", {
      id: "getWorkflow",
      role: "VIEWER",
      scopes: ["READ"],
      summary: "Get a workflow with its graph",
      description:
        "The workflow with its steps and transitions. Viewers do not see the values of the headers " +
        "of WEBHOOK steps, which may be credentials.",
      answer: Envelope(Workflow),
      etag,
      run: (app, { project, params, role }) =>
        readableBy(role, workflowService(app).read(project.seq, params.id)),
    }),
    write("PATCH /workflows/:id", {
      id: "updateWorkflow",
      role: "EDITOR",
      summary: "Update a workflow; active executions keep the graph that they started with",
      description:
        "Changes the given fields. `steps`, `transitions` and `exits` replace the stored ones.",
      isConditional: true,
      body: limited(WorkflowPatch, BODY_LIMITS.workflow),
      answer: Envelope(Workflow),
      etag,
      run: (app, { project, params, body, actor, request }) =>
        workflowService(app).patch(project.seq, params.id, body, {
          author: actor(),
          ensure: ({ revision }) => ensureRevision(request, "workflow", revision),
        })(),
    }),
    write("POST /workflows/:id/duplicate", {
      id: "duplicateWorkflow",
      role: "EDITOR",
      summary: "Copy a workflow",
      description: "The copy is not enabled, and has no executions.",
      isIdempotent: true,
      objectType: "workflow",
      links: toWorkflow,
      answer: Envelope(Workflow),
      status: 201,
      run: (app, { project, params, actor }) =>
        workflowService(app).duplicate(project.seq, params.id, actor()),
    }),
    read("GET /workflows/:id/versions", {
      id: "listWorkflowVersions",
      role: "VIEWER",
      scopes: ["READ"],
      summary: "List the versions of a workflow",
      description:
        "Each change of the graph makes a version. The newest 50 are kept, newest first, and older " +
        "ones while executions need them.",
      answer: ListEnvelope(WorkflowVersion),
      run(app, { project, params }) {
        const workflows = workflowService(app);
        const { seq, versionSeq } = workflows.get(project.seq, params.id);
        const items = workflows
          .listVersions(seq)
          .map((version) => presentListedWorkflowVersion(version, versionSeq));
        return { items, total: items.length, hasMore: false, nextCursor: null };
      },
    }),
    read("GET /workflows/:id/versions/:number", {
      id: "getWorkflowVersion",
      role: "VIEWER",
      scopes: ["READ"],
      summary: "Get a version of a workflow, and what changed",
      description:
        "The graph of the version, and what differs from the version before, or from the version " +
        "`against`. To restore it, send its `trigger`, `steps`, `transitions` and `exits` with PATCH.",
      query: VersionQuery,
      answer: Envelope(WorkflowVersionDetails),
      run(app, { project, params, query, role }) {
        const workflows = workflowService(app);
        const workflow = workflows.get(project.seq, params.id);
        const version = workflows.version(workflow.seq, Number(params.number));
        const against =
          query.against === undefined
            ? workflows.versionBefore(workflow.seq, version.number)
            : workflows.version(workflow.seq, Number(query.against));
        return presentWorkflowVersion({ version, against, workflow, role });
      },
    }),
    read("GET /workflows/:id/entry-forecast", {
      id: "forecastWorkflowEntries",
      role: "VIEWER",
      scopes: ["READ"],
      summary: "Who will enter a workflow",
      description:
        "For an event: the contacts that had it in the last 30 days; only later events start " +
        "executions. For a schedule: its next three times, and the contacts of its segment now.",
      answer: Envelope(EntryForecast),
      run: (app, { project, params }) => {
        const workflows = workflowService(app);
        const workflow = workflows.get(project.seq, params.id);
        return forecastEntries(app, workflow, workflows.currentGraph(workflow));
      },
    }),
  ],
);
