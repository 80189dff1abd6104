/**
 * GET    /plunk/workflows                                  a numbered page, searched and sorted
 * POST   /plunk/workflows                                  with its trigger, and without other steps
 * GET    /plunk/workflows/{id}                             with its steps and transitions
 * PATCH  /plunk/workflows/{id}
 * DELETE /plunk/workflows/{id}
 * POST   /plunk/workflows/{id}/duplicate                   a disabled copy
 * GET    /plunk/workflows/{id}/executions                  a numbered page
 * POST   /plunk/workflows/{id}/executions                  starts one for a contact
 * POST   /plunk/workflows/{id}/executions/cancel-all
 * GET    /plunk/workflows/{id}/executions/{executionId}
 * DELETE /plunk/workflows/{id}/executions/{executionId}    cancels it
 *
 * Steps and transitions are edited by our own routes: a graph is checked as a whole there.
 */

import { type Static, Type } from "@sinclair/typebox";
import { and, eq, isNull } from "drizzle-orm";
import { Elysia, status } from "elysia";
import type { App } from "../../core/app.ts";
import {
  EXECUTION_STATUSES,
  workflowExecutions,
  workflows as workflowTable,
} from "../../db/schema/workflows.ts";
import type { Admission } from "../../http/admission.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { imitated } from "../../http/documented.ts";
import { IdParams, NoContent, Nullable, withErrors } from "../../http/envelope.ts";
import { TRIGGER_TYPES, type TriggerType } from "../../db/schema/workflows.ts";
import type { Role } from "../../http/roles.ts";
import { PLUNK } from "../../http/route-path.ts";
import { Input, OneOf } from "../../http/validation.ts";
import { isoTime } from "../../lib/clock.ts";
import { Data } from "../contacts/model.ts";
import { EventName } from "../events/model.ts";
import { ExecutionParams, type ListedExecution } from "../workflows/execution-model.ts";
import { presentRow } from "../workflows/execution-queries.ts";
import type { Workflow, WorkflowPatch } from "../workflows/model.ts";
import { readableBy, readableExecution } from "../workflows/present.ts";
import { workflowService } from "../workflows/service.ts";
import { workflowRunner } from "../workflows/workflows.ts";
import { asPlunk } from "./errors.ts";
import {
  ListParameters,
  NumberedPage,
  numberedPage,
  NumberedQuery,
  PAGE_NUMBERS,
} from "./pages.ts";
import { requireFields } from "./shapes.ts";

const Trigger = Type.Object({ eventName: Type.Optional(Type.String()) });

const PlunkWorkflow = Type.Object({
  id: Type.String(),
  name: Type.String(),
  description: Nullable(Type.String()),
  triggerType: OneOf(TRIGGER_TYPES),
  triggerConfig: Trigger,
  enabled: Type.Boolean(),
  allowReentry: Type.Boolean(),
  projectId: Type.String(),
  createdAt: Type.String(),
  updatedAt: Type.String(),
});

const Transition = Type.Object({
  id: Type.String(),
  fromStepId: Type.String(),
  toStepId: Type.String(),
  condition: Nullable(Type.Object({ branch: Type.String() })),
  priority: Type.Integer(),
});

const WithSteps = Type.Object({
  ...PlunkWorkflow.properties,
  steps: Type.Array(
    Type.Object({
      id: Type.String(),
      workflowId: Type.String(),
      type: Type.String(),
      name: Type.String(),
      position: Type.Unknown(),
      config: Type.Unknown(),
      templateId: Nullable(Type.String()),
      outgoingTransitions: Type.Array(Transition),
      incomingTransitions: Type.Array(Transition),
    }),
  ),
});

const Execution = Type.Object({
  id: Type.String(),
  workflowId: Type.String(),
  contactId: Nullable(Type.String()),
  status: Type.String(),
  currentStepId: Nullable(Type.String()),
  exitReason: Nullable(Type.String()),
  context: Type.Unknown(),
  startedAt: Type.String(),
  completedAt: Nullable(Type.String()),
});

const ListedExecutionSchema = Type.Object({
  ...Execution.properties,
  contact: Nullable(Type.Object({ id: Type.String(), email: Type.String() })),
  currentStep: Nullable(
    Type.Object({ id: Type.String(), name: Nullable(Type.String()), type: Type.String() }),
  ),
});

const ExecutionPage = Type.Object({
  executions: Type.Array(ListedExecutionSchema),
  ...PAGE_NUMBERS,
});

const ListQuery = Input({
  ...ListParameters,
  status: Type.Optional(OneOf(["active", "disabled"])),
});
const ExecutionQuery = Input({
  ...NumberedQuery.properties,
  status: Type.Optional(OneOf(EXECUTION_STATUSES)),
});

const NewWorkflow = Input({
  name: Type.Optional(Type.String({ maxLength: 255 })),
  description: Type.Optional(Nullable(Type.String({ maxLength: 1000 }))),
  eventName: Type.Optional(EventName),
  enabled: Type.Optional(Type.Boolean()),
  allowReentry: Type.Optional(Type.Boolean()),
});

const Patch = Input({
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
  description: Type.Optional(Nullable(Type.String({ maxLength: 1000 }))),
  triggerType: Type.Optional(Type.Literal("EVENT")),
  triggerConfig: Type.Optional(Input({ eventName: EventName })),
  enabled: Type.Optional(Type.Boolean()),
  allowReentry: Type.Optional(Type.Boolean()),
});

const Start = Input({
  contactId: Type.Optional(Type.String()),
  context: Type.Optional(Nullable(Data)),
});

const DIFFERENCES = { names: { trigger: "triggerConfig" } } as const;

export function plunkWorkflowRoutes(app: App, admission: Admission) {
  const workflows = workflowService(app);
  const { executions } = workflowRunner(app);
  return new Elysia({ name: "plunk-workflow-routes", prefix: `${PLUNK}/workflows` })
    .use(admission.secretKey)
    .get(
      "",
      ({ project, query }) =>
        numberedPage(app, project, {
          query,
          table: workflowTable,
          filter: and(
            eq(workflowTable.projectSeq, project.seq),
            isNull(workflowTable.deletedAt),
            query.status === undefined
              ? undefined
              : eq(workflowTable.isEnabled, query.status === "active"),
          ),
          searched: [workflowTable.name, workflowTable.description],
          present: ({ triggerType, triggerEvent, isEnabled, createdAt, updatedAt, ...row }) =>
            present(project.id, {
              ...row,
              enabled: isEnabled,
              trigger: { type: triggerType, eventName: triggerEvent },
              createdAt: isoTime(createdAt),
              updatedAt: isoTime(updatedAt),
            }),
        }),
      {
        query: ListQuery,
        response: withErrors({ 200: NumberedPage(PlunkWorkflow) }),
        detail: imitated("listWorkflows", "VIEWER"),
      },
    )
    .post(
      "",
      ({ project, body, actor, once }) => {
        requireFields(body, ["name", "eventName"]);
        return once(() => {
          const { name = "", eventName = "", ...rest } = body;
          const trigger = { type: "EVENT" as const, eventName };
          const create = workflows.create(project.seq, { ...rest, name, trigger }, actor());
          return () => ({ status: 201, body: present(project.id, create()) });
        });
      },
      {
        body: limited(NewWorkflow, BODY_LIMITS.settings),
        response: withErrors({ 201: PlunkWorkflow }),
        detail: imitated("createWorkflow", "EDITOR"),
      },
    )
    .get(
      "/:id",
      ({ project, role, params }) =>
        withSteps(project.id, readableBy(role, workflows.read(project.seq, params.id))),
      {
        params: IdParams,
        response: withErrors({ 200: WithSteps }),
        detail: imitated("getWorkflow", "VIEWER"),
      },
    )
    .patch(
      "/:id",
      ({ project, params, body, actor, store }) =>
        asPlunk(DIFFERENCES, async () => {
          const { triggerType: _, triggerConfig, ...rest } = body;
          const patch: WorkflowPatch = {
            ...rest,
            ...(triggerConfig === undefined
              ? {}
              : { trigger: { type: "EVENT", eventName: triggerConfig.eventName } }),
          };
          const change = workflows.patch(project.seq, params.id, patch, { author: actor() });
          return present(project.id, await store(change));
        }),
      {
        params: IdParams,
        body: limited(Patch, BODY_LIMITS.settings),
        response: withErrors({ 200: PlunkWorkflow }),
        detail: imitated("updateWorkflow", "EDITOR"),
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
        detail: imitated("deleteWorkflow", "EDITOR"),
      },
    )
    .post(
      "/:id/duplicate",
      ({ project, params, actor, once }) =>
        once(() => () => {
          const copy = workflows.duplicate(project.seq, params.id, actor());
          return { status: 201, body: present(project.id, copy) };
        }),
      {
        params: IdParams,
        response: withErrors({ 201: PlunkWorkflow }),
        detail: imitated("createWorkflow", "EDITOR"),
      },
    )
    .get(
      "/:id/executions",
      async ({ project, role, params, query }) => {
        const workflow = workflows.get(project.seq, params.id);
        const { data, ...page } = await numberedPage(app, project, {
          query,
          table: workflowExecutions,
          filter: and(
            eq(workflowExecutions.workflowSeq, workflow.seq),
            query.status === undefined ? undefined : eq(workflowExecutions.status, query.status),
          ),
          present: (row) => {
            const { steps } = workflows.graphOf(row.versionSeq) ?? { steps: [] };
            return listedExecution(role, presentRow(app, workflow, row), steps);
          },
        });
        return { executions: data, ...page };
      },
      {
        params: IdParams,
        query: ExecutionQuery,
        response: withErrors({ 200: ExecutionPage }),
        detail: imitated("listExecutions", "VIEWER"),
      },
    )
    .post(
      "/:id/executions",
      ({ project, role, params, body, once }) =>
        asPlunk(DIFFERENCES, () => {
          const { contactId = "", context } = body;
          requireFields(body, ["contactId"]);
          return once(() => {
            const input = { contactId, context: context ?? {} };
            const start = executions.start(project.seq, params.id, input);
            return () => ({ status: 201, body: shownExecution(role, start()) });
          });
        }),
      {
        params: IdParams,
        body: limited(Start, BODY_LIMITS.data),
        response: withErrors({ 201: Execution }),
        detail: imitated("startExecution", "EDITOR"),
      },
    )
    .post(
      "/:id/executions/cancel-all",
      async ({ project, params, storeWithoutQuota }) => ({
        cancelled: await executions.cancelAll(project.seq, params.id, storeWithoutQuota),
      }),
      {
        params: IdParams,
        response: withErrors({ 200: Type.Object({ cancelled: Type.Integer() }) }),
        detail: imitated("cancelAllExecutions", "EDITOR"),
      },
    )
    .get(
      "/:id/executions/:executionId",
      ({ project, role, params }) =>
        shownExecution(role, executions.get(project.seq, params.id, params.executionId)),
      {
        params: ExecutionParams,
        response: withErrors({ 200: Execution }),
        detail: imitated("getExecution", "VIEWER"),
      },
    )
    .delete(
      "/:id/executions/:executionId",
      ({ project, role, params, storeWithoutQuota }) =>
        asPlunk(DIFFERENCES, async () => {
          const cancel = executions.cancel(project.seq, params.id, params.executionId);
          return shownExecution(role, await storeWithoutQuota(cancel));
        }),
      {
        params: ExecutionParams,
        response: withErrors({ 200: Execution }),
        detail: imitated("cancelExecution", "EDITOR"),
      },
    );
}

type Shown = Pick<
  Workflow,
  "id" | "name" | "description" | "enabled" | "allowReentry" | "createdAt" | "updatedAt"
> & { trigger: { type: TriggerType; eventName?: string } };

function present(projectId: string, workflow: Shown): Static<typeof PlunkWorkflow> {
  const { id, name, description, enabled, allowReentry, createdAt, updatedAt } = workflow;
  return {
    id,
    name,
    description,
    triggerType: workflow.trigger.type,
    triggerConfig:
      workflow.trigger.type === "EVENT" ? { eventName: workflow.trigger.eventName ?? "" } : {},
    enabled,
    allowReentry,
    projectId,
    createdAt,
    updatedAt,
  };
}

function withSteps(projectId: string, workflow: Workflow): Static<typeof WithSteps> {
  const transitions = workflow.transitions.map(({ id, from, to, branch }) => ({
    id,
    fromStepId: from,
    toStepId: to,
    condition: branch === null ? null : { branch },
    priority: 0,
  }));
  return {
    ...present(projectId, workflow),
    steps: workflow.steps.map(({ id, type, name, position, config }) => ({
      id,
      workflowId: workflow.id,
      type,
      name,
      position,
      config,
      templateId: typeof config["templateId"] === "string" ? config["templateId"] : null,
      outgoingTransitions: transitions.filter(({ fromStepId }) => fromStepId === id),
      incomingTransitions: transitions.filter(({ toStepId }) => toStepId === id),
    })),
  };
}

function shownExecution(role: Role | null, execution: ListedExecution): Static<typeof Execution> {
  const shown = readableExecution(role, execution);
  const { id, workflowId, contactId, currentStepId, exitReason } = shown;
  return {
    id,
    workflowId,
    contactId,
    status: shown.status,
    currentStepId,
    exitReason,
    context: shown.context,
    startedAt: shown.startedAt,
    completedAt: shown.completedAt,
  };
}

/** An execution in a list, with its contact and the step that it is at. */
function listedExecution(
  role: Role | null,
  execution: ListedExecution,
  steps: readonly { id: string; name: string | null; type: string }[],
): Static<typeof ListedExecutionSchema> {
  const { contactId, contactEmail, currentStepId } = execution;
  const { id, name, type } = steps.find((step) => step.id === currentStepId) ?? {};
  return {
    ...shownExecution(role, execution),
    contact:
      contactId === null || contactEmail === null ? null : { id: contactId, email: contactEmail },
    currentStep: id === undefined || type === undefined ? null : { id, name: name ?? null, type },
  };
}
