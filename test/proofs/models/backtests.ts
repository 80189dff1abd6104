/**
 * Compares backtests with live runs: random graphs, events and choices of contacts run with a clock that
 * stops at each due time, and are then replayed from the log.
 */

import { expect } from "bun:test";
import { type Aim, limitAim, presenceAim } from "../../../scripts/bench/report.ts";
import { type Random, seeded } from "../../modules/segments/seeded.ts";
import { KEYS, type Material, randomGraph, VALUES } from "../../modules/workflows/generate.ts";
import {
  backtest,
  lived,
  moveClock,
  replayed,
  settle,
} from "../../modules/workflows/live-and-replayed.ts";
import type { NaiveGraph } from "../../modules/workflows/naive.ts";
import { type Automation, DAY, HOUR, MINUTE, startAutomation } from "../../support/automation.ts";
import { valueAt } from "../../support/json.ts";

const JUMPS = [7, 61_000, 10 * MINUTE, HOUR, 7 * HOUR, 25 * HOUR];

/** `events` happen to the contacts of `workflows`. */
export async function compareBacktests(size: {
  workflows: number;
  events: number;
  seed: number;
}): Promise<Aim[]> {
  // The delivery of mails is not compared; a low rate saves its time.
  const a = await startAutomation({ config: { sendRate: 1 } });
  try {
    return await compareIn(await makeWorld(a), size);
  } finally {
    await a.close();
  }
}

async function makeWorld(a: Automation): Promise<World> {
  const topic = { name: "News", default: "SUBSCRIBED" };
  const topicId = await a.t.create("/topics", topic, "data.id");
  const templates = [
    await a.template({ subject: "Hello {{ k }}", topicId }),
    await a.template({ type: "TRANSACTIONAL" }),
  ] as const;
  return { a, templates, topicId };
}

async function compareIn(
  world: World,
  { workflows, events, seed }: { workflows: number; events: number; seed: number },
): Promise<Aim[]> {
  const { a } = world;
  const random = seeded(seed);
  const runs: Run[] = [];
  for (let i = 0; i < workflows; i++) runs.push(await makeRun(world, random, i));
  for (let i = 0; i < events; i++) {
    await moveClock(a, random.pick(JUMPS));
    const act = random.chance(0.85) ? track : choose;
    await act(a, random, random.pick(runs));
    await settle(a);
  }
  await moveClock(a, DAY);
  let executions = 0;
  let different = 0;
  for (const { id } of runs) {
    const result = valueAt(await backtest(a, id), "result");
    const [found, expected] = [replayed(result), lived(a, id)];
    if (!Bun.deepEquals(found, expected)) {
      different++;
      console.error(JSON.stringify({ seed, id, found, expected }, null, 1));
    }
    executions += Number(valueAt(result, "started"));
  }
  return [
    limitAim("workflows whose backtest differs from the live run", different),
    presenceAim("executions", executions, workflows),
  ];
}

type World = { a: Automation; templates: readonly [string, string]; topicId: string };
type Run = { id: string; topicId: string; material: Material; people: readonly string[] };

async function makeRun(
  { a, templates, topicId }: World,
  random: Random,
  number: number,
): Promise<Run> {
  const [, plain] = templates;
  const material: Material = {
    trigger: `r${number}.go`,
    awaited: [`r${number}.a`, `r${number}.b`, "contact.unsubscribed"],
    templates,
    plain,
    webhooks: null,
    readsContact: true,
  };
  const graph = withNewKinds(random, randomGraph(random, material), material);
  const isScheduled = number % 4 === 3;
  // A delay of days ends in the same millisecond as the next time of the schedule. The order of the two
  // is then undefined, and it decides whether the contact may enter again.
  const allowReentry = !isScheduled && random.chance(0.6);
  const given = isScheduled ? await scheduled(a, random, { graph, number }) : graph;
  const id = await a.workflow(given, { allowReentry });
  const people = Array.from(
    { length: 1 + random.int(3) },
    (_, i) => `c${i}.r${number}@example.com`,
  );
  return { id, topicId, material, people };
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
async function scheduled(
  a: Automation,
  random: Random,
  { graph, number }: { graph: ReturnType<typeof withNewKinds>; number: number },
) {
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
async function track(a: Automation, random: Random, { material, people }: Run): Promise<void> {
  const names = [material.trigger, material.trigger, ...material.awaited.slice(0, 2)];
  const data = Object.fromEntries(random.list(2, () => [random.pick(KEYS), random.pick(VALUES)]));
  const answer = await a.t.call("POST", "/v1/track", {
    email: random.pick(people),
    event: random.pick(names),
    data,
    ...(random.chance(0.3) ? { subscribed: random.chance(0.5) } : {}),
  });
  expect(answer.status).toBe(200);
}

/** A contact joins or leaves the topic, or pauses marketing mail. */
async function choose(a: Automation, random: Random, { people, topicId }: Run): Promise<void> {
  const id = a.contactId(random.pick(people));
  if (id === "") return;
  const pausedUntil = new Date(a.t.clock.now() + 2 * DAY).toISOString();
  const topics = [{ topicId, subscribed: random.chance(0.5) }];
  const answer = random.chance(0.3)
    ? await a.t.call("PATCH", `/contacts/${id}`, { pausedUntil })
    : await a.t.call("PUT", `/contacts/${id}/topics`, { topics });
  expect(answer.status).toBe(200);
}
