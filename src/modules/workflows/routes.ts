/**
 * GET    /workflows
 * POST   /workflows
 * GET    /workflows/{id}
 * PATCH  /workflows/{id}
 * DELETE /workflows/{id}
 *
 * The routes of steps and transitions are in graph-routes.ts, those of executions in
 * execution-routes.ts.
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
import { Workflow, WorkflowInput, WorkflowPatch, WorkflowQuery } from "./model.ts";
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
      ({ project, body, once }) =>
        once(() => {
          const create = workflows.create(project.seq, body);
          return () => ({ status: 201, body: envelope(create()) });
        }),
      {
        body: limited(WorkflowInput, BODY_LIMITS.workflow),
        response: withErrors({ 201: Envelope(Workflow) }),
        detail: workflowOperations.createWorkflow,
      },
    )
    .get(
      "/:id",
      ({ project, role, params }) =>
        envelope(readableBy(role, workflows.read(project.seq, params.id))),
      {
        params: IdParams,
        response: withErrors({ 200: Envelope(Workflow) }),
        detail: workflowOperations.getWorkflow,
      },
    )
    .patch(
      "/:id",
      async ({ project, params, body, store }) =>
        envelope(await store(workflows.patch(project.seq, params.id, body))),
      {
        params: IdParams,
        body: limited(WorkflowPatch, BODY_LIMITS.workflow),
        response: withErrors({ 200: Envelope(Workflow) }),
        detail: workflowOperations.updateWorkflow,
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
