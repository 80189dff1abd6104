/** The schemas of step configs by type. config.ts has the rules that a schema cannot express. */

import { Type } from "@sinclair/typebox";
import { described } from "../../../http/documented.ts";
import { Nullable } from "../../../http/envelope.ts";
import { EmailAddress } from "../../../http/formats.ts";
import { Input, OneOf } from "../../../http/validation.ts";
import { Data } from "../../contacts/model.ts";
import { EventName } from "../../events/model.ts";
import type { StepType } from "./graph.ts";

export const STEP_TYPES = [
  "TRIGGER",
  "SEND_EMAIL",
  "DELAY",
  "WAIT_FOR_EVENT",
  "CONDITION",
  "TIME_WINDOW",
  "SPLIT",
  "WEBHOOK",
  "UPDATE_CONTACT",
  "EXIT",
] as const satisfies readonly StepType[];

const DELAY_UNITS = ["minutes", "hours", "days"] as const;
const WEBHOOK_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** Ids of steps, transitions and branches: one line of text. */
export const GraphId = Type.String({ minLength: 1, maxLength: 100, format: "header-text" });

const LONGEST_TIMEOUT_S = 365 * 24 * 60 * 60;

/** Accepts `null` as absent, so that a client can send back the step that it has read. */
const optional = <T extends Parameters<typeof Nullable>[0]>(schema: T) =>
  Type.Optional(Nullable(schema));

/** The config of a TRIGGER by its `type`; an EVENT may leave it out. */
export const TRIGGER_CONFIGS = {
  EVENT: Input({ type: Type.Optional(Type.Literal("EVENT")), eventName: EventName }),
  SCHEDULE: Input({
    type: Type.Literal("SCHEDULE"),
    cron: Type.String({ minLength: 1, maxLength: 100 }),
    timeZone: Type.String({ minLength: 1, maxLength: 64 }),
    segmentId: optional(Type.String({ minLength: 1, maxLength: 100 })),
  }),
  MANUAL: Input({ type: Type.Literal("MANUAL") }),
} as const;

/** The schema of an exit by its `on`. */
export const EXIT_SCHEMAS = {
  EVENT: Input({ on: Type.Literal("EVENT"), eventName: EventName }),
  UNSUBSCRIBED: Input({ on: Type.Literal("UNSUBSCRIBED") }),
  SEGMENT_LEFT: Input({
    on: Type.Literal("SEGMENT_LEFT"),
    segmentId: Type.String({ minLength: 1, maxLength: 100 }),
  }),
} as const;

export const EXIT_KINDS = ["EVENT", "UNSUBSCRIBED", "SEGMENT_LEFT"] as const;
export const MAX_EXITS = 10;

export const WEEKDAYS = ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"] as const;

export const TimeWindowConfig = Input({
  days: Type.Array(OneOf(WEEKDAYS), { minItems: 1, maxItems: WEEKDAYS.length }),
  from: Type.String({ maxLength: 5 }),
  to: Type.String({ maxLength: 5 }),
  timeZone: Type.String({ minLength: 1, maxLength: 64 }),
  fallbackTimeZone: optional(Type.String({ minLength: 1, maxLength: 64 })),
});

export const SplitConfig = Input({
  branches: Type.Array(
    described(Input({ id: GraphId, weight: Type.Integer({ minimum: 1, maximum: 100 }) }), {
      id: "Name of the branch, which its transition names",
      weight: "Its share of the contacts, in proportion to the other weights",
    }),
    { minItems: 2, maxItems: 10 },
  ),
});

export const SendEmailConfig = Input({
  templateId: Type.String({ minLength: 1 }),
  recipient: optional(
    described(Input({ type: OneOf(["CONTACT", "CUSTOM"]), email: optional(EmailAddress) }), {
      type: "CONTACT: the contact of the execution; CUSTOM: the address in email",
      email: "Address of the recipient; required if CUSTOM",
    }),
  ),
});

export const DelayConfig = Input({
  amount: Type.Integer({ minimum: 1, maximum: 365 * 24 * 60 }),
  unit: OneOf(DELAY_UNITS),
});

export const WaitForEventConfig = Input({
  eventName: EventName,
  timeout: optional(Type.Integer({ minimum: 1, maximum: LONGEST_TIMEOUT_S })),
});

export const WebhookConfig = Input({
  url: Type.String({ minLength: 1, maxLength: 4096 }),
  method: OneOf(WEBHOOK_METHODS),
  headers: optional(Type.Record(Type.String(), Type.String())),
  body: Type.Optional(Type.Unknown()),
});

export const UpdateContactConfig = Input({
  updates: optional(Data),
  subscriptionAction: optional(OneOf(["subscribe", "unsubscribe"])),
});

export const ExitConfig = Input({ reason: optional(Type.String({ maxLength: 1000 })) });

/** A CONDITION in the mode "multi". config-condition.ts checks the operators of its branches. */
export const MultiConfig = Input({
  field: Type.String(),
  branches: Type.Array(Input({ id: GraphId }), { minItems: 1, maxItems: 50 }),
});

export const StepHead = Input({
  id: GraphId,
  type: OneOf(STEP_TYPES),
  name: optional(Type.String({ minLength: 1, maxLength: 255 })),
  position: optional(Input({ x: Type.Number(), y: Type.Number() })),
  config: Type.Optional(Type.Unknown()),
});

export const TransitionShape = Input({
  id: optional(GraphId),
  from: GraphId,
  to: GraphId,
  branch: optional(GraphId),
});
