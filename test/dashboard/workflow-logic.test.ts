/** The logic of the pages of workflows without a browser: layout, texts, the way of an execution. */

import { describe, expect, test } from "bun:test";
import type { Config, StepKind } from "../../src/dashboard/pages/workflows/editor/draft.ts";
import { leftAt, pathOf } from "../../src/dashboard/pages/workflows/execution-path.ts";
import { type Edge, layersOf } from "../../src/dashboard/pages/workflows/layout/layers.ts";
import { GAP, layoutOf, STEP_SIZE } from "../../src/dashboard/pages/workflows/layout/layout.ts";
import {
  branchWord,
  settingsText,
  spanText,
} from "../../src/dashboard/pages/workflows/step-texts.ts";

/** `a>b` are edges with their text as id. */
const edges = (...texts: string[]): Edge[] =>
  texts.map((id) => {
    const [from = "", to = ""] = id.split(">");
    return { id, from, to };
  });
const keysOf = (ids: readonly string[], given: readonly Edge[]) =>
  layersOf(ids, given).rows.map((row) => row.map(({ key }) => key));

describe("the layers of a graph", () => {
  test.each([
    [["a"], [], [["a"]]],
    [["a", "b"], ["a>b"], [["a"], ["b"]]],
    [["b", "a"], ["a>b"], [["a"], ["b"]]],
    [
      ["a", "b", "c", "d"],
      ["a>b", "a>c", "b>d", "c>d"],
      [["a"], ["b", "c"], ["d"]],
    ],
    // An edge that passes a layer has a bend in it.
    [
      ["a", "b", "c"],
      ["a>b", "b>c", "a>c"],
      [["a"], ["b", "a>c 1"], ["c"]],
    ],
    // Edges to steps that do not exist are left out.
    [["a"], ["a>x", "x>a"], [["a"]]],
  ])("%j with %j", (ids, given, expected) => {
    expect(keysOf(ids, edges(...given))).toEqual(expected);
  });

  test("edges of cycles are set aside, also that of a step to itself", () => {
    const { rows, back } = layersOf(["a", "b", "c"], edges("a>b", "b>c", "c>b", "c>c"));
    expect(rows.map((row) => row.map(({ key }) => key))).toEqual([["a"], ["b"], ["c"]]);
    expect(back.map(({ id }) => id).toSorted()).toEqual(["c>b", "c>c"]);
  });
});

describe("the layout of a graph", () => {
  const { width, height } = STEP_SIZE;

  test("puts a chain below each other", () => {
    const layout = layoutOf(["a", "b"], edges("a>b"));
    expect([...layout.places]).toEqual([
      ["a", { x: 24, y: 24 }],
      ["b", { x: 24, y: 24 + height + GAP.y }],
    ]);
    expect(layout.lines.get("a>b")).toEqual([
      { x: 24 + width / 2, y: 24 + height },
      { x: 24 + width / 2, y: 24 + height + GAP.y },
    ]);
    expect([layout.width, layout.height]).toEqual([width + 48, 2 * height + GAP.y + 48]);
  });

  test("puts two branches beside each other, below the middle of their step", () => {
    const { places } = layoutOf(["a", "b", "c"], edges("a>b", "a>c"));
    const [a, b, c] = ["a", "b", "c"].map((id) => places.get(id)?.x ?? 0);
    expect(Math.abs((b ?? 0) - (c ?? 0))).toBe(width + 32);
    expect(a).toBe(((b ?? 0) + (c ?? 0)) / 2);
  });

  test("leads a cycle along the right side", () => {
    const layout = layoutOf(["a", "b"], edges("a>b", "b>a"));
    const line = layout.lines.get("b>a") ?? [];
    expect(line[0]?.x).toBe(24 + width);
    expect(line[1]?.x).toBeGreaterThan(24 + width);
    expect(line[3]).toEqual({ x: 24 + width, y: 24 + height / 2 });
  });

  test("steps of 500 never overlap, and lie within the sheet", () => {
    const ids = Array.from({ length: 500 }, (_, i) => `s${i}`);
    // Each step leads to two later ones, and every tenth back to the first.
    const given = ids.flatMap((id, i) => [
      ...(i * 2 + 1 < 500 ? edges(`${id}>s${i * 2 + 1}`) : []),
      ...(i + 7 < 500 ? edges(`${id}>s${i + 7}`) : []),
      ...(i % 10 === 9 ? edges(`${id}>s0`) : []),
    ]);
    const layout = layoutOf(ids, given);
    const boxes = [...layout.places.values()];
    const overlaps = boxes.flatMap((one, i) =>
      boxes
        .slice(i + 1)
        .filter((other) => Math.abs(one.x - other.x) < width && Math.abs(one.y - other.y) < height),
    );
    expect(overlaps).toEqual([]);
    const outside = boxes.filter(
      ({ x, y }) => x < 0 || y < 0 || x + width > layout.width || y + height > layout.height,
    );
    expect(outside).toEqual([]);
    expect(layout.lines.size).toBe(new Set(given.map(({ id }) => id)).size);
  });

  test("the same graph has the same picture", () => {
    const given = edges("a>b", "a>c", "b>d", "c>d");
    const ids = ["a", "b", "c", "d"];
    expect(layoutOf(ids, given)).toEqual(layoutOf(ids, given));
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
