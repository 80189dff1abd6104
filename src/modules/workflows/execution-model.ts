import { type Static, Type } from "@sinclair/typebox";
import { EXECUTION_STATUSES } from "../../db/schema/workflows.ts";
import { Nullable } from "../../http/envelope.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input, OneOf } from "../../http/validation.ts";
import { Data } from "../contacts/model.ts";

const DateTime = Type.String({ format: "date-time" });

const fields = {
  id: Type.String(),
  workflowId: Type.String(),
  contactId: Nullable(Type.String()),
  status: OneOf(EXECUTION_STATUSES),
  currentStepId: Nullable(Type.String()),
  context: Data,
  startedAt: DateTime,
  completedAt: Nullable(DateTime),
  exitReason: Nullable(Type.String()),
  error: Nullable(
    Type.String({ description: "Why the execution failed, or why its last webhook call failed" }),
  ),
};

/** An execution in a list: without its steps (docs/interface.md#workflows). */
export const ListedExecution = Type.Object(fields);
export type ListedExecution = Static<typeof ListedExecution>;

export const ExecutionStep = Type.Object({
  id: Type.String(),
  stepId: Type.String(),
  type: Type.String(),
  name: Nullable(Type.String({ description: "null if the version of the graph was deleted" })),
  outcome: OneOf(["COMPLETED", "SKIPPED", "FAILED"]),
  branch: Nullable(Type.String()),
  detail: Nullable(Data),
  startedAt: DateTime,
  completedAt: DateTime,
});
export type ExecutionStep = Static<typeof ExecutionStep>;

/** An execution with its completed steps in their order. */
export const ExecutionDetails = Type.Object({ ...fields, steps: Type.Array(ExecutionStep) });
export type ExecutionDetails = Static<typeof ExecutionDetails>;

export const ExecutionQuery = Input({
  ...PageQuery.properties,
  status: Type.Optional(OneOf(EXECUTION_STATUSES)),
});
export type ExecutionQuery = Static<typeof ExecutionQuery>;

export const ExecutionInput = Input({
  contactId: Type.String({ minLength: 1 }),
  context: Type.Optional(Data),
});
export type ExecutionInput = Static<typeof ExecutionInput>;

export const ExecutionParams = Type.Object({ id: Type.String(), executionId: Type.String() });

export const Cancelled = Type.Object({ cancelled: Type.Integer() });
