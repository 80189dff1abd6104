/**
 * Creates random valid graphs: every cycle has a step that waits, and every step is reachable. Some have
 * exits.
 */

import type { Random } from "../segments/seeded.ts";
import type { NaiveCondition, NaiveFilter } from "../segments/naive.ts";
import type { NaiveConfig, NaiveExit, NaiveGraph, NaiveStep, NaiveTransition } from "./naive.ts";

export type Material = {
  trigger: string;
  /** Names of the events that WAIT_FOR_EVENT steps wait for. */
  awaited: readonly string[];
  templates: readonly string[];
  /** A transactional template. */
  plain: string;
  /** Base URL of webhooks; null if the graph has no WEBHOOK steps. */
  webhooks: string | null;
  /** True if conditions may test the contact. False if the contact can change at the same time. */
  readsContact: boolean;
};

const BOSS = { type: "CUSTOM", email: "boss@example.com" };
const SPLIT = [
  { id: "x", weight: 30 },
  { id: "y", weight: 70 },
];
const WAITING_TYPES = ["DELAY", "WAIT_FOR_EVENT"];

/** Creates a graph with at most 12 steps after the TRIGGER. */
export function randomGraph(random: Random, material: Material): NaiveGraph {
  const trigger = { id: "start", type: "TRIGGER", config: { eventName: material.trigger } };
  const steps = [
    trigger,
    ...Array.from({ length: 1 + random.int(12) }, (_, i) => randomStep(random, `s${i}`, material)),
  ];
  const transitions = steps.flatMap((step, i) =>
    branchesOf(step).flatMap((branch) => randomTransition(random, { steps, from: i, branch })),
  );
  return { ...reachable({ steps, transitions }), exits: randomExits(random, material) };
}

function randomExits(random: Random, { awaited }: Material): NaiveExit[] {
  const all: NaiveExit[] = [
    { on: "EVENT", eventName: random.pick(awaited) },
    { on: "UNSUBSCRIBED" },
  ];
  return all.filter(() => random.chance(0.2));
}

function randomStep(random: Random, id: string, material: Material): NaiveStep {
  const { awaited, templates, webhooks } = material;
  const make = random.pick<() => Omit<NaiveStep, "id">>([
    () => ({ type: "SEND_EMAIL", config: { templateId: random.pick(templates) } }),
    () => ({ type: "SEND_EMAIL", config: { templateId: material.plain, recipient: BOSS } }),
    () => ({ type: "DELAY", config: randomDelay(random) }),
    () => ({ type: "DELAY", config: randomDelay(random) }),
    () => ({ type: "WAIT_FOR_EVENT", config: randomWait(random, awaited) }),
    () => ({ type: "WAIT_FOR_EVENT", config: randomWait(random, awaited) }),
    () => ({ type: "CONDITION", config: randomCondition(random, material) }),
    () => ({ type: "CONDITION", config: randomCondition(random, material) }),
    () => ({ type: "UPDATE_CONTACT", config: randomUpdate(random) }),
    () => ({ type: "TIME_WINDOW", config: randomWindow(random) }),
    () => ({ type: "SPLIT", config: { branches: SPLIT } }),
    () => ({ type: "EXIT", config: random.chance(0.5) ? { reason: "enough" } : {} }),
    ...(webhooks === null
      ? []
      : [
          () => {
            const path = random.chance(0.25) ? "/fails" : "/works";
            return { type: "WEBHOOK", config: { url: `${webhooks}${path}`, method: "POST" } };
          },
        ]),
  ]);
  return { id, ...make() };
}

function randomDelay(random: Random): NaiveConfig {
  return random.pick([
    { amount: 1 + random.int(90), unit: "minutes" },
    { amount: 1 + random.int(30), unit: "hours" },
    { amount: 1 + random.int(4), unit: "days" },
  ]);
}

const DAYS = ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"];

/** The contacts have no zone, so it is that of the fallback. */
function randomWindow(random: Random): NaiveConfig {
  const [from = "", to = ""] = random.pick([
    ["09:00", "17:00"],
    ["22:30", "06:00"],
    ["00:00", "24:00"],
  ]);
  const days = DAYS.slice(random.int(DAYS.length));
  return { days, from, to, timeZone: random.pick(["UTC", "CONTACT"]) };
}

function randomWait(random: Random, awaited: readonly string[]): NaiveConfig {
  const timeout = random.chance(0.6) ? { timeout: 60 * (1 + random.int(3 * 24 * 60)) } : {};
  return { eventName: random.pick(awaited), ...timeout };
}

export const VALUES = ["a", "b", 1, 2, true, "1"];
export const KEYS = ["k", "l"];

function randomCondition(random: Random, { readsContact, awaited }: Material): NaiveConfig {
  const fields = [
    ...KEYS.map((key) => `context.${key}`),
    ...(readsContact ? KEYS.map((key) => `data.${key}`) : []),
  ];
  const test = () =>
    random.pick([
      { operator: "exists" },
      { operator: "equals", value: random.pick(VALUES) },
      { operator: "notEquals", value: random.pick(VALUES) },
      { operator: "greaterThan", value: random.pick([1, "2026-01-31"]) },
    ]);
  return random.pick<() => NaiveConfig>([
    () => ({ field: random.pick(fields), ...test() }),
    () => ({
      mode: "multi",
      field: random.pick(fields),
      branches: ["x", "y", "z"].slice(random.int(3)).map((id) => ({ id, ...test() })),
    }),
    ...(readsContact ? [() => longCondition(random, awaited)] : []),
  ])();
}

function longCondition(random: Random, awaited: readonly string[]): NaiveConfig {
  const filter = (): NaiveFilter =>
    random.pick<NaiveFilter>([
      { field: "subscribed", operator: "equals", value: random.chance(0.5) },
      { field: `data.${random.pick(KEYS)}`, operator: "equals", value: random.pick(VALUES) },
      { field: `data.${random.pick(KEYS)}`, operator: "notExists" },
      { field: `event.${random.pick(awaited)}`, operator: "triggered" },
      { field: `context.${random.pick(KEYS)}`, operator: "exists" },
      { field: `context.${random.pick(KEYS)}`, operator: "equals", value: random.pick(VALUES) },
    ]);
  const condition = (depth: number): NaiveCondition => ({
    logic: random.pick(["AND", "OR"]),
    groups: Array.from({ length: 1 + random.int(2) }, () => ({
      filters: [filter(), ...random.list(1, filter)],
      ...(depth < 3 && random.chance(0.4) ? { conditions: condition(depth + 1) } : {}),
    })),
  });
  return { condition: condition(1) };
}

function randomUpdate(random: Random): NaiveConfig {
  const updates = { [random.pick(KEYS)]: random.pick([...VALUES, null]) };
  const subscriptionAction = random.pick(["subscribe", "unsubscribe"]);
  return random.pick<NaiveConfig>([
    { updates },
    { subscriptionAction },
    { updates, subscriptionAction },
  ]);
}

function branchesOf({ type, config }: NaiveStep): (string | undefined)[] {
  if (type === "EXIT") return [];
  if (type === "WAIT_FOR_EVENT") {
    return config.timeout === undefined ? [undefined] : [undefined, "timeout"];
  }
  if (type === "SPLIT") return SPLIT.map(({ id }) => id);
  if (type !== "CONDITION") return [undefined];
  return config.branches === undefined
    ? ["yes", "no"]
    : [...config.branches.map(({ id }) => id), "default"];
}

/** Leads mostly to a later step, to an earlier one only from a step that waits, or to none. */
function randomTransition(
  random: Random,
  {
    steps,
    from,
    branch,
  }: { steps: readonly NaiveStep[]; from: number; branch: string | undefined },
): NaiveTransition[] {
  const step = steps[from];
  const later = steps.slice(from + 1);
  const earlier = WAITING_TYPES.includes(step?.type ?? "") ? steps.slice(1, from + 1) : [];
  const targets = random.chance(0.2) && earlier.length > 0 ? earlier : later;
  if (step === undefined || targets.length === 0 || random.chance(0.1)) return [];
  // The next step is preferred, because otherwise executions have few steps.
  const to = random.chance(0.7) ? targets[0] : random.pick(targets);
  if (to === undefined) return [];
  return [{ from: step.id, to: to.id, ...(branch === undefined ? {} : { branch }) }];
}

function reachable({ steps, transitions }: NaiveGraph): NaiveGraph {
  const reached = new Set(["start"]);
  for (const id of reached) {
    for (const transition of transitions) if (transition.from === id) reached.add(transition.to);
  }
  return {
    steps: steps.filter(({ id }) => reached.has(id)),
    transitions: transitions.filter(({ from }) => reached.has(from)),
  };
}
