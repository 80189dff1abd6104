/** The workflows of the crash loop: every kind of step, and how each execution has to go. */

import { SENDER } from "../bench/mail.ts";

/** Events that callers track: a start for each of the two, and one that the first waits for. */
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

function chain(
  eventName: string,
  steps: readonly Step[],
  ways: readonly [string, string, string?][],
) {
  return {
    name: eventName,
    enabled: true,
    steps: [{ id: "start", type: "TRIGGER", config: { eventName } }, ...steps],
    transitions: ways.map(([from, to, branch]) => ({
      from,
      to,
      ...(branch === undefined ? {} : { branch }),
    })),
  };
}

/** Mail → wait for the payment → how much? → webhook → contact → a minute → mail → end. */
export function orderWorkflow(url: string, templates: { welcome: string; goodbye: string }) {
  return chain(
    ORDERED,
    [
      { id: "thanks", type: "SEND_EMAIL", config: { templateId: templates.welcome } },
      { id: "payment", type: "WAIT_FOR_EVENT", config: { eventName: PAID, timeout: 86_400 } },
      {
        id: "much",
        type: "CONDITION",
        config: { field: "context.amount", operator: "greaterThan", value: 50 },
      },
      { id: "tell", type: "WEBHOOK", config: { url: `${url}/much`, method: "POST" } },
      { id: "tell-less", type: "WEBHOOK", config: { url: `${url}/less`, method: "PUT" } },
      {
        id: "mark",
        type: "UPDATE_CONTACT",
        config: { updates: { stage: "customer" }, subscriptionAction: "unsubscribe" },
      },
      { id: "minute", type: "DELAY", config: { amount: 1, unit: "minutes" } },
      { id: "bye", type: "SEND_EMAIL", config: { templateId: templates.goodbye } },
      { id: "end", type: "EXIT", config: { reason: "done" } },
    ],
    [
      ["start", "thanks"],
      ["thanks", "payment"],
      ["payment", "much"],
      ["much", "tell", "yes"],
      ["much", "tell-less", "no"],
      ["tell", "mark"],
      ["tell-less", "mark"],
      ["mark", "minute"],
      ["minute", "bye"],
      ["bye", "end"],
    ],
  );
}

/** A wait that nobody ends → contact → does it know? → mail. */
export function trialWorkflow(templates: { goodbye: string }) {
  return chain(
    TRIED,
    [
      { id: "nothing", type: "WAIT_FOR_EVENT", config: { eventName: "never", timeout: 2 } },
      { id: "mark", type: "UPDATE_CONTACT", config: { updates: { stage: "lost" } } },
      {
        id: "known",
        type: "CONDITION",
        config: { field: "data.stage", operator: "equals", value: "lost" },
      },
      { id: "bye", type: "SEND_EMAIL", config: { templateId: templates.goodbye } },
    ],
    [
      ["start", "nothing"],
      ["nothing", "mark", "timeout"],
      ["mark", "known"],
      ["known", "bye", "yes"],
    ],
  );
}

/** Odd numbers order, even ones try. */
export const isOrder = (number: number): boolean => number % 2 === 1;

export const amountOf = (number: number): number => number % 100;

/** `status exitReason step:outcome:branch,…`, as each execution has to have gone. */
export function expectedWay(number: number): string {
  const went = (id: string, branch = "") => `${id}:COMPLETED:${branch}`;
  if (!isOrder(number)) {
    const steps = [went("start"), went("nothing", "timeout"), went("mark"), went("known", "yes")];
    return `COMPLETED  ${[...steps, went("bye")].join(",")}`;
  }
  const isMuch = amountOf(number) > 50;
  const steps = [
    ...["start", "thanks", "payment"].map((id) => went(id)),
    went("much", isMuch ? "yes" : "no"),
    ...[isMuch ? "tell" : "tell-less", "mark", "minute", "bye", "end"].map((id) => went(id)),
  ];
  return `EXITED done ${steps.join(",")}`;
}
