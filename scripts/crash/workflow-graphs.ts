/** The workflows of the crash test, with every type of step, and the expected path of executions. */

import { splitBranch } from "../../src/modules/workflows/steps/split.ts";
import { SENDER } from "../bench/mail.ts";

/** Tracked events that trigger a workflow each. */
const ORDERED = "ordered";
const TRIED = "tried";
const VISITED = "visited";
const JOINED = "joined";
/** The event for which orders wait. */
export const PAID = "paid";
/** The event at which the contacts who joined leave the workflow. */
const LEFT = "left";

/** The actions of the contact with a number. Half of the contacts order. */
export type Kind = "ORDER" | "TRIAL" | "VISIT" | "MEMBER";

export const kindOf = (number: number): Kind =>
  number % 2 === 1 ? "ORDER" : number % 4 === 2 ? "VISIT" : number % 8 === 0 ? "TRIAL" : "MEMBER";

/** The events of each kind of contact, in their order. */
export const EVENTS: Readonly<Record<Kind, readonly string[]>> = {
  ORDER: [ORDERED, PAID],
  TRIAL: [TRIED],
  VISIT: [VISITED],
  MEMBER: [JOINED, LEFT],
};

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
  rest: Record<string, unknown> = {},
) {
  return {
    ...rest,
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

const SPLIT_BRANCHES = [
  { id: "a", weight: 30 },
  { id: "b", weight: 70 },
];
const DAYS = ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"];
const MINUTE_MS = 60_000;

/**
 * Split → update contact → time window → mail. The window opens one to two minutes after `now`, and was open
 * until some minutes before: executions that reach it during the kills wait.
 */
export function visitWorkflow(templates: { goodbye: string }, now: number) {
  const clockAt = (minutes: number) =>
    new Date(now + minutes * MINUTE_MS).toISOString().slice("2026-01-01T".length).slice(0, 5);
  const config = { days: DAYS, from: clockAt(2), to: clockAt(-5), timeZone: "UTC" };
  return buildWorkflow(
    VISITED,
    [
      { id: "split", type: "SPLIT", config: { branches: SPLIT_BRANCHES } },
      { id: "mark-a", type: "UPDATE_CONTACT", config: { updates: { stage: "seen a" } } },
      { id: "mark-b", type: "UPDATE_CONTACT", config: { updates: { stage: "seen b" } } },
      { id: "window", type: "TIME_WINDOW", config },
      { id: "goodbye", type: "SEND_EMAIL", config: { templateId: templates.goodbye } },
    ],
    [
      ["start", "split"],
      ["split", "mark-a", "a"],
      ["split", "mark-b", "b"],
      ["mark-a", "window"],
      ["mark-b", "window"],
      ["window", "goodbye"],
    ],
  );
}

/** Update contact → mail → wait without an end, which an exit ends. */
export function memberWorkflow(templates: { welcome: string }) {
  return buildWorkflow(
    JOINED,
    [
      { id: "mark", type: "UPDATE_CONTACT", config: { updates: { stage: "member" } } },
      { id: "thanks", type: "SEND_EMAIL", config: { templateId: templates.welcome } },
      { id: "wait", type: "WAIT_FOR_EVENT", config: { eventName: "never" } },
    ],
    [
      ["start", "mark"],
      ["mark", "thanks"],
      ["thanks", "wait"],
    ],
    { exits: [{ on: "EVENT", eventName: LEFT }] },
  );
}

/** The branch of a contact that visited. */
const branchOf = (ids: Ids): string => splitBranch(SPLIT_BRANCHES, { ...ids, stepId: "split" });

/** The ids on which a branch depends. */
export type Ids = { contactId: string; workflowId: string };

/** The state of the contact at the end, as `isSubscribed stage`. */
export function expectedContact(number: number, ids: Ids): string {
  const stages: Readonly<Record<Kind, () => string>> = {
    ORDER: () => "0 customer",
    TRIAL: () => "1 lost",
    VISIT: () => `1 seen ${branchOf(ids)}`,
    MEMBER: () => "1 member",
  };
  return stages[kindOf(number)]();
}

export const amountOf = (number: number): number => number % 100;

/** Returns the expected end of an execution as `status exitReason step:outcome:branch,…`. */
export function expectedPath(number: number, ids: Ids): string {
  const completed = (id: string, branch = "") => `${id}:COMPLETED:${branch}`;
  const kind = kindOf(number);
  if (kind === "MEMBER") {
    const steps = ["start", "mark", "thanks"].map((id) => completed(id));
    return `EXITED The event "${LEFT}" happened. ${steps.join(",")}`;
  }
  if (kind === "VISIT") {
    const branch = branchOf(ids);
    const marked = [completed("split", branch), completed(`mark-${branch}`)];
    const steps = [completed("start"), ...marked, completed("window"), completed("goodbye")];
    return `COMPLETED  ${steps.join(",")}`;
  }
  if (kind === "TRIAL") {
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
