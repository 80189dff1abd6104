/** Responses with numbers of executions. */

import { type Static, Type } from "@sinclair/typebox";
import { described, named } from "../../http/documented.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { PATTERN_TEXT } from "../../http/field-messages.ts";
import { Input } from "../../http/validation.ts";

const EXAMPLE_COUNTS = {
  RUNNING: 2,
  WAITING: 40,
  COMPLETED: 1_200,
  EXITED: 310,
  FAILED: 4,
  CANCELLED: 0,
};

const ExecutionCounts = named(
  "ExecutionCounts",
  described(
    Type.Object({
      RUNNING: Type.Integer(),
      WAITING: Type.Integer(),
      COMPLETED: Type.Integer(),
      EXITED: Type.Integer(),
      FAILED: Type.Integer(),
      CANCELLED: Type.Integer(),
    }),
    {
      RUNNING: "Executions that can take a step",
      WAITING: "Executions that wait for a time, an event or a webhook call",
      COMPLETED: "Executions that reached their end",
      EXITED: "Executions that ended early",
      FAILED: "Executions of which a step failed",
      CANCELLED: "Executions that a caller ended",
    },
  ),
  { description: "Exact numbers of executions by their status", example: EXAMPLE_COUNTS },
);
export type ExecutionCounts = Static<typeof ExecutionCounts>;

const StepCounts = named(
  "WorkflowStepCounts",
  described(
    Type.Object({
      stepId: Type.String(),
      active: Type.Integer(),
      completed: Type.Integer(),
      skipped: Type.Integer(),
      failed: Type.Integer(),
    }),
    {
      stepId: "Id of the step",
      active: "Executions that are at the step now",
      completed: "How often the step was completed, by executions that were removed, too",
      skipped: "How often the step was skipped, likewise",
      failed: "How often the step failed, likewise",
    },
  ),
  { description: "What executions did at a step" },
);

/** The counts of the steps of a workflow. */
export const WorkflowCounts = named(
  "WorkflowCounts",
  described(
    Type.Object({
      executions: ExecutionCounts,
      steps: Type.Array(StepCounts),
    }),
    {
      executions: "All executions by their status",
      steps: "The steps at which an execution is or was",
    },
  ),
  {
    description: "Numbers of the executions of a workflow, and of its steps",
    example: {
      executions: EXAMPLE_COUNTS,
      steps: [{ stepId: "welcome", active: 0, completed: 1_500, skipped: 30, failed: 1 }],
    },
  },
);
export type WorkflowCounts = Static<typeof WorkflowCounts>;

const ListedCounts = named(
  "ListedWorkflowCounts",
  described(Type.Object({ workflowId: Type.String(), executions: ExecutionCounts }), {
    workflowId: "Id of the workflow",
    executions: "Its executions by their status",
  }),
  {
    description: "Numbers of the executions of a workflow",
    example: { workflowId: EXAMPLE.workflowId, executions: EXAMPLE_COUNTS },
  },
);
export type ListedCounts = Static<typeof ListedCounts>;

export const ListedCountsList = Type.Object({
  items: Type.Array(ListedCounts, { description: "One entry for each workflow that was found" }),
});

/** Ids of one request. */
const MAX_IDS = 100;

export const CountsQuery = Input({
  ids: Type.Optional(
    Type.String({
      pattern: `^[^,]{1,64}(,[^,]{1,64}){0,${MAX_IDS - 1}}$`,
      [PATTERN_TEXT]: `must be at most ${MAX_IDS} ids, separated by commas`,
      maxLength: 6_600,
      description: `Ids of at most ${MAX_IDS} workflows, separated by commas; others are left out`,
    }),
  ),
});
