/** Tests the pure functions: engine, due times, tests on the context. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { checkFilter } from "../../../src/modules/segments/condition/filter.ts";
import {
  advance,
  begin,
  type Occurrence,
  type Progress,
} from "../../../src/modules/workflows/run/engine.ts";
import type { Graph, Step } from "../../../src/modules/workflows/graph/graph.ts";
import { pathsOf } from "../../../src/modules/workflows/graph/paths.ts";
import { nextTryAt } from "../../../src/lib/backoff.ts";
import { CALL_BACKOFF, delayMs, MAX_TRIES } from "../../../src/modules/workflows/run/due-times.ts";
import { type TestApp, testApp } from "../../support/app.ts";
import { DAY, HOUR, MINUTE } from "../../support/automation.ts";
import { plain } from "../segments/crowd.ts";
import { matchesFilter } from "../segments/naive.ts";

const NOW = Date.parse("2026-03-02T10:00:00.000Z");
const head = (id: string) => ({ id, name: id, position: { x: 0, y: 0 } });
const TRIGGER: Step = { ...head("start"), type: "TRIGGER", config: { eventName: "a" } };

function chainOf(...steps: Step[]): Graph {
  const all = [TRIGGER, ...steps];
  const transitions = steps.map(({ id }, i) => ({ id: `t${i}`, from: all[i]?.id ?? "", to: id }));
  return { steps: all, transitions };
}

/** Applies occurrences in order; those that do not concern the execution are ignored. */
function progressAfter(graph: Graph, occurrences: readonly [Occurrence, now: number][]): Progress {
  const paths = pathsOf(graph);
  return occurrences.reduce(
    (progress, [occurrence, now]) =>
      advance(paths, progress, occurrence, now)?.progress ?? progress,
    begin(paths, { context: {}, eventSeq: null, now: NOW }),
  );
}

const done: [Occurrence, number] = [{ kind: "done", result: { outcome: "COMPLETED" } }, NOW];
const event = (name: string, at: number, data = {}): [Occurrence, number] => [
  { kind: "event", event: { seq: 1, name, data, at } },
  at,
];
const time = (now: number): [Occurrence, number] => [{ kind: "time" }, now];

describe("the engine", () => {
  const wait: Step = {
    ...head("wait"),
    type: "WAIT_FOR_EVENT",
    config: { eventName: "b", timeout: 60 },
  };
  const delay: Step = { ...head("wait"), type: "DELAY", config: { amount: 1, unit: "hours" } };
  const call: Step = {
    ...head("call"),
    type: "WEBHOOK",
    config: { url: "https://a.test", method: "POST" },
  };

  test("begins at the TRIGGER, due for a TURN", () => {
    expect(progressAfter(chainOf(), [])).toMatchObject({
      status: "RUNNING",
      stepId: "start",
      dueFor: "TURN",
    });
  });

  test("completes the execution if no step follows", () => {
    expect(progressAfter(chainOf(), [done])).toMatchObject({
      status: "COMPLETED",
      stepId: null,
      stepCount: 1,
    });
  });

  test.each([
    ["before the delay is over", time(NOW + HOUR - 1), "WAITING"],
    ["when it is over", time(NOW + HOUR), "COMPLETED"],
    ["a day later", time(NOW + DAY), "COMPLETED"],
    ["an event", event("b", NOW), "WAITING"],
  ])("handles a delay: %s", (_, occurrence, status) => {
    expect(progressAfter(chainOf(delay), [done, occurrence])).toMatchObject({ status });
  });

  test.each([
    ["another event", event("c", NOW), "WAITING", {}],
    ["its event", event("b", NOW, { x: 1 }), "COMPLETED", { x: 1 }],
    ["its event in the last millisecond", event("b", NOW + 60_000), "COMPLETED", {}],
    ["its event too late", event("b", NOW + 60_001), "WAITING", {}],
    ["its time, not over yet", time(NOW + 60_000), "WAITING", {}],
    ["its time, over", time(NOW + 60_001), "COMPLETED", {}],
  ])("handles a wait for an event: %s", (_, occurrence, status, context) => {
    expect(progressAfter(chainOf(wait), [done, occurrence])).toMatchObject({ status, context });
  });

  test("retries a webhook call that fails, and fails the step after the last try", () => {
    const callFailed: [Occurrence, number] = [
      { kind: "callFailed", reason: "No.", retryAfterMs: null, random: 0.5 },
      NOW,
    ];
    const tries = (n: number) => Array.from({ length: n }, () => callFailed);
    expect(progressAfter(chainOf(call), [done, ...tries(1)])).toMatchObject({
      status: "RUNNING",
      dueFor: "CALL",
      dueAt: NOW + MINUTE,
      tries: 1,
      error: "No.",
    });
    expect(progressAfter(chainOf(call), [done, ...tries(MAX_TRIES - 1)]).status).toBe("RUNNING");
    expect(progressAfter(chainOf(call), [done, ...tries(MAX_TRIES)])).toMatchObject({
      status: "FAILED",
      stepId: "call",
      dueFor: null,
    });
  });

  test("ignores occurrences after the end", () => {
    const ended = progressAfter(chainOf(), [done]);
    for (const occurrence of [done, event("b", NOW), time(NOW + DAY)]) {
      expect(advance(pathsOf(chainOf()), ended, ...occurrence)).toBeNull();
    }
  });

  test("stops an endless loop after 10,000 steps", () => {
    const graph = chainOf(delay);
    const round = {
      ...graph,
      transitions: [...graph.transitions, { id: "r", from: "wait", to: "wait" }],
    };
    const paths = pathsOf(round);
    let progress = progressAfter(round, [done]);
    let rounds = 0;
    while (progress.status === "WAITING") {
      progress =
        advance(paths, progress, { kind: "time" }, progress.dueAt ?? 0)?.progress ?? progress;
      rounds++;
    }
    expect(rounds).toBe(9_999);
    expect(progress).toMatchObject({ status: "FAILED" });
    expect(progress.error).toContain("10000 steps");
  });
});

describe("retries of webhook calls", () => {
  const at = (tries: number, rest: { retryAfterMs?: number; random?: number } = {}) =>
    nextTryAt(CALL_BACKOFF, {
      tries,
      now: 0,
      retryAfterMs: rest.retryAfterMs ?? null,
      random: rest.random ?? 0.5,
    });

  test("end after eight tries in about a day", () => {
    const delays = Array.from({ length: 7 }, (_, i) => at(i + 1) ?? Number.NaN);
    const hours = delays.reduce((sum, ms) => sum + ms, 0) / HOUR;
    expect(hours).toBeGreaterThan(22);
    expect(hours).toBeLessThan(26);
    expect(at(8)).toBeNull();
  });

  test("vary by a fifth and never come before Retry-After", () => {
    expect([at(1, { random: 0 }), at(1, { random: 1 })]).toEqual([0.8 * MINUTE, 1.2 * MINUTE]);
    expect(at(1, { retryAfterMs: HOUR, random: 0 })).toBe(HOUR);
    expect(at(1, { retryAfterMs: 1000 * DAY, random: 0 })).toBe(DAY);
  });
});

/** Compares every operator on every kind of value with an evaluator that uses no SQL. */
describe("tests on the context agree with a simple evaluator of contacts' data", () => {
  let t: TestApp;
  beforeAll(async () => {
    t = await testApp();
  });
  afterAll(() => t.close());
  const values: unknown[] = [
    null, "", "a", "Ab", "abc", "é", "😀", "\uffff", "5", "true", "[1]", "{}", 0, 1, -1, 5, 5.5,
    1e21, 9_007_199_254_740_992, true, false, [], [1, "a"], ["a", null, true], [[1]], {},
    { b: 1 }, "2026-03-01", "2026-03-02T09:00:00Z", "2026-03-02T12:00:00+02:00",
    "2026-03-02T10:00:00.001Z", "2026-02-31", "2026-03-02T25:00:00Z", "2026", "now", 1772445600,
  ]; // prettier-ignore
  const scalars = ["", "a", "A", "é", "5", "true", "[1]", 0, 1, 5, 5.5, -1, true, false];
  const filters = [
    ...["equals", "notEquals", "contains", "notContains"].flatMap((operator) =>
      scalars.map((value) => ({ operator, value })),
    ),
    ...["greaterThan", "greaterThanOrEqual", "lessThan", "lessThanOrEqual"].flatMap((operator) =>
      [
        ...scalars.filter((value) => typeof value === "number"),
        "2026-03-02",
        "2026-03-02T10:00:00Z",
      ].map((value) => ({ operator, value })),
    ),
    ...["in", "notIn"].flatMap((operator) => [
      { operator, value: ["a", 5, true] },
      { operator, value: [0, "5", false] },
    ]),
    { operator: "exists" },
    { operator: "notExists" },
    ...["within", "olderThan"].flatMap((operator) => [
      { operator, value: 1, unit: "days" },
      { operator, value: 30, unit: "minutes" },
    ]),
  ];
  const roots: Record<string, unknown>[] = [
    {},
    ...values.flatMap((x) => [{ x }, { x: { b: x } }]),
    { x: [{ b: 1 }] },
  ];

  test.each(["x", "x.b", "x.0", "toString", "__proto__.a"])("at %s", (path) => {
    let compared = 0;
    let matched = 0;
    for (const filter of filters) {
      const asked = { field: `data.${path}`, ...filter };
      const checked = checkFilter(asked, "f");
      if (!checked.ok || checked.value.test.kind !== "field")
        throw new Error(JSON.stringify(filter));
      const { test: checkedTest } = checked.value;
      for (const root of roots) {
        const text = JSON.stringify(root);
        const { audiences } = t.app.segments;
        const here = audiences.holdsForData(checkedTest, root, { projectSeq: 1, now: NOW });
        const contact = { ...plain, data: root };
        const expected = matchesFilter({ now: NOW, dynamic: {} }, contact, asked);
        expect([filter, text, here]).toEqual([filter, text, expected]);
        compared++;
        matched += Number(here);
      }
    }
    expect(compared).toBeGreaterThan(5_000);
    if (path.startsWith("x")) expect(matched).toBeGreaterThan(50);
  });
});

describe("a delay", () => {
  test.each([
    [1, "minutes", 60_000],
    [90, "minutes", 5_400_000],
    [1, "hours", 3_600_000],
    [1, "days", 86_400_000],
    [365, "days", 31_536_000_000],
  ] as const)("of %i %s is %i ms", (amount, unit, ms) => {
    expect(delayMs({ amount, unit })).toBe(ms);
  });
});
