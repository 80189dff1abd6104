/** The workflows of the crash test, with every type of step, and the expected path of executions. */

import { SENDER } from "../bench/mail.ts";

/** Tracked events: ORDERED and TRIED each trigger a workflow; the first waits for PAID. */
export const ORDERED = "ordered";
export const PAID = "paid";
export const TRIED = "tried";

export const WELCOME = {
  name: "Thanks",
  type: "TRANSACTIONAL",
  subject: "Order {{ number }}",
  body: "<p>Thank you for {{ number }}.</p>",
  from: SENDER,
};
export const GOODBYE = { ...WELCOME, name: "Goodbye", subject: "{{ number }} is done" };

type Step = { id: string; type: string; config: Record<string, unknown> };

function buildWorkflow(
  eventName: string,
  steps: readonly Step[],
  transitions: readonly [string, string, string?][],
) {
  return {
    name: eventName,
    enabled: true,
    steps: [{ id: "start", type: "TRIGGER", config: { eventName } }, ...steps],
    transitions: transitions.map(([from, to, branch]) => ({
      from,
      to,
      ...(branch === undefined ? {} : { branch }),
    })),
  };
}

/** Mail → wait for payment → condition on amount → webhook → update contact → delay → mail → exit. */
export function orderWorkflow(url: string, templates: { welcome: string; goodbye: string }) {
  return buildWorkflow(
    ORDERED,
    [
      { id: "thanks", type: "SEND_EMAIL", config: { templateId: templates.welcome } },
      { id: "payment", type: "WAIT_FOR_EVENT", config: { eventName: PAID, timeout: 86_400 } },
      {
        id: "is-large",
        type: "CONDITION",
        config: { field: "context.amount", operator: "greaterThan", value: 50 },
      },
      { id: "notify-large", type: "WEBHOOK", config: { url: `${url}/large`, method: "POST" } },
      { id: "notify-small", type: "WEBHOOK", config: { url: `${url}/small`, method: "PUT" } },
      {
        id: "mark",
        type: "UPDATE_CONTACT",
        config: { updates: { stage: "customer" }, subscriptionAction: "unsubscribe" },
      },
      { id: "delay", type: "DELAY", config: { amount: 1, unit: "minutes" } },
      { id: "goodbye", type: "SEND_EMAIL", config: { templateId: templates.goodbye } },
      { id: "end", type: "EXIT", config: { reason: "done" } },
    ],
    [
      ["start", "thanks"],
      ["thanks", "payment"],
      ["payment", "is-large"],
      ["is-large", "notify-large", "yes"],
      ["is-large", "notify-small", "no"],
      ["notify-large", "mark"],
      ["notify-small", "mark"],
      ["mark", "delay"],
      ["delay", "goodbye"],
      ["goodbye", "end"],
    ],
  );
}

/** Wait until its timeout → update contact → condition on the new data → mail. */
export function trialWorkflow(templates: { goodbye: string }) {
  return buildWorkflow(
    TRIED,
    [
      { id: "wait", type: "WAIT_FOR_EVENT", config: { eventName: "never", timeout: 2 } },
      { id: "mark", type: "UPDATE_CONTACT", config: { updates: { stage: "lost" } } },
      {
        id: "is-marked",
        type: "CONDITION",
        config: { field: "data.stage", operator: "equals", value: "lost" },
      },
      { id: "goodbye", type: "SEND_EMAIL", config: { templateId: templates.goodbye } },
    ],
    [
      ["start", "wait"],
      ["wait", "mark", "timeout"],
      ["mark", "is-marked"],
      ["is-marked", "goodbye", "yes"],
    ],
  );
}

/** Returns whether the contact of that number tracks an order; the others track a trial. */
export const isOrder = (number: number): boolean => number % 2 === 1;

export const amountOf = (number: number): number => number % 100;

/** Returns the expected end of an execution as `status exitReason step:outcome:branch,…`. */
export function expectedPath(number: number): string {
  const completed = (id: string, branch = "") => `${id}:COMPLETED:${branch}`;
  if (!isOrder(number)) {
    const steps = [
      completed("start"),
      completed("wait", "timeout"),
      completed("mark"),
      completed("is-marked", "yes"),
    ];
    return `COMPLETED  ${[...steps, completed("goodbye")].join(",")}`;
  }
  const isLarge = amountOf(number) > 50;
  const steps = [
    ...["start", "thanks", "payment"].map((id) => completed(id)),
    completed("is-large", isLarge ? "yes" : "no"),
    ...[isLarge ? "notify-large" : "notify-small", "mark", "delay", "goodbye", "end"].map((id) =>
      completed(id),
    ),
  ];
  return `EXITED done ${steps.join(",")}`;
}
