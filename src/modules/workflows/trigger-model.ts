/**
 * The triggers and exits of workflows as the OpenAPI document shows them. graph/config-trigger.ts checks
 * them, because its errors name the field of the kind that was given.
 */

import { Kind, type TSchema, Type, TypeRegistry } from "@sinclair/typebox";
import { described, named, shownAs } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";

const EVENT = described(Type.Object({ type: Type.Literal("EVENT"), eventName: Type.String() }), {
  type: "Always EVENT",
  eventName: "Name of the event",
});

const SCHEDULE_TEXTS = {
  type: "Always SCHEDULE",
  cron: "A cron expression of five fields, such as 0 9 * * MON-FRI",
  timeZone: "The zone of its times, such as Europe/Berlin",
  segmentId: "The segment whose contacts enter; null for all contacts",
} as const;

const SCHEDULE = described(
  Type.Object({
    type: Type.Literal("SCHEDULE"),
    cron: Type.String(),
    timeZone: Type.String(),
    segmentId: Nullable(Type.String()),
  }),
  SCHEDULE_TEXTS,
);

const MANUAL = described(Type.Object({ type: Type.Literal("MANUAL") }), { type: "Always MANUAL" });

const SCHEDULE_EXAMPLE = {
  type: "SCHEDULE",
  cron: "0 9 * * MON-FRI",
  timeZone: "Europe/Berlin",
  segmentId: null,
};

const EVENT_ABOUT = {
  description: "An event of a contact starts an execution for it",
  example: { type: "EVENT", eventName: "signed_up" },
};
const SCHEDULE_ABOUT = {
  description: "At the times of a schedule, the contacts of a segment enter",
  example: SCHEDULE_EXAMPLE,
};
const MANUAL_ABOUT = {
  description: "Only requests start executions",
  example: { type: "MANUAL" },
};

const Event = named("EventTrigger", EVENT, EVENT_ABOUT);
const Schedule = named("ScheduleTrigger", SCHEDULE, SCHEDULE_ABOUT);
const Manual = named("ManualTrigger", MANUAL, MANUAL_ABOUT);

/** The trigger of a workflow in responses. */
export const ShownTrigger = shownAs(Type.Union([Event, Schedule, Manual]), {
  "x-name": "WorkflowTrigger",
  description: "What starts executions",
  ...oneOf("type", [Event, Schedule, Manual]),
});

const ScheduleInput = named(
  "ScheduleTriggerInput",
  described(
    Type.Object({
      type: Type.Literal("SCHEDULE"),
      cron: Type.String(),
      timeZone: Type.String(),
      segmentId: Type.Optional(Nullable(Type.String())),
    }),
    SCHEDULE_TEXTS,
  ),
  SCHEDULE_ABOUT,
);

const TRIGGER = "WorkflowTrigger";
TypeRegistry.Set(TRIGGER, () => true);

/** This schema accepts any value, as that of a step does. */
export const TriggerInput = shownAs(Type.Unsafe<unknown>({ [Kind]: TRIGGER, type: "object" }), {
  "x-name": "WorkflowTriggerInput",
  description: "What starts executions",
  ...oneOf("type", [Event, ScheduleInput, Manual]),
});

/**
 * The config of a TRIGGER step. It is one object, so that programs which read the event of a TRIGGER keep
 * their types.
 */
export const AnyTriggerConfig = Type.Unsafe({
  "x-name": "TriggerConfig",
  description: "What starts executions: an event without a type, a schedule, or only requests",
  type: "object",
  properties: {
    eventName: { type: "string", description: "Name of the event that starts an execution" },
    type: { type: "string", enum: ["SCHEDULE", "MANUAL"], description: "Omitted for an event" },
    cron: { type: "string", description: SCHEDULE_TEXTS.cron },
    timeZone: { type: "string", description: SCHEDULE_TEXTS.timeZone },
    segmentId: { ...Nullable(Type.String()), description: SCHEDULE_TEXTS.segmentId },
  },
  examples: [{ eventName: "signed_up" }],
});

const EventExit = named(
  "EventExit",
  described(Type.Object({ on: Type.Literal("EVENT"), eventName: Type.String() }), {
    on: "Always EVENT",
    eventName: "Name of the event of the contact",
  }),
  { description: "An event of the contact", example: { on: "EVENT", eventName: "bought" } },
);

const UnsubscribedExit = named(
  "UnsubscribedExit",
  described(Type.Object({ on: Type.Literal("UNSUBSCRIBED") }), { on: "Always UNSUBSCRIBED" }),
  { description: "The contact unsubscribes", example: { on: "UNSUBSCRIBED" } },
);

const SegmentLeftExit = named(
  "SegmentLeftExit",
  described(Type.Object({ on: Type.Literal("SEGMENT_LEFT"), segmentId: Type.String() }), {
    on: "Always SEGMENT_LEFT",
    segmentId: "Id of a segment that tracks its membership",
  }),
  {
    description: "The contact leaves a segment",
    example: { on: "SEGMENT_LEFT", segmentId: EXAMPLE.segmentId },
  },
);

const EXITS = {
  "x-name": "WorkflowExit",
  description: "What ends an execution early",
  ...oneOf("on", [EventExit, UnsubscribedExit, SegmentLeftExit]),
};

export const ShownExit = shownAs(Type.Union([EventExit, UnsubscribedExit, SegmentLeftExit]), EXITS);

/** This schema accepts any value, as that of a step does. */
export const ExitInput = shownAs(Type.Unsafe<unknown>({ [Kind]: TRIGGER, type: "object" }), EXITS);

function oneOf(propertyName: string, kinds: readonly TSchema[]) {
  const mapping = kinds.map((schema) => [
    schema["properties"][propertyName].const,
    `#/components/schemas/${schema["x-name"]}`,
  ]);
  return { oneOf: kinds, discriminator: { propertyName, mapping: Object.fromEntries(mapping) } };
}
