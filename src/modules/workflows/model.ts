/** Requests and responses of workflows. */

import { Kind, type Static, Type, TypeRegistry } from "@sinclair/typebox";
import { described, describedUse, named, shownAs } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input, OneOf, QueryBoolean, withChecks } from "../../http/validation.ts";
import { assemble } from "./graph/assemble.ts";
import { GraphId, STEP_TYPES } from "./graph/step-schemas.ts";
import { ShownExit, ShownTrigger, TriggerInput, ExitInput } from "./trigger-model.ts";
import {
  AnyConfig,
  AnyStep,
  AnyStepInput,
  Position,
  ShownTransition,
  TransitionInput,
} from "./step-model.ts";

const STEP = "WorkflowStep";
TypeRegistry.Set(STEP, () => true);

/** This schema accepts any value: validate.ts checks steps, and its errors name the step. */
const StepSchema = shownAs(
  Type.Unsafe<unknown>({
    [Kind]: STEP,
    type: "object",
    properties: {
      id: { type: "string" },
      type: { type: "string" },
      name: { type: "string" },
      position: { type: "object" },
      config: AnyConfig,
    },
  }),
  AnyStepInput,
);

const TRANSITION = "WorkflowTransition";
TypeRegistry.Set(TRANSITION, () => true);

const TransitionSchema = shownAs(
  Type.Unsafe<unknown>({
    [Kind]: TRANSITION,
    type: "object",
    properties: {
      id: { type: "string" },
      from: { type: "string" },
      to: { type: "string" },
      branch: { type: "string" },
    },
  }),
  TransitionInput,
);

/** Descriptions of the fields that callers set. */
const FIELD_TEXTS = {
  name: "Name of the workflow",
  description: "Note about the workflow",
  enabled: "Whether events start executions; default false",
  allowReentry:
    "false (the default): one execution per contact ever; true: one active execution at a time",
  trigger: "What starts executions",
  exits: "What ends an execution early, at most 10; running executions keep those they began with",
  steps: "The steps of the graph, at most 500",
  transitions: "The transitions between the steps",
} as const;

const GRAPH = {
  name: "Welcome",
  enabled: true,
  trigger: { type: "EVENT", eventName: "signed_up" },
  allowReentry: false,
};

/** A workflow with its graph (docs/interface.md#workflows). */
export const Workflow = named(
  "Workflow",
  described(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      description: Nullable(Type.String()),
      enabled: Type.Boolean(),
      trigger: ShownTrigger,
      nextEntryAt: Nullable(Type.String({ format: "date-time" })),
      allowReentry: Type.Boolean(),
      exits: Type.Array(ShownExit),
      steps: Type.Array(
        shownAs(
          Type.Object({
            id: Type.String(),
            type: OneOf(STEP_TYPES),
            name: Type.String(),
            position: Type.Object({ x: Type.Number(), y: Type.Number() }),
            config: Type.Record(Type.String(), Type.Unknown()),
          }),
          AnyStep,
        ),
      ),
      transitions: Type.Array(ShownTransition),
      revision: Type.Integer(),
      createdAt: Type.String({ format: "date-time" }),
      updatedAt: Type.String({ format: "date-time" }),
    }),
    {
      id: "Id of the workflow",
      ...FIELD_TEXTS,
      nextEntryAt: "The next time of the schedule; null without one, or while not enabled",
      revision: "Increases with each change; the ETag of the workflow",
      createdAt: "When the workflow was created",
      updatedAt: "When the workflow was changed last",
    },
  ),
  {
    description: "Steps that a contact goes through",
    example: {
      id: EXAMPLE.workflowId,
      description: null,
      ...GRAPH,
      nextEntryAt: null,
      exits: [{ on: "UNSUBSCRIBED" }],
      revision: 1,
      steps: [
        {
          id: "trigger",
          type: "TRIGGER",
          name: "Trigger",
          position: { x: 0, y: 0 },
          config: { eventName: "signed_up" },
        },
        {
          id: "welcome",
          type: "SEND_EMAIL",
          name: "Send the welcome mail",
          position: { x: 0, y: 120 },
          config: { templateId: EXAMPLE.templateId },
        },
      ],
      transitions: [{ id: "t1", from: "trigger", to: "welcome", branch: null }],
      createdAt: EXAMPLE.createdAt,
      updatedAt: EXAMPLE.updatedAt,
    },
  },
);
export type Workflow = Static<typeof Workflow>;

const Fields = described(
  Input({
    name: Type.String({ minLength: 1, maxLength: 255 }),
    description: Type.Optional(Nullable(Type.String({ maxLength: 1000 }))),
    enabled: Type.Optional(Type.Boolean()),
    allowReentry: Type.Optional(Type.Boolean()),
    trigger: Type.Optional(TriggerInput),
    exits: Type.Optional(Type.Array(ExitInput)),
    steps: Type.Optional(Type.Array(StepSchema)),
    transitions: Type.Optional(Type.Array(TransitionSchema)),
  }),
  FIELD_TEXTS,
);

/** Reports the violations of the graph together with those of the other fields. */
export const WorkflowInput = named(
  "WorkflowInput",
  withChecks(Fields, (value) => {
    const assembled = assemble(value, null);
    return assembled.ok ? [] : assembled.errors;
  }),
  {
    description: "A workflow to create",
    example: {
      ...GRAPH,
      steps: [
        { id: "welcome", type: "SEND_EMAIL", config: { templateId: EXAMPLE.templateId } },
        { id: "end", type: "EXIT", config: {} },
      ],
      transitions: [{ from: "welcome", to: "end" }],
    },
  },
);
export type WorkflowInput = Static<typeof WorkflowInput>;

export const WorkflowPatch = named("WorkflowPatch", Type.Partial(Fields), {
  description: "Changes of a workflow; omitted fields stay as they are",
  example: { enabled: false },
});
export type WorkflowPatch = Static<typeof WorkflowPatch>;

export const WorkflowQuery = Input({
  ...PageQuery.properties,
  enabled: Type.Optional(
    describedUse(QueryBoolean(), "Only workflows that are enabled, or only those that are not"),
  ),
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: "Only workflows whose name contains this text; case matters beyond ASCII",
    }),
  ),
});
export type WorkflowQuery = Static<typeof WorkflowQuery>;

const StepType = named("StepType", OneOf(STEP_TYPES), { description: "The action of a step" });
const AnyValue = Type.Unknown();
const stepFields = {
  name: Type.Optional(Nullable(Type.String())),
  position: Type.Optional(shownAs(AnyValue, Nullable(Position))),
};
const STEP_TEXTS = {
  type: "Type of the step",
  name: "Name of the step",
  position: "Its position in an editor",
};

export const StepAddition = named(
  "StepAddition",
  described(
    Input({
      id: Type.Optional(Nullable(GraphId)),
      type: StepType,
      ...stepFields,
      config: Type.Optional(shownAs(AnyValue, AnyConfig)),
      after: Type.String(),
      branch: Type.Optional(Nullable(Type.String())),
    }),
    {
      id: "Id of the step, generated if omitted",
      ...STEP_TEXTS,
      config: "Its settings; may be omitted for an EXIT",
      after: "Id of the step after which the new step is inserted",
      branch: "Branch of that step; omitted for its unconditional transition",
    },
  ),
  {
    description: "A step to insert after another one",
    example: { type: "DELAY", config: { amount: 2, unit: "days" }, after: "trigger" },
  },
);
export type StepAddition = Static<typeof StepAddition>;

export const StepPatch = named(
  "StepPatch",
  described(
    Input({
      type: Type.Optional(StepType),
      ...stepFields,
      config: Type.Optional(shownAs(AnyValue, AnyConfig)),
    }),
    { ...STEP_TEXTS, config: "Replaces the settings" },
  ),
  {
    description: "Changes of a step; omitted fields stay as they are",
    example: { name: "Send the welcome mail" },
  },
);
export type StepPatch = Static<typeof StepPatch>;

export const TransitionPatch = named(
  "TransitionPatch",
  described(
    Input({
      from: Type.Optional(GraphId),
      to: Type.Optional(GraphId),
      branch: Type.Optional(Nullable(GraphId)),
    }),
    {
      from: "Id of the step that it leaves",
      to: "Id of the step that it leads to",
      branch: "The branch of the step that it leaves; null if it is unconditional",
    },
  ),
  {
    description: "Changes of a transition; omitted fields stay as they are",
    example: { to: "end" },
  },
);
export type TransitionPatch = Static<typeof TransitionPatch>;

export const StepParams = Type.Object({ id: Type.String(), stepId: Type.String() });
export const TransitionParams = Type.Object({ id: Type.String(), transitionId: Type.String() });
