/** The graph of a workflow as it is stored and shown (docs/interface.md#workflows). */

export type DelayUnit = "minutes" | "hours" | "days";

/** A condition of one filter, on a field of the contact or of the execution's context. */
export type ShortCondition = { field: string; operator: string; value?: unknown; unit?: unknown };

export type ConditionConfig =
  /** A condition in the shape of segments; branches `yes` and `no`. */
  | { condition: unknown }
  /** Branches `yes` and `no`. */
  | ShortCondition
  /** The first branch that matches, otherwise `default`. */
  | {
      mode: "multi";
      field: string;
      branches: readonly { id: string; operator: string; value?: unknown; unit?: unknown }[];
    };

export type WebhookMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * The trigger of executions. An event has no `type`, as in the first version; the other kinds have one.
 */
export type TriggerConfig =
  | { eventName: string }
  /** A 5-field cron expression in a time zone; `segmentId` null stands for all contacts. */
  | { type: "SCHEDULE"; cron: string; timeZone: string; segmentId: string | null }
  /** Only requests start executions. */
  | { type: "MANUAL" };

/** A condition that ends an execution early, at any step. */
export type Exit =
  | { on: "EVENT"; eventName: string }
  | { on: "UNSUBSCRIBED" }
  | { on: "SEGMENT_LEFT"; segmentId: string };

/** The zone of a TIME_WINDOW that follows the data of each contact. */
export const CONTACT_ZONE = "CONTACT";

export type Weekday = "MON" | "TUE" | "WED" | "THU" | "FRI" | "SAT" | "SUN";

/** `from` and `to` are times of day such as 09:00; a window with from > to ends on the next day. */
export type TimeWindow = {
  days: readonly Weekday[];
  from: string;
  to: string;
  /** CONTACT, or the name of a zone. */
  timeZone: string;
  /** The zone for contacts without one; only with CONTACT. */
  fallbackTimeZone?: string;
};

type Of<Type extends string, Config> = {
  id: string;
  type: Type;
  name: string;
  position: { x: number; y: number };
  config: Config;
};

export type Step =
  | Of<"TRIGGER", TriggerConfig>
  | Of<
      "SEND_EMAIL",
      {
        templateId: string;
        recipient?: { type: "CONTACT" } | { type: "CUSTOM"; email: string };
      }
    >
  | Of<"DELAY", { amount: number; unit: DelayUnit }>
  /** `timeout` is in seconds; a step without one waits for an unlimited time. */
  | Of<"WAIT_FOR_EVENT", { eventName: string; timeout?: number }>
  | Of<"CONDITION", ConditionConfig>
  /** Waits until the window is open. */
  | Of<"TIME_WINDOW", TimeWindow>
  /** Sends each contact to one branch, by the weights. */
  | Of<"SPLIT", { branches: readonly { id: string; weight: number }[] }>
  /**
   * URL, header values and body may hold Liquid. The default body is JSON with the workflow, the
   * execution, the contact and the event.
   */
  | Of<
      "WEBHOOK",
      { url: string; method: WebhookMethod; headers?: Record<string, string>; body?: unknown }
    >
  | Of<
      "UPDATE_CONTACT",
      {
        updates?: Record<string, unknown>;
        subscriptionAction?: "subscribe" | "unsubscribe";
      }
    >
  | Of<"EXIT", { reason?: string }>;

export type StepType = Step["type"];

export type Transition = {
  id: string;
  from: string;
  to: string;
  /** `yes`, `no`, `timeout`, `default` or the id of a branch; absent in an unconditional transition. */
  branch?: string;
};

/** `exits` is absent if there are none, as in graphs of earlier versions. */
export type Graph = {
  steps: readonly Step[];
  transitions: readonly Transition[];
  exits?: readonly Exit[];
};

/** The config of the one TRIGGER. */
export function triggerOf({ steps }: Pick<Graph, "steps">): TriggerConfig {
  for (const step of steps) if (step.type === "TRIGGER") return step.config;
  throw new Error("a graph without a TRIGGER passed its check");
}

/** The event that starts executions; null if none does. */
export const triggerEventOf = (trigger: TriggerConfig): string | null =>
  "eventName" in trigger ? trigger.eventName : null;
