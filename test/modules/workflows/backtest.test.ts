/**
 * A backtest of recorded events finds what a live run of the same events did: random graphs run with a
 * clock that stops at each due time, and are then replayed from the log.
 */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Automation, DAY, HOUR, MINUTE, startAutomation } from "../../support/automation.ts";
import { waitUntilRead } from "../../support/eventually.ts";
import { listAt, stringAt, valueAt } from "../../support/json.ts";
import { type Random, seeded } from "../segments/seeded.ts";
import { KEYS, type Material, randomGraph, VALUES } from "./generate.ts";
import type { NaiveGraph } from "./naive.ts";

const RUNS = 8;
const EVENTS = 100;
const JUMPS = [7, 61_000, 10 * MINUTE, HOUR, 7 * HOUR, 25 * HOUR];

let a: Automation;
let templates: readonly [marketing: string, transactional: string];
beforeAll(async () => {
  a = await startAutomation();
  templates = [
    await a.template({ subject: "Hello {{ k }}" }),
    await a.template({ type: "TRANSACTIONAL" }),
  ];
});
afterAll(() => a.close());

/** Moves the clock, and stops at each time at which an execution is due. */
async function moveClock(ms: number): Promise<void> {
  const until = a.t.clock.now() + ms;
  const find = a.t.db.sqlite.query<{ at: number | null }, []>(
    "SELECT min(due_at) AS at FROM workflow_executions WHERE due_at IS NOT NULL",
  );
  for (let at = find.get()?.at ?? null; at !== null && at <= until; at = find.get()?.at ?? null) {
    await a.advance(Math.max(0, at - a.t.clock.now()));
  }
  await a.advance(until - a.t.clock.now());
}

/** The backtest when it has ended. */
async function backtest(workflowId: string, input: object = { days: 365 }): Promise<unknown> {
  const path = `/workflows/${workflowId}/backtest`;
  const started = await a.t.call("POST", path, input);
  expect([started.status, started.at("data.status")]).toEqual([200, "RUNNING"]);
  let last: unknown = null;
  await waitUntilRead(async () => {
    last = (await a.t.call("GET", path)).at("data.backtest");
    return valueAt(last, "status") !== "RUNNING";
  });
  if (valueAt(last, "status") !== "COMPLETED") throw new Error(JSON.stringify(last));
  return last;
}

type Counts = Record<string, number>;

function count(counts: Counts, key: string, n = 1): void {
  counts[key] = (counts[key] ?? 0) + n;
}

/** What the rows of a live run say, in the form of `replayed`. */
function lived(workflowId: string) {
  const ofWorkflow = "(SELECT seq FROM workflows WHERE id = ?)";
  const all = (sql: string) => a.t.db.sqlite.query<{ key: string }, [string]>(sql).all(workflowId);
  const tally = (sql: string) => {
    const counts: Counts = {};
    for (const { key } of all(sql)) count(counts, key);
    return counts;
  };
  const executions = `FROM workflow_executions e WHERE e.workflow_seq = ${ofWorkflow}`;
  return {
    started: tally(`SELECT date(started_at / 1000, 'unixepoch') AS key ${executions}`),
    endings: tally(`SELECT status || ' ' || coalesce(error, exit_reason, '') AS key ${executions}`),
    steps: tally(`
      SELECT s.step_id || ' ' || s.outcome AS key FROM workflow_execution_steps s
      WHERE s.execution_seq IN (SELECT e.seq ${executions})`),
    branches: tally(`
      SELECT s.step_id || ':' || s.branch AS key FROM workflow_execution_steps s
      WHERE s.branch IS NOT NULL AND s.execution_seq IN (SELECT e.seq ${executions})`),
    mails: tally(`
      SELECT template_id || ' ' || date(created_at / 1000, 'unixepoch') AS key FROM emails
      WHERE execution_seq IN (SELECT e.seq ${executions})`),
  };
}

/** The counts of a backtest as one list for each kind. */
function replayed(result: unknown): ReturnType<typeof lived> {
  const found: ReturnType<typeof lived> = {
    started: {},
    endings: {},
    steps: {},
    branches: {},
    mails: {},
  };
  for (const day of listAt(result, "days")) {
    const started = Number(valueAt(day, "started"));
    if (started > 0) count(found.started, stringAt(day, "day"), started);
  }
  for (const ending of listAt(result, "endings")) {
    const hasReason = valueAt(ending, "reason") !== null;
    const key = `${stringAt(ending, "status")} ${hasReason ? stringAt(ending, "reason") : ""}`;
    count(found.endings, key, Number(valueAt(ending, "count")));
  }
  for (const step of listAt(result, "steps")) {
    const id = stringAt(step, "stepId");
    for (const outcome of ["completed", "skipped", "failed"]) {
      const n = Number(valueAt(step, outcome));
      if (n > 0) count(found.steps, `${id} ${outcome.toUpperCase()}`, n);
    }
    for (const branch of listAt(step, "branches")) {
      const key = `${id}:${stringAt(branch, "branch")}`;
      count(found.branches, key, Number(valueAt(branch, "count")));
    }
  }
  for (const mail of listAt(result, "mails")) {
    for (const day of listAt(mail, "days")) {
      const key = `${stringAt(mail, "templateId")} ${stringAt(day, "day")}`;
      count(found.mails, key, Number(valueAt(day, "count")));
    }
  }
  return found;
}

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
  const id = await a.workflow(graph, { allowReentry });
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
  await a.settle();
}

test("a backtest of random graphs and events finds what the live run did", async () => {
  const random = seeded(40);
  const runs: Run[] = [];
  for (let i = 0; i < RUNS; i++) runs.push(await makeRun(random, i));
  for (let i = 0; i < EVENTS; i++) {
    await moveClock(random.pick(JUMPS));
    await act(random, random.pick(runs));
  }
  await moveClock(DAY);
  let executions = 0;
  for (const { id } of runs) {
    const result = valueAt(await backtest(id), "result");
    expect({ id, ...replayed(result) }).toEqual({ id, ...lived(id) });
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
  const stored = () => ({ ...a.t.contents(), readers: [] });
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
  const found = await backtest(id, { days: 30, workflow });
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
