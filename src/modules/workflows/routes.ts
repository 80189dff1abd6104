/**
 * GET    /workflows
 * POST   /workflows
 * GET    /workflows/{id}
 * PATCH  /workflows/{id}
 * DELETE /workflows/{id}
 * POST   /workflows/{id}/steps                           inserts a step after another one
 * PATCH  /workflows/{id}/steps/{stepId}
 * DELETE /workflows/{id}/steps/{stepId}                  connects the steps before and after it
 * POST   /workflows/{id}/transitions
 * PATCH  /workflows/{id}/transitions/{transitionId}
 * DELETE /workflows/{id}/transitions/{transitionId}
 */

import { Elysia, status } from "elysia";
import type { Writer } from "../../db/writer.ts";
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
import {
  StepAddition,
  StepParams,
  StepPatch,
  TransitionParams,
  TransitionPatch,
  Workflow,
  WorkflowInput,
  WorkflowPatch,
  WorkflowQuery,
} from "./model.ts";
import { TransitionInput } from "./step-model.ts";
import { workflowOperations } from "./operations.ts";
import type { Workflows } from "./service.ts";

export function workflowRoutes(deps: {
  admission: Admission;
  workflows: Workflows;
  writer: Writer;
}) {
  const { admission, workflows, writer } = deps;
  return new Elysia({ name: "workflow-routes", prefix: "/workflows" })
    .use(admission.secretKey)
    .get("", async ({ project, query }) => envelope(await workflows.list(project.seq, query)), {
      query: WorkflowQuery,
      response: withErrors({ 200: ListEnvelope(Workflow) }),
      detail: workflowOperations.listWorkflows,
    })
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
    .get("/:id", ({ project, params }) => envelope(workflows.read(project.seq, params.id)), {
      params: IdParams,
      response: withErrors({ 200: Envelope(Workflow) }),
      detail: workflowOperations.getWorkflow,
    })
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
      async ({ project, params }) => {
        await workflows.remove(project.seq, params.id);
        return status(204, undefined);
      },
      {
        params: IdParams,
        response: withErrors({ 204: NoContent }),
        detail: workflowOperations.deleteWorkflow,
      },
    )
    .post(
      "/:id/steps",
      ({ project, params, body, once }) =>
        once(() => {
          const add = workflows.addStep(project.seq, params.id, body);
          return () => ({ status: 201, body: envelope(add()) });
        }),
      {
        params: IdParams,
        body: limited(StepAddition, BODY_LIMITS.workflow),
        response: withErrors({ 201: Envelope(Workflow) }),
        detail: workflowOperations.addWorkflowStep,
      },
    )
    .patch(
      "/:id/steps/:stepId",
      async ({ project, params: { id, stepId }, body, store }) => {
        const change = workflows.patchStep(project.seq, id, { stepId, patch: body });
        return envelope(await store(change));
      },
      {
        params: StepParams,
        body: limited(StepPatch, BODY_LIMITS.workflow),
        response: withErrors({ 200: Envelope(Workflow) }),
        detail: workflowOperations.updateWorkflowStep,
      },
    )
    .delete(
      "/:id/steps/:stepId",
      async ({ project, params: { id, stepId } }) => {
        await writer.write(workflows.removeStep(project.seq, id, stepId));
        return status(204, undefined);
      },
      {
        params: StepParams,
        response: withErrors({ 204: NoContent }),
        detail: workflowOperations.deleteWorkflowStep,
      },
    )
    .post(
      "/:id/transitions",
      ({ project, params, body, once }) =>
        once(() => {
          const add = workflows.addTransition(project.seq, params.id, body);
          return () => ({ status: 201, body: envelope(add()) });
        }),
      {
        params: IdParams,
        body: limited(TransitionInput, BODY_LIMITS.settings),
        response: withErrors({ 201: Envelope(Workflow) }),
        detail: workflowOperations.addWorkflowTransition,
      },
    )
    .patch(
      "/:id/transitions/:transitionId",
      async ({ project, params: { id, transitionId }, body, store }) => {
        const change = workflows.patchTransition(project.seq, id, { transitionId, patch: body });
        return envelope(await store(change));
      },
      {
        params: TransitionParams,
        body: limited(TransitionPatch, BODY_LIMITS.settings),
        response: withErrors({ 200: Envelope(Workflow) }),
        detail: workflowOperations.updateWorkflowTransition,
      },
    )
    .delete(
      "/:id/transitions/:transitionId",
      async ({ project, params: { id, transitionId } }) => {
        await writer.write(workflows.removeTransition(project.seq, id, transitionId));
        return status(204, undefined);
      },
      {
        params: TransitionParams,
        response: withErrors({ 204: NoContent }),
        detail: workflowOperations.deleteWorkflowTransition,
      },
    );
}
