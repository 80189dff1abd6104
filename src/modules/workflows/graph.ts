/** A workflow's graph as it is stored and shown (interface decisions, I). */

export type DelayUnit = "minutes" | "hours" | "days";

/** One condition filter's short form: a field of the contact or of the execution's context. */
export type ShortCondition = { field: string; operator: string; value?: unknown; unit?: unknown };

export type ConditionConfig =
  /** The shape of segments' conditions; branches `yes` and `no`. */
  | { condition: unknown }
  /** Branches `yes` and `no`. */
  | ShortCondition
  /** The first branch that matches, else `default`. */
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
  /** `timeout`: seconds; without one it waits for ever. */
  | Of<"WAIT_FOR_EVENT", { eventName: string; timeout?: number }>
  | Of<"CONDITION", ConditionConfig>
  /** Without `body`: contact, event and execution as JSON. URL, headers, body may hold Liquid. */
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
  /** `yes`, `no`, `timeout`, `default` or the id of a branch; absent: the plain way on. */
  branch?: string;
};

export type Graph = { steps: readonly Step[]; transitions: readonly Transition[] };
