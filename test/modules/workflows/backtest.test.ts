/**
 * A backtest of recorded events finds what a live run of the same events did: random graphs run with a
 * clock that stops at each due time, and are then replayed from the log.
 */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Automation, DAY, HOUR, MINUTE, startAutomation } from "../../support/automation.ts";
import { listAt, stringAt, valueAt } from "../../support/json.ts";
import { type Random, seeded } from "../segments/seeded.ts";
import { KEYS, type Material, randomGraph, VALUES } from "./generate.ts";
import { backtest, lived, moveClock, replayed, settle } from "./live-and-replayed.ts";
import type { NaiveGraph } from "./naive.ts";

const RUNS = 8;
const EVENTS = 100;
const JUMPS = [7, 61_000, 10 * MINUTE, HOUR, 7 * HOUR, 25 * HOUR];

let a: Automation;
let templates: readonly [marketing: string, transactional: string];
beforeAll(async () => {
  // The delivery of mails is not compared; a low rate saves its time.
  a = await startAutomation({ config: { sendRate: 1 } });
  templates = [
    await a.template({ subject: "Hello {{ k }}" }),
    await a.template({ type: "TRANSACTIONAL" }),
  ];
});
afterAll(() => a.close());

const TRIGGER_ONLY = {
  trigger: { type: "EVENT", eventName: "go" },
  steps: [],
  transitions: [],
};
const BROKEN_STEP = { id: "mail", type: "SEND_EMAIL", config: { templateId: "none" } };

type Run = { id: string; material: Material; people: readonly string[] };

async function makeRun(random: Random, number: number): Promise<Run> {
  const material: Material = {
    trigger: `r${number}.go`,
    awaited: [`r${number}.a`, `r${number}.b`, "contact.unsubscribed"],
    templates,
    plain: templates[1],
    webhooks: null,
    readsContact: true,
  };
  const allowReentry = random.chance(0.6);
  const graph = withNewKinds(random, randomGraph(random, material), material);
  const isScheduled = number % 4 === 3;
  const given = isScheduled ? await scheduled(random, graph, number) : graph;
  const id = await a.workflow(given, { allowReentry });
  const people = Array.from(
    { length: 1 + random.int(3) },
    (_, i) => `c${i}.r${number}@example.com`,
  );
  return { id, material, people };
}

const WINDOW = { days: ["MON", "WED", "SAT"], from: "09:00", to: "12:30", timeZone: "Asia/Tokyo" };

/** The graph with a SPLIT or a TIME_WINDOW on one of its edges, and sometimes with exits. */
function withNewKinds(random: Random, { steps, transitions }: NaiveGraph, { awaited }: Material) {
  const exits = random.pick([
    [],
    [{ on: "UNSUBSCRIBED" }],
    [{ on: "EVENT", eventName: random.pick(awaited.slice(0, 2)) }],
  ]);
  if (transitions.length === 0) return { exits, steps, transitions };
  const edge = random.pick(transitions);
  const isSplit = random.chance(0.5);
  const branches = ["x", "y"].map((id) => ({ id, weight: 1 + random.int(3) }));
  const step = isSplit
    ? { id: "new", type: "SPLIT", config: { branches } }
    : { id: "new", type: "TIME_WINDOW", config: WINDOW };
  return {
    exits,
    steps: [...steps, step],
    transitions: [
      ...transitions.map((each) => (each === edge ? { ...each, to: "new" } : each)),
      { from: "new", to: edge.to, ...(isSplit ? { branch: "x" } : {}) },
    ],
  };
}

/** The graph with a schedule over a segment as its trigger. */
async function scheduled(random: Random, graph: ReturnType<typeof withNewKinds>, number: number) {
  const filters = [
    { field: "email", operator: "contains", value: `.r${number}@` },
    { field: `data.${random.pick(KEYS)}`, operator: "exists" },
  ];
  const condition = { logic: "AND", groups: [{ filters }] };
  const segment = { name: `s${number}`, type: "DYNAMIC", condition };
  const segmentId = await a.t.create("/segments", segment, "data.id");
  const trigger = { type: "SCHEDULE", cron: "30 9 * * *", timeZone: "Europe/Berlin", segmentId };
  const steps = graph.steps.map((step) =>
    step.type === "TRIGGER" ? { ...step, config: trigger } : step,
  );
  return { ...graph, trigger, steps };
}

/** Tracks a random event; the data is stored with the contact, and some events unsubscribe it. */
async function act(random: Random, { material, people }: Run): Promise<void> {
  const names = [material.trigger, material.trigger, ...material.awaited.slice(0, 2)];
  const data = Object.fromEntries(random.list(2, () => [random.pick(KEYS), random.pick(VALUES)]));
  const answer = await a.t.call("POST", "/v1/track", {
    email: random.pick(people),
    event: random.pick(names),
    data,
    ...(random.chance(0.3) ? { subscribed: random.chance(0.5) } : {}),
  });
  expect(answer.status).toBe(200);
  await settle(a);
}

test("a backtest of random graphs and events finds what the live run did", async () => {
  const random = seeded(40);
  const runs: Run[] = [];
  for (let i = 0; i < RUNS; i++) runs.push(await makeRun(random, i));
  for (let i = 0; i < EVENTS; i++) {
    await moveClock(a, random.pick(JUMPS));
    await act(random, random.pick(runs));
  }
  await moveClock(a, DAY);
  let executions = 0;
  for (const { id } of runs) {
    const result = valueAt(await backtest(a, id), "result");
    expect({ id, ...replayed(result) }).toEqual({ id, ...lived(a, id) });
    executions += Number(valueAt(result, "started"));
  }
  expect(executions).toBeGreaterThan(RUNS);
}, 60_000);

test("a backtest tries a changed workflow, of which nothing is stored", async () => {
  const templateId = templates[0];
  const id = await a.workflow(
    { trigger: { type: "EVENT", eventName: "nobody.does" }, steps: [], transitions: [] },
    { enabled: false },
  );
  for (const email of ["one@example.com", "two@example.com"]) {
    await a.track("changed.go", undefined, email);
    await a.advance(DAY);
  }
  const stored = () => {
    const { workflows, workflow_versions, workflow_executions, contacts, events } = a.t.contents();
    return { workflows, workflow_versions, workflow_executions, contacts, events };
  };
  const before = stored();
  const workflow = {
    trigger: { type: "EVENT", eventName: "changed.go" },
    steps: [
      { id: "hello", type: "SEND_EMAIL", config: { templateId } },
      { id: "wait", type: "DELAY", config: { amount: 36, unit: "hours" } },
      { id: "again", type: "SEND_EMAIL", config: { templateId } },
    ],
    transitions: [
      { from: "hello", to: "wait" },
      { from: "wait", to: "again" },
    ],
  };
  const found = await backtest(a, id, { days: 30, workflow });
  expect(stored()).toEqual(before);
  expect(valueAt(found, "progress")).toEqual({ done: 2, total: 2 });
  expect(valueAt(found, "result.started")).toBe(2);
  const [mails] = listAt(found, "result.mails");
  expect(mails).toMatchObject({ templateId, total: 3, suppressed: 0 });
  const entered = listAt(found, "result.steps").map((step) => [
    stringAt(step, "stepId"),
    valueAt(step, "entered"),
  ]);
  expect(Object.fromEntries(entered)).toEqual({ trigger: 2, hello: 2, wait: 2, again: 1 });
  const [example] = listAt(found, "result.examples");
  expect(example).toMatchObject({ contactEmail: "one@example.com", status: "COMPLETED" });
});

test.each([
  ["days", { days: 0 }, 422],
  ["days", { days: 366 }, 422],
  ["workflow.steps.1.config.templateId", { days: 1, workflow: { steps: [BROKEN_STEP] } }, 422],
])("a backtest refuses a wrong %s", async (field, input, status) => {
  const id = await a.workflow(TRIGGER_ONLY);
  const answer = await a.t.call("POST", `/workflows/${id}/backtest`, input);
  expect([answer.status, answer.at("error.errors.0.field")]).toEqual([status, field]);
});

test("a workflow that is only started by hand has nothing to replay", async () => {
  const id = await a.workflow({ trigger: { type: "MANUAL" }, steps: [], transitions: [] });
  const answer = await a.t.call("POST", `/workflows/${id}/backtest`, { days: 1 });
  expect([answer.status, answer.at("error.code")]).toEqual([409, "INVALID_STATE"]);
});

test("a project has one backtest at a time, which can be cancelled", async () => {
  const id = await a.workflow(TRIGGER_ONLY);
  expect((await a.t.call("POST", `/workflows/${id}/backtest/cancel`)).status).toBe(409);
  await a.track("go");
  const [first, second] = await Promise.all([
    a.t.call("POST", `/workflows/${id}/backtest`, { days: 1 }),
    a.t.call("POST", `/workflows/${id}/backtest`, { days: 1 }),
  ]);
  expect([first.status, second.status].toSorted((x, y) => x - y)).toEqual([200, 409]);
  const cancelled = await a.t.call("POST", `/workflows/${id}/backtest/cancel`);
  expect(cancelled.at("data.status")).toBe("CANCELLED");
});
