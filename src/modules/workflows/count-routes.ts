/**
 * GET    /workflows/counts?ids=…     executions by status, of several workflows
 * GET    /workflows/{id}/counts      executions by status, and what they did at each step
 */

import { Elysia } from "elysia";
import type { Admission } from "../../http/admission.ts";
import { Envelope, envelope, IdParams, withErrors } from "../../http/envelope.ts";
import { CountsQuery, ListedCountsList, WorkflowCounts } from "./count-model.ts";
import type { WorkflowCounter } from "./counts.ts";
import { workflowOperations } from "./operations.ts";

export function countRoutes(deps: { admission: Admission; counts: WorkflowCounter }) {
  const { admission, counts } = deps;
  return new Elysia({ name: "workflow-count-routes", prefix: "/workflows" })
    .use(admission.secretKey)
    .get(
      "/counts",
      async ({ project, query }) =>
        envelope({ items: await counts.ofWorkflows(project.seq, query.ids?.split(",") ?? []) }),
      {
        query: CountsQuery,
        response: withErrors({ 200: Envelope(ListedCountsList) }),
        detail: workflowOperations.listWorkflowCounts,
      },
    )
    .get(
      "/:id/counts",
      async ({ project, params }) => envelope(await counts.ofWorkflow(project.seq, params.id)),
      {
        params: IdParams,
        response: withErrors({ 200: Envelope(WorkflowCounts) }),
        detail: workflowOperations.getWorkflowCounts,
      },
    );
}
