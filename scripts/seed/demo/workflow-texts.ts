/** The workflows of the demonstration, as requests to `POST /workflows`. */

import { SITE } from "./template-texts.ts";

type StepInput = { id: string; type: string; name: string; config: Record<string, unknown> };
type TransitionInput = { from: string; to: string; branch?: string };

export type WorkflowText = {
  name: string;
  description: string;
  enabled: boolean;
  allowReentry: boolean;
  event: string;
  /** Executions per year among 12,000 contacts. */
  perYear: number;
  /** Each step below the one before. `SEND_EMAIL` names the key of its template. */
  steps: readonly StepInput[];
  transitions: readonly TransitionInput[];
};

const mail = (id: string, template: string): StepInput => ({
  id,
  type: "SEND_EMAIL",
  name: `Send “${template}”`,
  config: { templateId: template },
});
const delay = (id: string, amount: number, unit: "minutes" | "hours" | "days"): StepInput => ({
  id,
  type: "DELAY",
  name: `Wait ${amount} ${unit}`,
  config: { amount, unit },
});
const wait = (id: string, eventName: string, days: number): StepInput => ({
  id,
  type: "WAIT_FOR_EVENT",
  name: `Wait for ${eventName}`,
  config: { eventName, timeout: days * 86_400 },
});
const condition = (id: string, name: string, field: string, value: string): StepInput => ({
  id,
  type: "CONDITION",
  name,
  config: { field, operator: "equals", value },
});
const webhook = (id: string, path: string): StepInput => ({
  id,
  type: "WEBHOOK",
  name: "Tell the shop system",
  config: { url: `${SITE}${path}`, method: "POST" },
});
const update = (id: string, updates: Record<string, unknown>): StepInput => ({
  id,
  type: "UPDATE_CONTACT",
  name: "Update the contact",
  config: { updates },
});
const exit = (id: string, reason: string): StepInput => ({
  id,
  type: "EXIT",
  name: "Exit",
  config: { reason },
});

/** Transitions from each id to the next one; `yes:id` leaves over a branch. */
function path(...ids: string[]): TransitionInput[] {
  return ids.slice(1).map((to, i) => {
    const [from = "", branch] = (ids[i] ?? "").split(":");
    const target = to.split(":")[0] ?? "";
    return { from, to: target, ...(branch === undefined ? {} : { branch }) };
  });
}

export const WORKFLOWS: readonly WorkflowText[] = [
  {
    name: "Welcome series",
    description: "Three mails in the first week",
    enabled: true,
    allowReentry: false,
    event: "account.created",
    perYear: 4_200,
    steps: [
      mail("hello", "welcome"),
      delay("two-days", 2, "days"),
      mail("tips", "tips"),
      wait("first-order", "order.placed", 7),
      update("buyer", { stage: "customer" }),
      mail("club", "club"),
    ],
    transitions: [
      ...path("hello", "two-days", "tips", "first-order", "buyer"),
      ...path("first-order:timeout", "club"),
    ],
  },
  {
    name: "Abandoned basket",
    description: "A reminder after four hours and a last call after a day",
    enabled: true,
    allowReentry: true,
    event: "cart.abandoned",
    perYear: 3_600,
    steps: [
      wait("order", "order.placed", 1),
      exit("ordered", "The reader has ordered."),
      mail("reminder", "cart"),
      delay("a-day", 1, "days"),
      mail("last-call", "cart-last"),
    ],
    transitions: [
      ...path("order", "ordered"),
      ...path("order:timeout", "reminder", "a-day", "last-call"),
    ],
  },
  {
    name: "Ask for a review",
    description: "Ten days after an order",
    enabled: true,
    allowReentry: true,
    event: "order.placed",
    perYear: 5_400,
    steps: [
      delay("ten-days", 10, "days"),
      condition("is-member", "Is a club member?", "data.plan", "club"),
      webhook("points", "/hooks/points"),
      mail("ask", "review"),
    ],
    transitions: [
      ...path("ten-days", "is-member:yes", "points", "ask"),
      ...path("is-member:no", "ask"),
    ],
  },
  {
    name: "Win back sleeping readers",
    description: "One letter; whoever opens it stays",
    enabled: true,
    allowReentry: false,
    event: "reader.asleep",
    perYear: 1_300,
    steps: [
      mail("letter", "winback"),
      wait("opened", "email.opened", 14),
      update("awake", { stage: "awake" }),
      exit("asleep", "The reader did not open the letter."),
    ],
    transitions: [...path("letter", "opened", "awake"), ...path("opened:timeout", "asleep")],
  },
  {
    name: "Birthday present",
    description: "A gift card on the day",
    enabled: true,
    allowReentry: true,
    event: "reader.birthday",
    perYear: 1_900,
    steps: [webhook("card", "/hooks/gift-card"), mail("wishes", "birthday")],
    transitions: path("card", "wishes"),
  },
  {
    name: "Yearly survey",
    description: "Switched off until January",
    enabled: false,
    allowReentry: false,
    event: "survey.started",
    perYear: 500,
    steps: [mail("questions", "survey"), delay("a-week", 7, "days"), mail("thanks", "points")],
    transitions: path("questions", "a-week", "thanks"),
  },
];
