/**
 * GET    /workflows/{id}/executions
 * POST   /workflows/{id}/executions                          starts an execution for a contact
 * POST   /workflows/{id}/executions/cancel                   cancels all active executions
 * GET    /workflows/{id}/executions/{executionId}            includes the completed steps
 * POST   /workflows/{id}/executions/{executionId}/cancel
 */

import { Elysia } from "elysia";
import type { Admission } from "../../http/admission.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { Envelope, envelope, IdParams, ListEnvelope, withErrors } from "../../http/envelope.ts";
import {
  Cancelled,
  ExecutionDetails,
  ExecutionInput,
  ExecutionParams,
  ExecutionQuery,
  ListedExecution,
} from "./execution-model.ts";
import type { Executions } from "./executions.ts";
import { workflowOperations } from "./operations.ts";
import { readableDetails, readableExecution } from "./present.ts";

export function executionRoutes(deps: { admission: Admission; executions: Executions }) {
  const { admission, executions } = deps;
  return new Elysia({ name: "execution-routes", prefix: "/workflows/:id/executions" })
    .use(admission.secretKey)
    .get(
      "",
      async ({ project, role, params, query }) => {
        const { items, ...page } = await executions.list(project.seq, params.id, query);
        const shown = items.map((execution) => readableExecution(role, execution));
        return envelope({ ...page, items: shown });
      },
      {
        params: IdParams,
        query: ExecutionQuery,
        response: withErrors({ 200: ListEnvelope(ListedExecution) }),
        detail: workflowOperations.listExecutions,
      },
    )
    .post(
      "",
      ({ project, params, body, once }) =>
        once(() => {
          const start = executions.start(project.seq, params.id, body);
          return () => ({ status: 201, body: envelope(start()) });
        }),
      {
        params: IdParams,
        body: limited(ExecutionInput, BODY_LIMITS.data),
        response: withErrors({ 201: Envelope(ExecutionDetails) }),
        detail: workflowOperations.startExecution,
      },
    )
    .post(
      "/cancel",
      async ({ project, params, storeWithoutQuota }) =>
        envelope({
          cancelled: await executions.cancelAll(project.seq, params.id, storeWithoutQuota),
        }),
      {
        params: IdParams,
        response: withErrors({ 200: Envelope(Cancelled) }),
        detail: workflowOperations.cancelAllExecutions,
      },
    )
    .get(
      "/:executionId",
      ({ project, role, params }) => {
        const execution = executions.get(project.seq, params.id, params.executionId);
        return envelope(readableDetails(role, execution));
      },
      {
        params: ExecutionParams,
        response: withErrors({ 200: Envelope(ExecutionDetails) }),
        detail: workflowOperations.getExecution,
      },
    )
    .post(
      "/:executionId/cancel",
      async ({ project, params, storeWithoutQuota }) =>
        envelope(
          await storeWithoutQuota(executions.cancel(project.seq, params.id, params.executionId)),
        ),
      {
        params: ExecutionParams,
        response: withErrors({ 200: Envelope(ExecutionDetails) }),
        detail: workflowOperations.cancelExecution,
      },
    );
}
