/** The logic of the pages of workflows without a browser: layout, texts, the way of an execution. */

import { describe, expect, test } from "bun:test";
import type { Config, Graph, StepKind } from "../../src/dashboard/pages/workflows/editor/draft.ts";
import { leftAt, pathOf } from "../../src/dashboard/pages/workflows/execution-path.ts";
import { numbersOf } from "../../src/dashboard/pages/workflows/editor/outline.ts";
import {
  type Box,
  type LaidWay,
  layoutOf,
  STEP_SIZE,
} from "../../src/dashboard/pages/workflows/canvas/layout.ts";
import { edgesOf, pictureOf, shapeOf } from "../../src/dashboard/pages/workflows/canvas/picture.ts";
import {
  openingView,
  revealing,
  smallestZoom,
} from "../../src/dashboard/pages/workflows/canvas/viewport.ts";
import {
  branchWord,
  settingsText,
  spanText,
} from "../../src/dashboard/pages/workflows/step-texts.ts";

/** `a>b` are lines with their text as key, and `a>` is an open end. */
const ways = (...texts: string[]): LaidWay[] =>
  texts.map((key) => {
    const [from = "", to = ""] = key.split(">");
    return { key, from, to: to === "" ? null : to, hasWord: false };
  });
const overlaps = (one: Box, other: Box) =>
  one.x < other.x + other.width &&
  other.x < one.x + one.width &&
  one.y < other.y + other.height &&
  other.y < one.y + one.height;

describe("the layout of a graph", () => {
  const { width, height } = STEP_SIZE;
  const middles = (ids: readonly string[], given: readonly LaidWay[]) => {
    const { steps } = layoutOf(ids, given, true);
    return ids.map((id) => (steps.get(id)?.x ?? 0) + width / 2);
  };

  test("puts a chain below each other, with a button on the line and at the end", () => {
    const layout = layoutOf(["a", "b"], ways("a>b", "b>"), true);
    const [a, b] = ["a", "b"].map((id) => layout.steps.get(id));
    expect(a).toEqual({ x: 24, y: 24, width, height });
    expect(b?.x).toBe(24);
    const line = layout.lines.get("a>b") ?? [];
    expect(line.at(0)).toEqual({ x: 24 + width / 2, y: 24 + height });
    expect(line.at(-1)).toEqual({ x: 24 + width / 2, y: b?.y ?? 0 });
    const button = layout.labels.get("a>b");
    expect(button).toMatchObject({ x: 24 + width / 2 - 12, width: 24, height: 24 });
    expect(button?.y).toBeWithin(24 + height, (b?.y ?? 0) - 24);
    expect(layout.ends.get("b>")?.y).toBeGreaterThan((b?.y ?? 0) + height);
    expect(layout.width).toBe(width + 48);
  });

  test("puts branches beside each other in their order, below the middle of their step", () => {
    const [a = 0, b = 0, c = 0, d = 0] = middles(
      ["a", "b", "c", "d"],
      ways("a>b", "a>c", "b>d", "c>d"),
    );
    expect(c - b).toBe(width + 32);
    expect([a, d]).toEqual([(b + c) / 2, (b + c) / 2]);
    const [, one = 0, , other = 0] = middles(["a", "b", "x", "c"], ways("a>c", "a>b", "b>x"));
    expect(one).toBeGreaterThan(other);
  });

  test("draws loops upwards, also that of a step to itself", () => {
    const { lines, steps } = layoutOf(["a", "b", "c"], ways("a>b", "b>c", "c>b", "c>c"), true);
    const [b, c] = ["b", "c"].map((id) => steps.get(id));
    const back = lines.get("c>b") ?? [];
    expect([back.at(0)?.y, back.at(-1)?.y]).toEqual([c?.y, (b?.y ?? 0) + height]);
    const self = lines.get("c>c") ?? [];
    expect(self.map(({ x }) => x > (c?.x ?? 0) + width)).toEqual([false, true, true, false]);
  });

  test("leaves out lines to steps that do not exist", () => {
    const { steps, lines } = layoutOf(["a"], ways("a>x", "x>a", "x>"), true);
    expect([[...steps.keys()], lines.size]).toEqual([["a"], 0]);
  });

  test("100 steps and their buttons never overlap, and lie within the picture", () => {
    const ids = Array.from({ length: 100 }, (_, i) => `s${i}`);
    // Each step leads to two later ones, and every tenth back to the first.
    const given = ids.flatMap((id, i) => [
      ...(i * 2 + 1 < 100 ? ways(`${id}>s${i * 2 + 1}`) : []),
      ...(i + 7 < 100 ? ways(`${id}>s${i + 7}`) : []),
      ...(i % 10 === 9 ? ways(`${id}>s0`) : []),
    ]);
    const layout = layoutOf(ids, given, true);
    const boxes = [...layout.steps.values(), ...layout.labels.values()];
    const pairs = boxes.flatMap((one, i) => boxes.slice(i + 1).map((other) => [one, other]));
    expect(pairs.filter(([one, other]) => one && other && overlaps(one, other))).toEqual([]);
    const outside = boxes.filter(
      (box) =>
        Math.min(box.x, box.y) < 0 ||
        box.x + box.width > layout.width ||
        box.y + box.height > layout.height,
    );
    expect(outside).toEqual([]);
    expect(layout.lines.size).toBe(new Set(given.map(({ key }) => key)).size);
    expect(layoutOf(ids, given, true)).toEqual(layout);
  });
});

describe("the picture of a graph", () => {
  const step = (id: string, type: StepKind, config: Config = {}) => ({
    id,
    type,
    config,
    name: "",
    position: { x: 0, y: 0 },
  });
  const way = (from: string, to: string, branch: string | null = null) => ({
    id: `${from}-${to}`,
    from,
    to,
    branch,
  });
  const graph: Graph = {
    steps: [step("end", "EXIT"), step("t", "TRIGGER"), step("c", "CONDITION"), step("w", "DELAY")],
    transitions: [way("c", "end", "no"), way("t", "c"), way("c", "w", "yes")],
  };
  const placesOf = (isEditable: boolean) =>
    pictureOf(graph, isEditable).nodes.map(({ data }) =>
      "step" in data ? data.step : [data.place.from, data.word, data.hasButton],
    );

  test("has the steps in the order of the list, each before the places of its branches", () => {
    const ids = [...numbersOf(graph)].toSorted(([, a], [, b]) => a - b).map(([id]) => id);
    expect(ids).toEqual(["t", "c", "w", "end"]);
    expect(placesOf(true)).toEqual([
      "t",
      ["t", null, true],
      "c",
      ["c", "Yes", true],
      ["c", "No", true],
      "w",
      ["w", null, true],
      "end",
    ]);
    expect(placesOf(false)).toEqual([
      "t",
      "c",
      ["c", "Yes", false],
      ["c", "No", false],
      "w",
      "end",
    ]);
  });

  test("marks the transitions that an execution took, and draws no arrow to an open end", () => {
    const edges = edgesOf(pictureOf(graph, true), new Set(["t-c"]));
    expect(
      edges.map(({ source, target, data, markerEnd }) => [
        source,
        target.startsWith("[") ? "an end" : target,
        data?.isTaken,
        markerEnd !== undefined,
      ]),
    ).toEqual([
      ["t", "c", true, true],
      ["c", "w", false, true],
      ["c", "end", false, true],
      ["w", "an end", false, false],
    ]);
  });

  test("stays the same when a setting changes, unless it changes the branches", () => {
    const edited = (id: string, config: Config): Graph => ({
      ...graph,
      steps: graph.steps.map((each) => (each.id === id ? { ...each, config } : each)),
    });
    expect(shapeOf(edited("w", { amount: 2 }))).toBe(shapeOf(graph));
    expect(shapeOf(edited("c", { branches: [{ id: "a" }] }))).not.toBe(shapeOf(graph));
  });
});

describe("the view of the canvas", () => {
  const frame = { width: 1_000, height: 600 };
  const start = { x: 400, y: 24, ...STEP_SIZE };

  test("opens with the whole graph if that is readable, else with the beginning at full size", () => {
    expect(openingView({ width: 800, height: 400 }, start, frame)).toEqual({
      x: 100,
      y: 0,
      zoom: 1,
    });
    expect(openingView({ width: 1_250, height: 400 }, start, frame).zoom).toBe(0.8);
    const view = openingView({ width: 5_000, height: 9_000 }, start, frame);
    expect(view).toEqual({ x: 500 - 512, y: 0, zoom: 1 });
  });

  test.each([
    [{ width: 500, height: 500 }, 0.25],
    [{ width: 500, height: 6_000 }, 0.1],
    [{ width: 500, height: 90_000 }, 0.02],
  ])("can show a graph of %j with a zoom of %d", (size, zoom) => {
    expect(smallestZoom(size, frame)).toBe(zoom);
  });

  test.each([
    ["in view", { x: 0, y: 0, zoom: 1 }, [0, 0]],
    ["at the left and above", { x: -500, y: -100, zoom: 1 }, [124, 100]],
    ["at the right and below", { x: 500, y: 560, zoom: 1 }, [-148, -76]],
    ["at the right of a small picture", { x: 900, y: 0, zoom: 0.5 }, [-236, 12]],
  ])("moves by the shortest way to a step %s", (_, view, move) => {
    expect(revealing(start, view, frame)).toEqual([move[0] ?? 0, move[1] ?? 0]);
  });

  test("shows a step that is larger than the frame from its beginning", () => {
    expect(revealing(start, { x: 0, y: 0, zoom: 1 }, { width: 200, height: 600 })[0]).toBe(
      24 - 400,
    );
  });
});

describe("the settings of a step in words", () => {
  test.each<[StepKind, Config, string]>([
    ["TRIGGER", { eventName: "signed_up" }, "on signed_up"],
    ["SEND_EMAIL", { templateId: "t" }, ""],
    ["DELAY", { amount: 1, unit: "days" }, "1 day"],
    ["DELAY", { amount: 90, unit: "minutes" }, "90 minutes"],
    ["WAIT_FOR_EVENT", { eventName: "bought" }, "bought"],
    ["WAIT_FOR_EVENT", { eventName: "bought", timeout: 86_400 }, "bought, at most 1 day"],
    ["WAIT_FOR_EVENT", { eventName: "bought", timeout: 90 }, "bought, at most 90 seconds"],
    [
      "CONDITION",
      { field: "data.plan", operator: "equals", value: "pro" },
      'data.plan equals "pro"',
    ],
    ["CONDITION", { field: "data.plan", operator: "exists" }, "data.plan exists"],
    ["CONDITION", { condition: {} }, "a condition of several filters"],
    ["CONDITION", { condition: null }, "no condition yet"],
    [
      "CONDITION",
      {
        condition: {
          groups: [{ filters: [{ field: "subscribed", operator: "equals", value: true }] }],
        },
      },
      "subscribed equals true",
    ],
    ["UPDATE_CONTACT", {}, "no change yet"],
    [
      "CONDITION",
      { mode: "multi", field: "data.plan", branches: [{}, {}] },
      "data.plan: 2 branches",
    ],
    ["WEBHOOK", { method: "POST", url: "https://a.example/" }, "POST https://a.example/"],
    [
      "UPDATE_CONTACT",
      { updates: { a: 1, b: 2 }, subscriptionAction: "subscribe" },
      "set a, b, subscribe",
    ],
    ["EXIT", {}, ""],
    ["TRIGGER", { type: "MANUAL" }, "by hand"],
    ["TRIGGER", { type: "SCHEDULE", cron: "0 9 * * 1-5" }, "every weekday at 09:00"],
    [
      "TIME_WINDOW",
      { days: ["FRI", "MON", "TUE", "WED", "THU"], from: "09:00", to: "17:00" },
      "Mon to Fri, 09:00 to 17:00",
    ],
    [
      "TIME_WINDOW",
      { days: ["SAT", "SUN"], from: "22:00", to: "02:00" },
      "Sat, Sun, 22:00 to 02:00",
    ],
    [
      "SPLIT",
      {
        branches: [
          { id: "A", weight: 1 },
          { id: "B", weight: 3 },
        ],
      },
      "A 25 %, B 75 %",
    ],
  ])("%s %j", (type, config, expected) => {
    expect(settingsText({ type, config })).toBe(expected);
  });

  test.each([
    [null, null],
    ["yes", "Yes"],
    ["timeout", "Not in time"],
    ["own-branch", "own-branch"],
  ])("the branch %j", (branch, expected) => {
    expect(branchWord(branch)).toBe(expected);
  });

  test.each([
    [-5, "0 ms"],
    [850, "850 ms"],
    [1_000, "1 s"],
    [200_000, "3 min 20 s"],
    [7_200_000, "2 h"],
    [187_200_000, "2 d 4 h"],
  ])("a span of %i ms", (ms, expected) => {
    expect(spanText(ms)).toBe(expected);
  });
});

describe("the way of an execution", () => {
  const at = (minute: number) => `2026-03-01T12:0${minute}:00.000Z`;
  const taken = (stepId: string, minute: number, rest: object = {}) => ({
    id: `${stepId}${minute}`,
    stepId,
    type: "DELAY",
    name: null,
    outcome: "COMPLETED" as const,
    branch: null,
    detail: null,
    startedAt: at(minute),
    completedAt: at(minute + 1),
    ...rest,
  });
  const graph = {
    steps: [{ id: "a" }, { id: "b" }, { id: "c" }],
    transitions: [
      { id: "ab", from: "a", to: "b", branch: "yes" },
      { id: "ac", from: "a", to: "c", branch: "no" },
      { id: "ba", from: "b", to: "a", branch: null },
    ],
  };

  test("names the steps that ran, the present one and the transitions between them", () => {
    const steps = [
      taken("a", 0, { branch: "yes" }),
      taken("b", 1, { outcome: "SKIPPED", detail: { reason: "Ada is not subscribed." } }),
      taken("a", 2, { branch: "no" }),
    ];
    const path = pathOf({ steps, currentStepId: "c", startedAt: at(0) }, graph);
    expect([...path.runs]).toEqual([
      [
        "a",
        {
          state: "COMPLETED",
          times: 2,
          startedAt: at(2),
          completedAt: at(3),
          skippedBecause: null,
        },
      ],
      [
        "b",
        {
          state: "SKIPPED",
          times: 1,
          startedAt: at(1),
          completedAt: at(2),
          skippedBecause: "Ada is not subscribed.",
        },
      ],
      [
        "c",
        { state: "CURRENT", times: 1, startedAt: at(3), completedAt: null, skippedBecause: null },
      ],
    ]);
    expect([...path.transitions]).toEqual(["ab", "ba", "ac"]);
    expect(path.missing).toBe(0);
  });

  test("names the step at which the execution was ended early", () => {
    const steps = [taken("a", 0, { branch: "no" })];
    const path = pathOf({ steps, currentStepId: null, startedAt: at(0), leftAt: at(4) }, graph);
    expect(path.runs.get("c")).toEqual({
      state: "LEFT",
      times: 1,
      startedAt: at(1),
      completedAt: at(4),
      skippedBecause: null,
    });
    expect([...path.transitions]).toEqual(["ac"]);
    expect(leftAt({ status: "EXITED", completedAt: at(4) })).toBe(at(4));
    expect(leftAt({ status: "COMPLETED", completedAt: at(4) })).toBe(null);
  });

  test("counts the steps that the graph does not have any more", () => {
    const steps = [taken("old", 0), taken("a", 1)];
    const path = pathOf({ steps, currentStepId: null, startedAt: at(0) }, graph);
    expect([path.missing, [...path.transitions]]).toEqual([1, []]);
  });

  test("an execution that has not taken a step is at its first one since its start", () => {
    const path = pathOf({ steps: [], currentStepId: "a", startedAt: at(5) }, graph);
    expect([...path.runs]).toEqual([
      [
        "a",
        { state: "CURRENT", times: 1, startedAt: at(5), completedAt: null, skippedBecause: null },
      ],
    ]);
  });
});
