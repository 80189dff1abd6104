/**
 * POST   /workflows/{id}/steps                           inserts a step after another one
 * PATCH  /workflows/{id}/steps/{stepId}
 * DELETE /workflows/{id}/steps/{stepId}                  connects the steps before and after it
 * POST   /workflows/{id}/transitions
 * PATCH  /workflows/{id}/transitions/{transitionId}
 * DELETE /workflows/{id}/transitions/{transitionId}
 */

import { Elysia, status } from "elysia";
import type { Admission } from "../../http/admission.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { Envelope, envelope, IdParams, NoContent, withErrors } from "../../http/envelope.ts";
import type { GraphChanges } from "./graph-changes.ts";
import {
  StepAddition,
  StepParams,
  StepPatch,
  TransitionParams,
  TransitionPatch,
  Workflow,
} from "./model.ts";
import { workflowOperations } from "./operations.ts";
import { TransitionInput } from "./step-model.ts";

export function graphRoutes(deps: { admission: Admission; graphChanges: GraphChanges }) {
  const { admission, graphChanges } = deps;
  return new Elysia({ name: "graph-routes", prefix: "/workflows/:id" })
    .use(admission.secretKey)
    .post(
      "/steps",
      ({ project, params, body, actor, once }) =>
        once(() => {
          const add = graphChanges.addStep(project.seq, params.id, body, actor());
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
      "/steps/:stepId",
      async ({ project, params: { id, stepId }, body, actor, store }) => {
        const patched = { stepId, patch: body };
        const change = graphChanges.patchStep(project.seq, id, patched, actor());
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
      "/steps/:stepId",
      async ({ project, params: { id, stepId }, actor, storeWithoutQuota }) => {
        await storeWithoutQuota(graphChanges.removeStep(project.seq, id, stepId, actor()));
        return status(204, undefined);
      },
      {
        params: StepParams,
        response: withErrors({ 204: NoContent }),
        detail: workflowOperations.deleteWorkflowStep,
      },
    )
    .post(
      "/transitions",
      ({ project, params, body, actor, once }) =>
        once(() => {
          const add = graphChanges.addTransition(project.seq, params.id, body, actor());
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
      "/transitions/:transitionId",
      async ({ project, params: { id, transitionId }, body, actor, store }) => {
        const patched = { transitionId, patch: body };
        const change = graphChanges.patchTransition(project.seq, id, patched, actor());
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
      "/transitions/:transitionId",
      async ({ project, params: { id, transitionId }, actor, storeWithoutQuota }) => {
        const remove = graphChanges.removeTransition(project.seq, id, transitionId, actor());
        await storeWithoutQuota(remove);
        return status(204, undefined);
      },
      {
        params: TransitionParams,
        response: withErrors({ 204: NoContent }),
        detail: workflowOperations.deleteWorkflowTransition,
      },
    );
}
