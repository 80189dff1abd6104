/**
 * GET    /workflows/counts?ids=…     executions by status, of several workflows
 * GET    /workflows/{id}/counts      executions by status, and what they did at each step
 */

import { Elysia } from "elysia";
import type { Admission } from "../../http/admission.ts";
import { Envelope, envelope, IdParams, withErrors } from "../../http/envelope.ts";
import { CountsQuery, ListedCountsList, WorkflowCounts } from "./count-model.ts";
import type { App } from "../../core/app.ts";
import { countExecutions, countExecutionsOfAll } from "./counts.ts";
import { workflowOperations } from "./operations.ts";
import type { Workflows } from "./service.ts";

export function countRoutes(deps: {
  app: App;
  admission: Admission;
  workflows: Pick<Workflows, "get" | "find">;
}) {
  const { app, admission, workflows } = deps;
  return new Elysia({ name: "workflow-count-routes", prefix: "/workflows" })
    .use(admission.secretKey)
    .get(
      "/counts",
      async ({ project, query }) => {
        const ids = new Set(query.ids?.split(",") ?? []);
        const found = [...ids].flatMap((id) => workflows.find(project.seq, id) ?? []);
        return envelope({ items: await countExecutionsOfAll(app, project.seq, found) });
      },
      {
        query: CountsQuery,
        response: withErrors({ 200: Envelope(ListedCountsList) }),
        detail: workflowOperations.listWorkflowCounts,
      },
    )
    .get(
      "/:id/counts",
      async ({ project, params }) =>
        envelope(await countExecutions(app, workflows.get(project.seq, params.id))),
      {
        params: IdParams,
        response: withErrors({ 200: Envelope(WorkflowCounts) }),
        detail: workflowOperations.getWorkflowCounts,
      },
    );
}
