import { Kind, type Static, Type, TypeRegistry } from "@sinclair/typebox";
import { Nullable } from "../../http/envelope.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input, OneOf, QueryBoolean, withChecks } from "../../http/validation.ts";
import { assemble } from "./graph/assemble.ts";
import { GraphId, STEP_TYPES, TransitionShape } from "./graph/step-schemas.ts";
import { EventName } from "../events/model.ts";

const STEP = "WorkflowStep";
TypeRegistry.Set(STEP, () => true);

const CONFIGS = [
  "TRIGGER {eventName}",
  "SEND_EMAIL {templateId, recipient?: {type: CONTACT|CUSTOM, email?}}",
  "DELAY {amount, unit: minutes|hours|days}, at most 365 days",
  "WAIT_FOR_EVENT {eventName, timeout?}, in seconds",
  "CONDITION {condition} in the shape of segments, or {field, operator, value?, unit?}, or " +
    '{mode: "multi", field, branches: [{id, operator, value?, unit?}]}; the fields are those of ' +
    "segments and context.<path>",
  "WEBHOOK {url, method, headers?, body?}, which may hold Liquid; in url every output is " +
    "percent-encoded as one component, unless it ends in | raw (then it may hold several " +
    "components or begin the URL)",
  "UPDATE_CONTACT {updates?, subscriptionAction?: subscribe|unsubscribe}",
  "EXIT {reason?}",
];

const Position = Type.Object({ x: Type.Number(), y: Type.Number() });

/** This schema is only documentation: validate.ts checks steps, and its errors name the step. */
const StepSchema = Type.Unsafe<unknown>({
  [Kind]: STEP,
  type: "object",
  required: ["id", "type", "config"],
  properties: {
    id: { type: "string", minLength: 1, maxLength: 100 },
    type: { type: "string", enum: STEP_TYPES },
    name: { type: "string", maxLength: 255, description: "Defaults to the type" },
    position: { type: "object", description: "The position in an editor: {x, y}" },
    config: { type: "object", description: CONFIGS.join("; ") },
  },
});

const TRANSITION = "WorkflowTransition";
TypeRegistry.Set(TRANSITION, () => true);

const TransitionSchema = Type.Unsafe<unknown>({
  [Kind]: TRANSITION,
  type: "object",
  required: ["from", "to"],
  properties: {
    id: { type: "string", minLength: 1, maxLength: 100, description: "Generated if absent" },
    from: { type: "string" },
    to: { type: "string" },
    branch: {
      type: "string",
      description:
        "yes, no, timeout, default or the id of a branch; absent in an unconditional transition",
    },
  },
});

/** A workflow with its graph (docs/interface.md#workflows). */
export const Workflow = Type.Object({
  id: Type.String(),
  name: Type.String(),
  description: Nullable(Type.String()),
  enabled: Type.Boolean(),
  trigger: Type.Object({ type: Type.Literal("EVENT"), eventName: Type.String() }),
  allowReentry: Type.Boolean(),
  steps: Type.Array(
    Type.Object({
      id: Type.String(),
      type: OneOf(STEP_TYPES),
      name: Type.String(),
      position: Position,
      config: Type.Record(Type.String(), Type.Unknown()),
    }),
  ),
  transitions: Type.Array(
    Type.Object({
      id: Type.String(),
      from: Type.String(),
      to: Type.String(),
      branch: Nullable(Type.String()),
    }),
  ),
  createdAt: Type.String({ format: "date-time" }),
  updatedAt: Type.String({ format: "date-time" }),
});
export type Workflow = Static<typeof Workflow>;

const name = Type.String({ minLength: 1, maxLength: 255 });
const fields = {
  description: Type.Optional(Nullable(Type.String({ maxLength: 1000 }))),
  enabled: Type.Optional(Type.Boolean({ description: "Default false" })),
  allowReentry: Type.Optional(
    Type.Boolean({
      description:
        "false (the default): one execution per contact ever; true: one active execution at a time",
    }),
  ),
  trigger: Type.Optional(Input({ type: OneOf(["EVENT"]), eventName: EventName })),
  steps: Type.Optional(
    Type.Array(StepSchema, { description: "The whole graph, at most 500 steps" }),
  ),
  transitions: Type.Optional(Type.Array(TransitionSchema)),
};

/** Reports the violations of the graph together with those of the other fields. */
export const WorkflowInput = withChecks(Input({ name, ...fields }), (value) => {
  const assembled = assemble(value, null);
  return assembled.ok ? [] : assembled.errors;
});
export type WorkflowInput = Static<typeof WorkflowInput>;

export const WorkflowPatch = Input({ name: Type.Optional(name), ...fields });
export type WorkflowPatch = Static<typeof WorkflowPatch>;

export const WorkflowQuery = Input({
  ...PageQuery.properties,
  enabled: Type.Optional(QueryBoolean()),
});
export type WorkflowQuery = Static<typeof WorkflowQuery>;

const stepFields = {
  name: Type.Optional(Nullable(Type.String())),
  position: Type.Optional(Type.Unknown({ description: "The position in an editor: {x, y}" })),
};

export const StepAddition = Input({
  id: Type.Optional(Nullable(GraphId)),
  type: OneOf(STEP_TYPES),
  ...stepFields,
  config: Type.Optional(Type.Unknown({ description: CONFIGS.join("; ") })),
  after: Type.String({ description: "Id of the step after which the new step is inserted" }),
  branch: Type.Optional(
    Nullable(
      Type.String({
        description: "Branch of that step; absent for its unconditional transition",
      }),
    ),
  ),
});
export type StepAddition = Static<typeof StepAddition>;

export const StepPatch = Input({
  type: Type.Optional(OneOf(STEP_TYPES)),
  ...stepFields,
  config: Type.Optional(Type.Unknown({ description: "Replaces the config" })),
});
export type StepPatch = Static<typeof StepPatch>;

export const TransitionInput = TransitionShape;
export type TransitionInput = Static<typeof TransitionInput>;

export const TransitionPatch = Input({
  from: Type.Optional(GraphId),
  to: Type.Optional(GraphId),
  branch: Type.Optional(Nullable(GraphId)),
});
export type TransitionPatch = Static<typeof TransitionPatch>;

export const StepParams = Type.Object({ id: Type.String(), stepId: Type.String() });
export const TransitionParams = Type.Object({ id: Type.String(), transitionId: Type.String() });
