/**
 * Compares the engine with the naive implementation on random graphs and random orders of events,
 * clock steps, and changes of contacts and of the workflow. All runs share one application and one
 * clock; each run has its own workflow, contacts and event names.
 *
 * In half of the runs, several events are recorded before the engine handles the first one, or while
 * it is stopped. In the others the engine handles each action before the next, and conditions test
 * contacts. The environment sets the seed and the number of runs: `SEED=7 RUNS=5000`.
 */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type TestApp, testApp } from "../../support/app.ts";
import { settleEventLoop } from "../../support/eventually.ts";
import { valueAt, listAt, stringAt } from "../../support/json.ts";
import { plain } from "../segments/crowd.ts";
import { type Random, seeded } from "../segments/seeded.ts";
import { KEYS, type Material, randomGraph, VALUES } from "./generate.ts";
import { type NaiveEvent, type NaiveExecution, NaiveWorkflow } from "./naive.ts";

const SEED = Number(process.env["SEED"] ?? 20260302);
const RUNS = Number(process.env["RUNS"] ?? 1000);
const BATCH = 100;
const TICKS = 7;
const SECOND = 1000;
const HOUR = 3600 * SECOND;
const JUMPS = [61 * SECOND, HOUR, 7 * HOUR, 25 * HOUR, 80 * HOUR];

type Run = {
  number: number;
  random: Random;
  isConcurrent: boolean;
  material: Material;
  naive: NaiveWorkflow;
  id: string;
  /** Ids of contacts by address, deleted ones included. */
  contacts: Map<string, string>;
  /** Events that the naive implementation has not handled yet. */
  unhandled: NaiveEvent[];
};

let t: TestApp;
let server: ReturnType<typeof Bun.serve>;
const templates: string[] = [];
let marketing = "";
const calls = new Map<string, number>();

beforeAll(async () => {
  server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: receive });
  // The test does not check the delivery of mails; a low rate saves its time.
  t = await testApp({ config: { allowPrivateAddresses: true, sendRate: 1 } });
  for (const type of ["MARKETING", "TRANSACTIONAL"]) {
    const template = { name: type, subject: "s", body: "b", type, from: "a@acme.test" };
    templates.push(await t.create("/templates", template, "data.id"));
  }
  [marketing = ""] = templates;
  await t.app.start();
});
afterAll(async () => {
  await t.close();
  await server.stop(true);
});

function receive({ url }: Request): Response {
  const [, run = "", path = ""] = new URL(url).pathname.split("/");
  calls.set(run, (calls.get(run) ?? 0) + 1);
  return new Response(null, { status: path === "fails" ? 400 : 200 });
}

async function makeRun(number: number): Promise<Run> {
  const random = seeded(SEED + 7919 * number);
  const isConcurrent = number % 2 === 1;
  const prefix = `r${number}`;
  const material: Material = {
    trigger: `${prefix}.go`,
    awaited: [`${prefix}.a`, `${prefix}.b`],
    templates,
    plain: templates[1] ?? "",
    webhooks:
      !isConcurrent && number % 8 === 0 ? `http://127.0.0.1:${server.port}/${number}` : null,
    readsContact: !isConcurrent,
  };
  const allowReentry = random.chance(0.5);
  const graph = randomGraph(random, material);
  const naive = new NaiveWorkflow(graph, { allowReentry, marketing: new Set([marketing]) });
  const workflow = { name: prefix, enabled: true, allowReentry, ...graph };
  const run: Run = {
    number,
    random,
    isConcurrent,
    material,
    naive,
    id: await t.create("/workflows", workflow, "data.id"),
    contacts: new Map(),
    unhandled: [],
  };
  for (let i = 0; i < 1 + random.int(2); i++) await addContact(run, `c${i}.${prefix}@example.com`);
  return run;
}

async function addContact({ random, contacts, naive }: Run, email: string): Promise<void> {
  const data = Object.fromEntries(random.list(2, () => [random.pick(KEYS), random.pick(VALUES)]));
  const subscribed = random.chance(0.7);
  contacts.set(email, await t.create("/contacts", { email, subscribed, data }, "id"));
  naive.contacts.set(email, { ...plain, email, subscribed, data: { ...data }, events: {} });
}

/** Takes one random action. `isAlone` is true if the engine handles it before the next action. */
async function act(run: Run, isAlone: boolean): Promise<void> {
  const { random, naive } = run;
  const email = random.pick([...run.contacts.keys()]);
  if (!naive.contacts.has(email)) return;
  const actions = [track, track, track, track];
  if (isAlone)
    actions.push(track, change, change, startManually, cancel, toggle, replace, deleteContact);
  await random.pick(actions)(run, email, isAlone);
}

/** Brings the naive implementation to the present time. */
function advanceInterpreter({ naive, unhandled }: Run): void {
  const now = t.clock.now();
  for (const event of unhandled.splice(0)) naive.event(event, now);
  naive.time(now);
}

type Action = (run: Run, email: string, isAlone: boolean) => Promise<void>;

const track: Action = async ({ random, naive, material, unhandled }, email, isAlone) => {
  const event = random.pick([material.trigger, material.trigger, ...material.awaited]);
  const resolved = Object.fromEntries(
    random.list(2, () => [random.pick(KEYS), random.pick(VALUES)]),
  );
  const isPersistent = isAlone && random.chance(0.5);
  const data = isPersistent
    ? resolved
    : Object.fromEntries(
        Object.entries(resolved).map(([key, value]) => [key, { value, persistent: false }]),
      );
  const answer = await t.call("POST", "/v1/track", { email, event, data });
  expect(answer.status).toBe(200);
  if (isPersistent) Object.assign(naive.contacts.get(email)?.data ?? {}, resolved);
  unhandled.push({ contact: email, name: event, data: resolved, at: t.clock.now() });
};

const change: Action = async ({ random, naive, contacts }, email) => {
  const person = naive.contacts.get(email);
  const subscribed = random.chance(0.5);
  const data = { [random.pick(KEYS)]: random.pick(VALUES) };
  const answer = await t.call("PATCH", `/contacts/${contacts.get(email)}`, { subscribed, data });
  expect(answer.status).toBe(200);
  if (person === undefined) return;
  person.subscribed = subscribed;
  Object.assign(person.data, data);
};

const startManually: Action = async ({ id, random, naive, contacts }, email) => {
  if (!naive.isEnabled) return;
  const context = { [random.pick(KEYS)]: random.pick(VALUES) };
  const body = { contactId: contacts.get(email), context };
  const answer = await t.call("POST", `/workflows/${id}/executions`, body);
  const isStarted = naive.start(email, context, t.clock.now());
  expect(answer.status).toBe(isStarted ? 201 : 409);
};

const cancel: Action = async ({ id, naive }, email) => {
  const index = naive.executions.findIndex((e) => e.contact === email && e.status === "WAITING");
  const execution = naive.executions[index];
  if (execution === undefined) return;
  const executionId = (await executionIds(id))[index];
  const answer = await t.call("POST", `/workflows/${id}/executions/${executionId}/cancel`);
  expect(answer.status).toBe(200);
  naive.cancel(execution);
};

const toggle: Action = async ({ id, naive }) => {
  naive.isEnabled = !naive.isEnabled;
  await t.call("PATCH", `/workflows/${id}`, { enabled: naive.isEnabled });
};

/** Replaces the graph; active executions continue with the old one. */
const replace: Action = async ({ id, random, naive, material }) => {
  naive.graph = randomGraph(random, material);
  const answer = await t.call("PATCH", `/workflows/${id}`, naive.graph);
  expect(answer.status).toBe(200);
};

const deleteContact: Action = async ({ random, naive, contacts }, email) => {
  if (random.chance(0.5)) return;
  expect((await t.call("DELETE", `/contacts/${contacts.get(email)}`)).status).toBe(204);
  naive.deleteContact(email);
};

/** Ids of all executions, oldest first. */
async function executionIds(id: string): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = ""; ;) {
    const answer = await t.call("GET", `/workflows/${id}/executions?limit=100${cursor}`);
    ids.push(...listAt(answer.body, "data.items").map((item) => stringAt(item, "id")));
    if (answer.at("data.hasMore") !== true) return ids.toReversed();
    cursor = `&cursor=${answer.text("data.nextCursor")}`;
  }
}

/** The state of the engine in the form of `expected`. */
async function observed({ id, naive, contacts }: Run): Promise<unknown> {
  const emails = new Map([...contacts].map(([email, contact]) => [contact, email]));
  const executions = await Promise.all(
    (await executionIds(id)).map(async (executionId) => {
      const { body } = await t.call("GET", `/workflows/${id}/executions/${executionId}`);
      const status = stringAt(body, "data.status");
      return {
        contact: emails.get(String(valueAt(body, "data.contactId"))) ?? null,
        status,
        at: status === "WAITING" ? valueAt(body, "data.currentStepId") : null,
        context: valueAt(body, "data.context"),
        exitReason: status === "EXITED" ? valueAt(body, "data.exitReason") : null,
        trail: listAt(body, "data.steps").map(trailOf),
      };
    }),
  );
  const people = await Promise.all(
    [...naive.contacts.keys()].map(async (email) => {
      const { body } = await t.call("GET", `/contacts/${contacts.get(email)}`);
      return { email, subscribed: valueAt(body, "subscribed"), data: valueAt(body, "data") };
    }),
  );
  return { executions, people, mails: mailsOf(id) };
}

function trailOf(step: unknown): string {
  const branch = valueAt(step, "branch");
  const mark = { COMPLETED: "", SKIPPED: "!", FAILED: "x" }[stringAt(step, "outcome")];
  return `${stringAt(step, "stepId")}${branch === null ? "" : `:${stringAt(step, "branch")}`}${mark}`;
}

function mailsOf(workflowId: string): string[] {
  return t.db.sqlite
    .query<{ mail: string }, [string]>(
      `SELECT coalesce(to_address, 'gone') || ' ' || template_id AS mail FROM emails
       WHERE execution_seq IN (
         SELECT seq FROM workflow_executions WHERE workflow_seq = (
           SELECT seq FROM workflows WHERE id = ?))`,
    )
    .all(workflowId)
    .map(({ mail }) => mail)
    .sort();
}

function expected({ naive, contacts }: Run): unknown {
  const isThere = (email: string) => naive.contacts.has(email);
  return {
    executions: naive.executions.map(({ contact, ...rest }: NaiveExecution) => ({
      contact: isThere(contact) ? contact : null,
      status: rest.status,
      at: rest.status === "WAITING" ? rest.at : null,
      // The context of a deleted contact is deleted.
      context: isThere(contact) ? rest.context : {},
      exitReason: rest.exitReason,
      trail: rest.trail,
    })),
    people: [...naive.contacts.values()].map(({ email, subscribed, data }) => ({
      email,
      subscribed,
      data,
    })),
    mails: naive.mails
      .map(({ to, template }) => {
        const isGone = contacts.has(to) && !isThere(to);
        return `${isGone ? "gone" : to} ${template}`;
      })
      .sort(),
  };
}

test(`the engine agrees with the naive implementation in ${RUNS} random runs`, async () => {
  const random = seeded(SEED);
  const runs: Run[] = [];
  // In batches, because the server limits the request bodies that are in flight.
  for (let first = 0; first < RUNS; first += BATCH) {
    const length = Math.min(BATCH, RUNS - first);
    runs.push(...(await Promise.all(Array.from({ length }, (_, i) => makeRun(first + i)))));
  }
  const concurrent = runs.filter(({ isConcurrent }) => isConcurrent);
  const sequential = runs.filter(({ isConcurrent }) => !isConcurrent);
  for (let tick = 0; tick < TICKS; tick++) {
    // The 7 ms give each tick other milliseconds, so that no two due times are equal.
    const isDown = random.chance(0.5);
    if (isDown) await t.app.automation.stop();
    t.clock.advance(random.pick(JUMPS) + 7);
    await Promise.all(concurrent.map(actConcurrently));
    if (isDown) {
      t.clock.advance(random.pick(JUMPS) + 7);
      await t.app.automation.start();
    }
    await settle();
    runs.forEach(advanceInterpreter);
    await Promise.all(sequential.map((run) => act(run, true)));
    await settle();
    sequential.forEach(advanceInterpreter);
  }
  let executions = 0;
  let steps = 0;
  const all = await Promise.all(runs.map(observed));
  for (const [i, run] of runs.entries()) {
    const seen = { run: run.number, ...Object(all[i]) };
    expect(seen).toEqual({ run: run.number, ...Object(expected(run)) });
    expect([run.number, calls.get(String(run.number)) ?? 0]).toEqual([
      run.number,
      run.naive.calls.length,
    ]);
    executions += run.naive.executions.length;
    steps += run.naive.executions.reduce((sum, { trail }) => sum + trail.length, 0);
  }
  // The runs must contain enough executions and steps to be a test.
  expect(executions).toBeGreaterThan(RUNS);
  expect(steps).toBeGreaterThan(3 * RUNS);
}, 120_000);

/** Resolves when the engine has no work left. */
async function settle(): Promise<void> {
  for (let i = 0; i < 3; i++) {
    await settleEventLoop();
    await t.app.automation.idle();
  }
}

/** Takes several actions without waiting for the engine. */
async function actConcurrently(run: Run): Promise<void> {
  for (let i = run.random.int(5); i > 0; i--) await act(run, false);
}
