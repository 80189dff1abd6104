/**
 * The steps and transitions of workflows as the OpenAPI document shows them. validate.ts checks
 * them, because its errors name the step.
 */

import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { described, named, reference } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { CONDITION_EXAMPLE, TEST_PROPERTIES } from "../segments/condition-model.ts";
import type { StepType } from "./graph/graph.ts";
import { AnyTriggerConfig } from "./trigger-model.ts";
import {
  DelayConfig,
  ExitConfig,
  GraphId,
  SendEmailConfig,
  SplitConfig,
  TimeWindowConfig,
  TransitionShape,
  UpdateContactConfig,
  WaitForEventConfig,
  WebhookConfig,
} from "./graph/step-schemas.ts";

const FIELD = "A field of segments, or context.<path> for the data of the events of the execution";

const TriggerSettings = AnyTriggerConfig;

const TimeWindowSettings = named(
  "TimeWindowConfig",
  described(TimeWindowConfig, {
    days: "Days on which the window opens",
    from: "When it opens, such as 09:00",
    to: "When it closes, up to 24:00; on the next day if it is earlier than from",
    timeZone: "A zone such as Europe/Berlin; CONTACT for the zone in the data of each contact",
    fallbackTimeZone: "With CONTACT: the zone of contacts without one; UTC if omitted",
  }),
  {
    description: "When the execution may go on; outside of it, it waits",
    example: {
      days: ["MON", "TUE", "WED", "THU", "FRI"],
      from: "09:00",
      to: "17:00",
      timeZone: "CONTACT",
      fallbackTimeZone: "Europe/Berlin",
    },
  },
);

const SplitSettings = named(
  "SplitConfig",
  described(SplitConfig, { branches: "The branches; a contact always takes the same one" }),
  {
    description: "The branches of a random split, by their weights",
    example: {
      branches: [
        { id: "a", weight: 50 },
        { id: "b", weight: 50 },
      ],
    },
  },
);

const SendEmailSettings = named(
  "SendEmailConfig",
  described(SendEmailConfig, {
    templateId: "Id of the template",
    recipient: "The contact of the execution (default), or another address",
  }),
  {
    description: "The mail to send",
    example: { templateId: EXAMPLE.templateId, recipient: { type: "CONTACT" } },
  },
);

const DelaySettings = named(
  "DelayConfig",
  described(DelayConfig, {
    amount: "Number of units; at most 365 days together",
    unit: "Unit of the amount",
  }),
  { description: "How long to wait", example: { amount: 2, unit: "days" } },
);

const WaitSettings = named(
  "WaitForEventConfig",
  described(WaitForEventConfig, {
    eventName: "Name of the event to wait for",
    timeout: "Longest wait in seconds; without it the wait has no end",
  }),
  {
    description: "The event to wait for",
    example: { eventName: "order_placed", timeout: 86_400 },
  },
);

const WebhookSettings = named(
  "WebhookCallConfig",
  described(WebhookConfig, {
    url:
      "http or https, may hold Liquid. Every output is percent-encoded as one component, unless it " +
      "ends in | raw: then it may hold several components or begin the URL",
    method: "Method of the request",
    headers: "Header fields, whose values may hold Liquid",
    body: "JSON, whose strings may hold Liquid; by default the execution, contact and event",
  }),
  {
    description: "The request to send",
    example: { url: "https://acme.example/hooks/{{ id }}", method: "POST" },
  },
);

const UpdateSettings = named(
  "UpdateContactConfig",
  described(UpdateContactConfig, {
    updates: "Merged into the data of the contact, where null removes a key",
    subscriptionAction: "Whether the contact is subscribed or unsubscribed",
  }),
  { description: "The changes of the contact", example: { updates: { stage: "customer" } } },
);

const ExitSettings = named(
  "ExitConfig",
  described(ExitConfig, { reason: "Becomes the exitReason of the execution" }),
  { description: "How the execution ends", example: { reason: "done" } },
);

const BRANCH = {
  "x-name": "ConditionBranch",
  type: "object",
  description: "A branch that is taken if the field passes its test",
  required: ["id", "operator"],
  properties: {
    id: { ...GraphId, description: "Name of the branch, which its transition names" },
    ...TEST_PROPERTIES,
  },
};

const ConditionSettings = Type.Unsafe({
  "x-name": "ConditionConfig",
  description: "A whole condition or one test (branches yes and no), or several branches",
  anyOf: [
    {
      type: "object",
      title: "Whole condition",
      required: ["condition"],
      properties: { condition: reference("Condition", "The condition to test") },
    },
    {
      type: "object",
      title: "One test",
      required: ["field", "operator"],
      properties: { field: { type: "string", description: FIELD }, ...TEST_PROPERTIES },
    },
    {
      type: "object",
      title: "Several branches",
      description: "The first branch that matches is taken, otherwise `default`",
      required: ["mode", "field", "branches"],
      properties: {
        mode: { const: "multi", type: "string", description: "Always multi" },
        field: { type: "string", description: FIELD },
        branches: {
          type: "array",
          items: BRANCH,
          minItems: 1,
          maxItems: 50,
          description: "The branches in the order of their tests",
        },
      },
    },
  ],
  examples: [{ condition: CONDITION_EXAMPLE }],
});

type Kind = { type: StepType; name: string; description: string; config: TSchema };

const KINDS: readonly Kind[] = [
  {
    type: "TRIGGER",
    name: "TriggerStep",
    description: "Where every execution starts",
    config: TriggerSettings,
  },
  {
    type: "SEND_EMAIL",
    name: "SendEmailStep",
    description: "Sends a mail",
    config: SendEmailSettings,
  },
  { type: "DELAY", name: "DelayStep", description: "Waits for a time", config: DelaySettings },
  {
    type: "WAIT_FOR_EVENT",
    name: "WaitForEventStep",
    description: "Waits for an event of the contact; has the branch timeout if it has a timeout",
    config: WaitSettings,
  },
  {
    type: "CONDITION",
    name: "ConditionStep",
    description: "Chooses a branch",
    config: ConditionSettings,
  },
  {
    type: "TIME_WINDOW",
    name: "TimeWindowStep",
    description: "Waits until a time window is open",
    config: TimeWindowSettings,
  },
  {
    type: "SPLIT",
    name: "SplitStep",
    description: "Sends contacts to branches at random, by weights",
    config: SplitSettings,
  },
  { type: "WEBHOOK", name: "WebhookStep", description: "Calls a URL", config: WebhookSettings },
  {
    type: "UPDATE_CONTACT",
    name: "UpdateContactStep",
    description: "Changes the contact",
    config: UpdateSettings,
  },
  { type: "EXIT", name: "ExitStep", description: "Ends the execution", config: ExitSettings },
];

/** The config of a step of any type. */
export const AnyConfig = {
  "x-name": "StepConfig",
  description: "The config of a step, as its type requires",
  anyOf: KINDS.map(({ config }) => config),
};

export const Position = named(
  "StepPosition",
  described(Type.Object({ x: Type.Number(), y: Type.Number() }), {
    x: "Distance from the left",
    y: "Distance from the top",
  }),
  { description: "The position of a step in an editor", example: { x: 0, y: 0 } },
);

const ID = "Id of the step, unique in the workflow";

/** A step of a response, by its type. */
export const AnyStep = {
  "x-name": "WorkflowStep",
  description: "A step of a workflow",
  ...byType(
    KINDS.map((kind) =>
      describedStep(kind, kind.name, {
        name: Type.String({ description: "Name of the step" }),
        position: { ...Position, "x-use": "Its position in an editor" },
        config: { ...kind.config, "x-use": "Its settings" },
      }),
    ),
  ),
};

/** A step of a request, by its type. */
export const AnyStepInput = {
  "x-name": "WorkflowStepInput",
  description: "A step of a workflow to store",
  ...byType(
    KINDS.map((kind) => {
      const config = { ...kind.config, "x-use": "Its settings" };
      return describedStep(kind, `${kind.name}Input`, {
        name: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 255 }))),
        position: Type.Optional(Nullable(Position)),
        config: kind.type === "EXIT" ? Type.Optional(Nullable(config)) : config,
      });
    }),
  ),
};

function describedStep(
  { type, description }: Kind,
  name: string,
  rest: { name: TSchema; position: TSchema; config: TSchema },
): TSchema {
  const texts = {
    id: ID,
    type: `Always ${type}`,
    name: "Name of the step; the type if omitted",
    position: "Its position in an editor",
    config: "Its settings",
  };
  const schema = Type.Object({ id: GraphId, type: Type.Literal(type), ...rest });
  return named(name, described(schema, texts), { description });
}

function byType(steps: readonly TSchema[]) {
  const entries = steps.map((step) => [
    step["properties"].type.const,
    `#/components/schemas/${step["x-name"]}`,
  ]);
  return {
    oneOf: steps,
    discriminator: { propertyName: "type", mapping: Object.fromEntries(entries) },
  };
}

export const TransitionInput = named(
  "WorkflowTransitionInput",
  described(TransitionShape, {
    id: "Id of the transition, generated if omitted",
    from: "Id of the step that it leaves",
    to: "Id of the step that it leads to",
    branch:
      "yes, no, timeout, default or the id of a branch; omitted in an unconditional transition",
  }),
  { description: "A transition to store", example: { from: "trigger", to: "welcome" } },
);
export type TransitionInput = Static<typeof TransitionInput>;

export const ShownTransition = named(
  "WorkflowTransition",
  described(
    Type.Object({
      id: Type.String(),
      from: Type.String(),
      to: Type.String(),
      branch: Nullable(Type.String()),
    }),
    {
      id: "Id of the transition",
      from: "Id of the step that it leaves",
      to: "Id of the step that it leads to",
      branch: "The branch of the step that it leaves; null if it is unconditional",
    },
  ),
  { description: "The way from one step to the next" },
);
