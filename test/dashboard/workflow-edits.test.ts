/** The edits of a workflow's graph without a browser: by tables, and at random against the server's check. */

import { beforeAll, describe, expect, test } from "bun:test";
import {
  bodyOf,
  branchesOf,
  type Config,
  type DraftStep,
  type Graph,
  graphBody,
  type StepKind,
  type Way,
  type WorkflowDraft,
} from "../../src/dashboard/pages/workflows/editor/draft.ts";
import {
  cronOf,
  cronText,
  minuteOf,
  planOf,
} from "../../src/dashboard/pages/workflows/editor/cron.ts";
import { faultsOf } from "../../src/dashboard/pages/workflows/editor/faults.ts";
import { nextTimes } from "../../src/dashboard/pages/workflows/editor/next-times.ts";
import { bodyValue } from "../../src/dashboard/pages/workflows/editor/body-value.ts";
import {
  configure,
  connect,
  deleteStep,
  freeStepId,
  insertStep,
  moveDown,
  moveUp,
  openEnds,
  renameId,
  takenBranches,
} from "../../src/dashboard/pages/workflows/editor/graph-edits.ts";
import {
  noHistory,
  recorded,
  redone,
  undone,
} from "../../src/dashboard/pages/workflows/editor/history.ts";
import {
  numbersOf,
  outlineOf,
  type OutlineStep,
} from "../../src/dashboard/pages/workflows/editor/outline.ts";
import { defineFormats } from "../../src/http/formats.ts";
import { checkGraph } from "../../src/modules/workflows/graph/validate.ts";

beforeAll(defineFormats);

const CONFIGS: Readonly<Record<Exclude<StepKind, "TRIGGER">, Config>> = {
  SEND_EMAIL: { templateId: "t" },
  DELAY: { amount: 1, unit: "days" },
  WAIT_FOR_EVENT: { eventName: "opened", timeout: 60 },
  TIME_WINDOW: { days: ["MON"], from: "09:00", to: "17:00", timeZone: "UTC" },
  CONDITION: { field: "data.plan", operator: "equals", value: "pro" },
  SPLIT: {
    branches: [
      { id: "A", weight: 1 },
      { id: "B", weight: 2 },
    ],
  },
  WEBHOOK: { url: "https://crm.example/", method: "POST" },
  UPDATE_CONTACT: { updates: { lead: true } },
  EXIT: {},
};
const isKind = (text: string): text is keyof typeof CONFIGS => text in CONFIGS;
const KINDS = Object.keys(CONFIGS).filter(isKind);

const step = (id: string, type: StepKind = "DELAY", config?: Config): DraftStep => ({
  id,
  type,
  name: "",
  position: { x: 0, y: 0 },
  config: config ?? (isKind(type) ? CONFIGS[type] : { eventName: "e" }),
});
const TRIGGER = step("trigger", "TRIGGER");

/** `a>b` and `a:yes>b` are transitions; `end` is no step. */
function graph(kinds: Readonly<Record<string, StepKind>>, ...ways: string[]): Graph {
  const steps = [TRIGGER, ...Object.entries(kinds).map(([id, type]) => step(id, type))];
  return {
    steps,
    transitions: ways.map((text): Way => {
      const [, from = "", branch = null, to = ""] = /^([^:>]+)(?::([^>]+))?>(.+)$/.exec(text) ?? [];
      return { id: "", from, branch: branch ?? null, to };
    }),
  };
}

/** The transitions and the ids of the steps, in an order of their own. */
const shown = ({ steps, transitions }: Graph) => [
  steps.map(({ id }) => id).toSorted(),
  transitions
    .map(({ from, branch, to }) => `${from}${branch === null ? "" : `:${branch}`}>${to}`)
    .toSorted(),
];
const expectGraph = (found: Graph | null, steps: string[], ways: string[]) =>
  expect(found === null ? null : shown(found)).toEqual([
    ["trigger", ...steps].toSorted(),
    ways.toSorted(),
  ]);

const CHAIN = graph({ a: "DELAY", b: "SEND_EMAIL" }, "trigger>a", "a>b");
const FORK = graph(
  { c: "CONDITION", a: "DELAY", b: "SEND_EMAIL", z: "EXIT" },
  "trigger>c",
  "c:yes>a",
  "c:no>b",
  "a>z",
  "b>z",
);

describe("edits of a graph", () => {
  test("a step is inserted into a way, and at an open end", () => {
    const at = { from: "trigger", branch: null };
    expectGraph(insertStep(CHAIN, at, step("n")), ["a", "b", "n"], ["trigger>n", "n>a", "a>b"]);
    const fork = insertStep(CHAIN, at, step("n", "CONDITION"));
    expectGraph(fork, ["a", "b", "n"], ["trigger>n", "n:yes>a", "a>b"]);
    expect(openEnds(fork)).toEqual([
      { from: "b", branch: null },
      { from: "n", branch: "no" },
    ]);
    const exit = insertStep(CHAIN, { from: "b", branch: null }, step("n", "EXIT"));
    expectGraph(exit, ["a", "b", "n"], ["trigger>a", "a>b", "b>n"]);
    // Steps after an inserted end are not reached any more.
    expectGraph(insertStep(CHAIN, at, step("n", "EXIT")), ["n"], ["trigger>n"]);
  });

  test("a deletion joins the steps before and after, and removes the branches that do not stay", () => {
    expectGraph(deleteStep(CHAIN, "a", null), ["b"], ["trigger>b"]);
    expectGraph(deleteStep(CHAIN, "b", null), ["a"], ["trigger>a"]);
    expect(takenBranches(FORK, "c")).toEqual(["yes", "no"]);
    expectGraph(deleteStep(FORK, "c", "no"), ["b", "z"], ["trigger>b", "b>z"]);
    const loop = graph({ a: "WAIT_FOR_EVENT", b: "DELAY" }, "trigger>a", "a:timeout>b", "b>a");
    expectGraph(deleteStep(loop, "b", null), ["a"], ["trigger>a"]);
    expectGraph(deleteStep(loop, "a", "timeout"), ["b"], ["trigger>b"]);
  });

  test("a way is led to another step, or ends; steps that nothing reaches are removed", () => {
    const place = { from: "c", branch: "yes" };
    expectGraph(
      connect(FORK, place, "b"),
      ["b", "c", "z"],
      ["trigger>c", "c:yes>b", "c:no>b", "b>z"],
    );
    expectGraph(connect(FORK, place, null), ["b", "c", "z"], ["trigger>c", "c:no>b", "b>z"]);
    expectGraph(
      connect(CHAIN, { from: "b", branch: null }, "a"),
      ["a", "b"],
      ["trigger>a", "a>b", "b>a"],
    );
  });

  test("settings keep the steps of branches that stay or are renamed", () => {
    const branches = [
      { id: "pro", operator: "equals", value: 1 },
      { id: "team", operator: "equals", value: 2 },
    ];
    const multi = { mode: "multi", field: "data.plan", branches };
    const several = configure(FORK, "c", multi, { yes: "pro", no: "default" });
    expectGraph(
      several,
      ["a", "b", "c", "z"],
      ["trigger>c", "c:pro>a", "c:default>b", "a>z", "b>z"],
    );
    expectGraph(configure(FORK, "c", multi), ["c"], ["trigger>c"]);
    const wait = graph({ w: "WAIT_FOR_EVENT", a: "DELAY" }, "trigger>w", "w:timeout>a");
    expectGraph(
      configure(wait, "w", { eventName: "x", timeout: 0 }),
      ["a", "w"],
      ["trigger>w", "w:timeout>a"],
    );
    expectGraph(configure(wait, "w", { eventName: "x" }), ["w"], ["trigger>w"]);
    // Typing into the settings of a step changes neither the transitions nor the picture.
    expect(configure(FORK, "a", { amount: 2, unit: "days" }).transitions).toBe(FORK.transitions);
  });

  test("plain steps are exchanged with their neighbours", () => {
    const three = graph({ a: "DELAY", b: "SEND_EMAIL", c: "WEBHOOK" }, "trigger>a", "a>b", "b>c");
    expectGraph(moveUp(three, "b"), ["a", "b", "c"], ["trigger>b", "b>a", "a>c"]);
    expectGraph(moveDown(three, "b"), ["a", "b", "c"], ["trigger>a", "a>c", "c>b"]);
    expect(moveUp(three, "a")).toBeNull();
    expect(moveDown(three, "c")).toBeNull();
    expect(moveUp(FORK, "a")).toBeNull();
    expect(moveUp(FORK, "z")).toBeNull();
  });

  test("a step gets another id, which no other step has", () => {
    expectGraph(renameId(CHAIN, "a", "n"), ["b", "n"], ["trigger>n", "n>b"]);
    expect(renameId(CHAIN, "a", "b")).toBe(CHAIN);
    expect(freeStepId(graph({ delay: "DELAY", "delay-2": "DELAY" }), "DELAY")).toBe("delay-3");
  });
});

/** Numbers from 0 to 1 that are the same in each run (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

test("the server takes every graph that random edits make, apart from loops without a wait", () => {
  const random = randomFrom(7);
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  let now: Graph = { steps: [TRIGGER], transitions: [] };
  for (let i = 0; i < 600; i++) {
    const some = pick(now.steps) ?? TRIGGER;
    const place = pick(openEnds(now)) ?? { from: "trigger", branch: null };
    const way = pick(now.transitions) ?? place;
    const chance = random();
    if (chance < 0.5 && now.steps.length < 60) {
      const type = pick(KINDS) ?? "DELAY";
      const made = step(freeStepId(now, type), type);
      now = insertStep(now, chance < 0.25 && type !== "EXIT" ? way : place, made);
    } else if (some.type === "TRIGGER") continue;
    else if (chance < 0.6)
      now = deleteStep(now, some.id, pick(takenBranches(now, some.id)) ?? null);
    else if (chance < 0.75) now = connect(now, place, some.id);
    else if (chance < 0.8) now = connect(now, way, null);
    else if (chance < 0.9) now = moveUp(now, some.id) ?? now;
    else now = renameId(now, some.id, `r${i}`);
    const checked = checkGraph(graphBody(now));
    const faults = checked.ok ? [] : checked.errors;
    expect(faults.filter(({ message }) => !message.includes("part of a cycle"))).toEqual([]);
    const ids = now.steps.map(({ id }) => id).toSorted();
    expect([...numbersOf(now).keys()].toSorted()).toEqual(ids);
    expect([...numbersOf(now).values()].toSorted((a, b) => a - b)).toEqual(
      ids.map((_, k) => k + 1),
    );
  }
  expect(now.steps.length).toBeGreaterThan(20);
});

test("branches are those of the server", () => {
  for (const type of KINDS) {
    const checked = checkGraph(graphBody(graph({ s: type }, "trigger>s")));
    expect(checked.ok).toBe(true);
    const last = step("n", "DELAY");
    for (const branch of branchesOf(step("s", type))) {
      const next = insertStep(graph({ s: type }, "trigger>s"), { from: "s", branch }, last);
      expect(checkGraph(graphBody(next)).ok).toBe(true);
    }
  }
});

test("the outline nests branches, and the step where they meet follows them", () => {
  const text = (items: readonly OutlineStep[]): unknown[] =>
    items.map(({ step: { id }, ways }) => {
      const nested = ways.filter(({ branch }) => branch !== null);
      if (nested.length === 0) return id;
      return { [id]: Object.fromEntries(ways.map(({ branch, steps }) => [branch, text(steps)])) };
    });
  expect(text(outlineOf(CHAIN))).toEqual(["trigger", "a", "b"]);
  expect(text(outlineOf(FORK))).toEqual(["trigger", { c: { yes: ["a"], no: ["b"] } }, "z"]);
  const jump = graph({ c: "CONDITION", a: "DELAY" }, "trigger>c", "c:yes>a", "c:no>a");
  expect(text(outlineOf(jump))).toEqual(["trigger", { c: { yes: [], no: [] } }, "a"]);
  const loop = graph({ w: "WAIT_FOR_EVENT", a: "DELAY" }, "trigger>w", "w:timeout>a", "a>w");
  expect(text(outlineOf(loop))).toEqual(["trigger", { w: { null: [], timeout: ["a"] } }]);
  const [, w] = outlineOf(loop);
  expect(w?.ways[1]?.steps[0]?.ways[0]).toMatchObject({ to: "w", isElsewhere: true });
});

test("edits are undone and redone, and the typing in one field is one edit", () => {
  let history = noHistory<string>();
  history = recorded(history, "a", null);
  history = recorded(history, "b", "name");
  history = recorded(history, "bc", "name");
  const first = undone(history, "bcd");
  expect(first?.value).toBe("b");
  if (first === null) throw new Error("nothing was recorded");
  expect(undone(first.history, "b")?.value).toBe("a");
  expect(redone(first.history, "b")?.value).toBe("bcd");
  expect(redone(recorded(first.history, "b", null), "x")).toBeNull();
});

describe("schedules in words", () => {
  test.each([
    ["0 9 * * *", "every day at 09:00"],
    ["30 8 * * 1-5", "every weekday at 08:30"],
    ["5 17 * * 1,4", "every Monday, Thursday at 17:05"],
    ["0 0 15 * *", "on day 15 of every month at 00:00"],
    ["20 * * * *", "every hour at minute 20"],
    ["*/5 * * * *", "by the schedule */5 * * * *"],
    ["0 9 1 1 *", "by the schedule 0 9 1 1 *"],
    ["0 24 * * *", "by the schedule 0 24 * * *"],
    ["60 1 * * *", "by the schedule 60 1 * * *"],
    ["0 9 0 * *", "by the schedule 0 9 0 * *"],
  ])("%s", (cron, text) => {
    expect(cronText(cron)).toBe(text);
    const plan = planOf(cron);
    if (plan !== null) expect(cronOf(plan)).toBe(cron);
  });

  test("the next times follow the clock of the zone", () => {
    const march = Date.parse("2026-03-28T12:00:00Z");
    const times = nextTimes("30 2 * * *", "Europe/Berlin", march)?.map((at) =>
      new Date(at).toISOString(),
    );
    // The clock skips this time on 29 March.
    expect(times?.at(-1)).toBe("2026-03-31T00:30:00.000Z");
    expect(nextTimes("61 * * * *", "UTC", march)).toBeNull();
    expect(nextTimes("0 9 * *", "UTC", march)).toBeNull();
    expect([minuteOf("09:05"), minuteOf("24:00"), minuteOf("")]).toEqual([545, null, null]);
  });
});

const DRAFT: WorkflowDraft = {
  ...FORK,
  name: " Welcome ",
  description: "",
  allowReentry: false,
  exits: [],
};

test("a body has the changed fields, and the whole graph with its trigger", () => {
  expect(bodyOf(DRAFT, ["name", "description"])).toEqual({ name: "Welcome", description: null });
  const body = bodyOf(DRAFT, ["transitions"]);
  expect(body).toMatchObject({ trigger: { type: "EVENT", eventName: "e" } });
  expect(Object.keys(body).toSorted()).toEqual(["steps", "transitions", "trigger"]);
});

test("faults belong to their steps", () => {
  const fault = (field: string, message = "is required") => ({ field, message, code: "required" });
  expect(
    faultsOf(
      [
        fault("steps.2.config.amount", 'must be a number, in step "a"'),
        fault("transitions.1.from"),
        fault("trigger.cron"),
        fault("name"),
        fault("steps.99.id"),
      ],
      DRAFT,
    ).map(({ step: owner, field, message }) => [owner?.id ?? null, field, message]),
  ).toEqual([
    ["a", "config.amount", "must be a number"],
    ["c", "transition.from", "is required"],
    ["trigger", "config.cron", "is required"],
    [null, "name", "is required"],
    [null, "steps.99.id", "is required"],
  ]);
});

test.each([
  ['{"a": 1}', { a: 1 }],
  ['["{{ n }}"]', ["{{ n }}"]],
  ["a={{ n }}", "a={{ n }}"],
  ["12", "12"],
])("the body %s of a call", (text, value) => {
  expect(bodyValue(text)).toEqual(value);
});
