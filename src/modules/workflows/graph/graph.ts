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

type Of<Type extends string, Config> = {
  id: string;
  type: Type;
  name: string;
  position: { x: number; y: number };
  config: Config;
};

export type Step =
  | Of<"TRIGGER", { eventName: string }>
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

export type Graph = { steps: readonly Step[]; transitions: readonly Transition[] };
