/**
 * Compares the engine with the naive implementation on random graphs and random orders of events,
 * clock steps, and changes of contacts and of the workflow. All runs share one application and one
 * clock; each run has its own workflow, contacts and event names.
 *
 * In half of the runs, several events are recorded before the engine handles the first one, or while
 * it is stopped. In the others the engine handles each action before the next, and conditions test
 * contacts.
 */

import { expect } from "bun:test";
import { type Aim, limitAim, presenceAim } from "../../../scripts/bench/report.ts";
import { plain } from "../../modules/segments/crowd.ts";
import { type Random, seeded } from "../../modules/segments/seeded.ts";
import { splitBranch } from "../../../src/modules/workflows/steps/split.ts";
import { KEYS, type Material, randomGraph, VALUES } from "../../modules/workflows/generate.ts";
import {
  type NaiveEvent,
  type NaiveExecution,
  NaiveWorkflow,
} from "../../modules/workflows/naive.ts";
import { type TestApp, testApp } from "../../support/app.ts";
import { settleEventLoop } from "../../support/eventually.ts";
import { listAt, stringAt, valueAt } from "../../support/json.ts";

const BATCH = 100;
const TICKS = 7;
const SECOND = 1000;
const HOUR = 3600 * SECOND;
const JUMPS = [61 * SECOND, HOUR, 7 * HOUR, 25 * HOUR, 80 * HOUR];

type World = {
  t: TestApp;
  port: number;
  templates: readonly [marketing: string, transactional: string];
  /** Requests of webhook steps, by number of the run. */
  calls: ReadonlyMap<string, number>;
};

type Run = {
  t: TestApp;
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

/** Compares so many random runs. */
export async function compareWorkflows(size: { runs: number; seed: number }): Promise<Aim[]> {
  const calls = new Map<string, number>();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch({ url }) {
      const [, run = "", path = ""] = new URL(url).pathname.split("/");
      calls.set(run, (calls.get(run) ?? 0) + 1);
      return new Response(null, { status: path === "fails" ? 400 : 200 });
    },
  });
  // The delivery of mails is not compared; a low rate saves its time.
  const t = await testApp({ config: { allowPrivateAddresses: true, sendRate: 1 } });
  const createTemplate = (type: string) =>
    t.create(
      "/templates",
      { name: type, subject: "s", body: "b", type, from: "a@acme.test" },
      "data.id",
    );
  try {
    const templates = [
      await createTemplate("MARKETING"),
      await createTemplate("TRANSACTIONAL"),
    ] as const;
    await t.app.start();
    return await compareRuns({ t, port: server.port ?? 0, templates, calls }, size);
  } finally {
    await t.close();
    await server.stop(true);
  }
}

async function makeRun({ t, port, templates }: World, number: number, seed: number): Promise<Run> {
  const random = seeded(seed + 7919 * number);
  const isConcurrent = number % 2 === 1;
  const prefix = `r${number}`;
  const material: Material = {
    trigger: `${prefix}.go`,
    awaited: [`${prefix}.a`, `${prefix}.b`],
    templates,
    plain: templates[1],
    webhooks: !isConcurrent && number % 8 === 0 ? `http://127.0.0.1:${port}/${number}` : null,
    readsContact: !isConcurrent,
  };
  const allowReentry = random.chance(0.5);
  const graph = randomGraph(random, material);
  const contacts = new Map<string, string>();
  const naive = new NaiveWorkflow(graph, {
    allowReentry,
    marketing: new Set([templates[0]]),
    split: (contact, { id: stepId, config: { branches = [] } }) =>
      splitBranch(
        branches.map(({ id, weight = 0 }) => ({ id, weight })),
        { contactId: contacts.get(contact) ?? "", workflowId: run.id, stepId },
      ),
  });
  const workflow = { name: prefix, enabled: true, allowReentry, ...graph };
  const run: Run = {
    t,
    number,
    random,
    isConcurrent,
    material,
    naive,
    id: await t.create("/workflows", workflow, "data.id"),
    contacts,
    unhandled: [],
  };
  for (let i = 0; i < 1 + random.int(2); i++) await addContact(run, `c${i}.${prefix}@example.com`);
  return run;
}

async function addContact({ t, random, contacts, naive }: Run, email: string): Promise<void> {
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
function advanceInterpreter({ t, naive, unhandled }: Run): void {
  const now = t.clock.now();
  for (const event of unhandled.splice(0)) naive.event(event, now);
  naive.time(now);
  // Events that the steps cause come after all events that were in the log before.
  for (let event = naive.caused.shift(); event !== undefined; event = naive.caused.shift())
    naive.event(event, now);
}

type Action = (run: Run, email: string, isAlone: boolean) => Promise<void>;

const track: Action = async ({ t, random, naive, material, unhandled }, email, isAlone) => {
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

const change: Action = async ({ t, random, naive, contacts, unhandled }, email) => {
  const person = naive.contacts.get(email);
  const subscribed = random.chance(0.5);
  const data = { [random.pick(KEYS)]: random.pick(VALUES) };
  const answer = await t.call("PATCH", `/contacts/${contacts.get(email)}`, { subscribed, data });
  expect(answer.status).toBe(200);
  if (person === undefined) return;
  if (person.subscribed && !subscribed)
    unhandled.push({
      contact: email,
      name: "contact.unsubscribed",
      data: {},
      at: t.clock.now(),
    });
  person.subscribed = subscribed;
  Object.assign(person.data, data);
};

const startManually: Action = async ({ t, id, random, naive, contacts }, email) => {
  if (!naive.isEnabled) return;
  const context = { [random.pick(KEYS)]: random.pick(VALUES) };
  const body = { contactId: contacts.get(email), context };
  const answer = await t.call("POST", `/workflows/${id}/executions`, body);
  const isStarted = naive.start(email, context, t.clock.now());
  expect(answer.status).toBe(isStarted ? 201 : 409);
};

const cancel: Action = async ({ t, id, naive }, email) => {
  const index = naive.executions.findIndex((e) => e.contact === email && e.status === "WAITING");
  const execution = naive.executions[index];
  if (execution === undefined) return;
  const executionId = (await executionIds(t, id))[index];
  const answer = await t.call("POST", `/workflows/${id}/executions/${executionId}/cancel`);
  expect(answer.status).toBe(200);
  naive.cancel(execution);
};

const toggle: Action = async ({ t, id, naive }) => {
  naive.isEnabled = !naive.isEnabled;
  await t.call("PATCH", `/workflows/${id}`, { enabled: naive.isEnabled });
};

/** Replaces the graph; active executions continue with the old one. */
const replace: Action = async ({ t, id, random, naive, material }) => {
  naive.graph = randomGraph(random, material);
  const answer = await t.call("PATCH", `/workflows/${id}`, naive.graph);
  expect(answer.status).toBe(200);
};

const deleteContact: Action = async ({ t, random, naive, contacts }, email) => {
  if (random.chance(0.5)) return;
  expect((await t.call("DELETE", `/contacts/${contacts.get(email)}`)).status).toBe(204);
  naive.deleteContact(email);
};

/** Ids of all executions, oldest first. */
async function executionIds(t: TestApp, id: string): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = ""; ;) {
    const answer = await t.call("GET", `/workflows/${id}/executions?limit=100${cursor}`);
    ids.push(...listAt(answer.body, "data.items").map((item) => stringAt(item, "id")));
    if (answer.at("data.hasMore") !== true) return ids.toReversed();
    cursor = `&cursor=${answer.text("data.nextCursor")}`;
  }
}

/** The state of the engine in the form of `expected`. */
async function observed({ t, id, naive, contacts }: Run): Promise<unknown> {
  const emails = new Map([...contacts].map(([email, contact]) => [contact, email]));
  const executions = await Promise.all(
    (await executionIds(t, id)).map(async (executionId) => {
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
  return { executions, people, mails: mailsOf(t, id) };
}

function trailOf(step: unknown): string {
  const branch = valueAt(step, "branch");
  const mark = { COMPLETED: "", SKIPPED: "!", FAILED: "x" }[stringAt(step, "outcome")];
  return `${stringAt(step, "stepId")}${branch === null ? "" : `:${stringAt(step, "branch")}`}${mark}`;
}

function mailsOf(t: TestApp, workflowId: string): string[] {
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

async function compareRuns(world: World, size: { runs: number; seed: number }): Promise<Aim[]> {
  const { t, calls } = world;
  const random = seeded(size.seed);
  const runs: Run[] = [];
  // In batches, because the server limits the request bodies that are in flight.
  for (let first = 0; first < size.runs; first += BATCH) {
    const length = Math.min(BATCH, size.runs - first);
    const batch = Array.from({ length }, (_, i) => makeRun(world, first + i, size.seed));
    runs.push(...(await Promise.all(batch)));
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
    await settle(t);
    runs.forEach(advanceInterpreter);
    await Promise.all(sequential.map((run) => act(run, true)));
    await settle(t);
    sequential.forEach(advanceInterpreter);
  }
  const all = await Promise.all(runs.map(observed));
  for (const [i, run] of runs.entries()) {
    const name = { run: run.number, seed: size.seed };
    expect({ ...name, ...Object(all[i]) }).toEqual({ ...name, ...Object(expected(run)) });
  }
  const wrongCalls = runs.filter(
    ({ number, naive }) => (calls.get(String(number)) ?? 0) !== naive.calls.length,
  );
  const executions = runs.flatMap(({ naive }) => naive.executions);
  const steps = executions.reduce((sum, { trail }) => sum + trail.length, 0);
  return [
    limitAim("runs whose webhooks were called otherwise", wrongCalls.length),
    presenceAim("executions", executions.length, runs.length),
    presenceAim("steps", steps, 3 * runs.length),
  ];
}

/** Resolves when the engine has no work left. */
async function settle(t: TestApp): Promise<void> {
  for (let i = 0; i < 3; i++) {
    await settleEventLoop();
    await t.app.automation.idle();
  }
}

/** Takes several actions without waiting for the engine. */
async function actConcurrently(run: Run): Promise<void> {
  for (let i = run.random.int(5); i > 0; i--) await act(run, false);
}
