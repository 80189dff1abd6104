/** Requests and responses of executions. */

import { type Static, Type } from "@sinclair/typebox";
import { EXECUTION_STATUSES } from "../../db/schema/workflows.ts";
import { described, describedUse, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input, OneOf } from "../../http/validation.ts";
import { Data } from "../contacts/model.ts";

const DateTime = Type.String({ format: "date-time" });

const ExecutionStatus = named("ExecutionStatus", OneOf(EXECUTION_STATUSES), {
  description:
    "RUNNING and WAITING: active; COMPLETED: reached its end; EXITED: ended early, see exitReason; " +
    "FAILED: a step failed; CANCELLED: a caller ended it",
});

const fields = described(
  Type.Object({
    id: Type.String(),
    workflowId: Type.String(),
    contactId: Nullable(Type.String()),
    contactEmail: Nullable(Type.String()),
    status: ExecutionStatus,
    currentStepId: Nullable(Type.String()),
    context: Data,
    startedAt: DateTime,
    completedAt: Nullable(DateTime),
    exitReason: Nullable(Type.String()),
    error: Nullable(Type.String()),
  }),
  {
    id: "Id of the execution",
    workflowId: "Id of the workflow",
    contactId: "Id of the contact; null once the contact was deleted",
    contactEmail: "Address of the contact; null once the contact was deleted",
    status: "Whether the execution runs, waits or has ended, and how",
    currentStepId: "Id of the step at which it runs or waits; null once it has ended",
    context: "Data of the events that started or continued it",
    startedAt: "When the execution started",
    completedAt: "When the execution ended; null before",
    exitReason: "Why the execution ended early; null if it did not",
    error:
      "Why the execution failed; or, while its current step is tried again, why the last try failed",
  },
);

const EXECUTION = {
  id: EXAMPLE.executionId,
  workflowId: EXAMPLE.workflowId,
  contactId: EXAMPLE.contactId,
  contactEmail: "ada@example.com",
  status: "WAITING",
  currentStepId: "wait",
  context: { plan: "pro" },
  startedAt: EXAMPLE.createdAt,
  completedAt: null,
  exitReason: null,
  error: null,
};

/** An execution in a list: without its steps (docs/interface.md#workflows). */
export const ListedExecution = named("WorkflowExecution", fields, {
  description: "One run of a workflow for one contact",
  example: EXECUTION,
});
export type ListedExecution = Static<typeof ListedExecution>;

/** An execution in the list of a contact, which has the executions of all workflows. */
export const ContactExecution = named(
  "ContactExecution",
  Type.Object({
    ...fields.properties,
    workflowName: Type.String({ description: "Name of the workflow" }),
  }),
  {
    description: "One run of a workflow for a contact",
    example: { ...EXECUTION, workflowName: "Welcome" },
  },
);
export type ContactExecution = Static<typeof ContactExecution>;

const ExecutionStep = named(
  "ExecutionStep",
  described(
    Type.Object({
      id: Type.String(),
      stepId: Type.String(),
      type: Type.String(),
      name: Nullable(Type.String()),
      outcome: OneOf(["COMPLETED", "SKIPPED", "FAILED"]),
      branch: Nullable(Type.String()),
      detail: Nullable(Data),
      startedAt: DateTime,
      completedAt: DateTime,
    }),
    {
      id: "Id of this entry",
      stepId: "Id of the step in the graph",
      type: "Type of the step",
      name: "Name of the step; null if the version of the graph was deleted",
      outcome: "The end of the step",
      branch: "The branch that was taken; null if it was unconditional",
      detail: "Data about the outcome, such as the id of the mail",
      startedAt: "When the step started",
      completedAt: "When the step ended",
    },
  ),
  { description: "A completed step of an execution" },
);
export type ExecutionStep = Static<typeof ExecutionStep>;

/** An execution with its completed steps in their order. */
export const ExecutionDetails = named(
  "WorkflowExecutionDetails",
  Type.Object({
    ...fields.properties,
    steps: Type.Array(ExecutionStep, { description: "The completed steps in their order" }),
  }),
  {
    description: "An execution with its completed steps",
    example: {
      ...EXECUTION,
      steps: [
        {
          id: EXAMPLE.eventId,
          stepId: "trigger",
          type: "TRIGGER",
          name: "Trigger",
          outcome: "COMPLETED",
          branch: null,
          detail: null,
          startedAt: EXAMPLE.createdAt,
          completedAt: EXAMPLE.createdAt,
        },
      ],
    },
  },
);
export type ExecutionDetails = Static<typeof ExecutionDetails>;

export const ExecutionQuery = Input({
  ...PageQuery.properties,
  status: Type.Optional(describedUse(ExecutionStatus, "Only executions of this status")),
  step: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description:
        "Id of a step: only executions that are at this step, or failed or were cancelled at it; " +
        "needs status",
    }),
  ),
});
export type ExecutionQuery = Static<typeof ExecutionQuery>;

export const ExecutionInput = named(
  "ExecutionInput",
  described(Input({ contactId: Type.String({ minLength: 1 }), context: Type.Optional(Data) }), {
    contactId: "Id of the contact",
    context: "Data for the steps, as if an event had brought it",
  }),
  {
    description: "An execution to start",
    example: { contactId: EXAMPLE.contactId, context: { plan: "pro" } },
  },
);
export type ExecutionInput = Static<typeof ExecutionInput>;

export const ExecutionParams = Type.Object({ id: Type.String(), executionId: Type.String() });

export const Cancelled = named(
  "CancelledExecutions",
  described(Type.Object({ cancelled: Type.Integer() }), {
    cancelled: "Number of executions that were cancelled",
  }),
  { description: "The result of cancelling all executions", example: { cancelled: 3 } },
);
