/**
 * GET    /workflows
 * POST   /workflows
 * DELETE /workflows/{id}
 *
 * The operations on one workflow are in workflow-operations.ts, the routes of steps and transitions in
 * graph-routes.ts, those of executions in execution-routes.ts.
 */

import { Elysia, status } from "elysia";
import type { Admission } from "../../http/admission.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import {
  Envelope,
  envelope,
  IdParams,
  ListEnvelope,
  NoContent,
  withErrors,
} from "../../http/envelope.ts";
import { Workflow, WorkflowInput, WorkflowQuery } from "./model.ts";
import { workflowOperations } from "./operations.ts";
import { readableBy } from "./present.ts";
import type { Workflows } from "./service.ts";

export function workflowRoutes(deps: { admission: Admission; workflows: Workflows }) {
  const { admission, workflows } = deps;
  return new Elysia({ name: "workflow-routes", prefix: "/workflows" })
    .use(admission.secretKey)
    .get(
      "",
      async ({ project, role, query }) => {
        const { items, ...page } = await workflows.list(project.seq, query);
        const shown = items.map((workflow) => readableBy(role, workflow));
        return envelope({ ...page, items: shown });
      },
      {
        query: WorkflowQuery,
        response: withErrors({ 200: ListEnvelope(Workflow) }),
        detail: workflowOperations.listWorkflows,
      },
    )
    .post(
      "",
      ({ project, body, actor, once }) =>
        once(() => {
          const create = workflows.create(project.seq, body, actor());
          return () => ({ status: 201, body: envelope(create()) });
        }),
      {
        body: limited(WorkflowInput, BODY_LIMITS.workflow),
        response: withErrors({ 201: Envelope(Workflow) }),
        detail: workflowOperations.createWorkflow,
      },
    )
    .delete(
      "/:id",
      async ({ project, params, storeWithoutQuota }) => {
        await workflows.remove(project.seq, params.id, storeWithoutQuota);
        return status(204, undefined);
      },
      {
        params: IdParams,
        response: withErrors({ 204: NoContent }),
        detail: workflowOperations.deleteWorkflow,
      },
    );
}
