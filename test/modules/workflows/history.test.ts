/** Tests copies and versions of workflows, forecasts of entries, and series. */

import { beforeEach, describe, expect, test } from "bun:test";
import { diffGraphs } from "../../../src/modules/workflows/graph/diff.ts";
import type { Graph, Step } from "../../../src/modules/workflows/graph/graph.ts";
import { SERIES } from "../../../src/modules/workflows/series.ts";
import { type Automation, automationPerTest } from "../../support/automation.ts";
import { chain, delay, type Given, step } from "./graphs.ts";

const next = automationPerTest();
let a: Automation;
beforeEach(async () => {
  a = await next();
});

const patch = (id: string, body: Given, headers: Record<string, string> = {}) =>
  a.t.call("PATCH", `/workflows/${id}`, body, { headers });

describe("PATCH /workflows/{id}", () => {
  test("with If-Match changes only the revision that was read", async () => {
    const id = await a.workflow(chain(delay("wait")));
    const read = await a.t.call("GET", `/workflows/${id}`);
    expect(read.headers.get("etag")).toBe('"1"');
    const first = await patch(id, { name: "One" }, { "if-match": '"1"' });
    expect([first.status, first.headers.get("etag")]).toEqual([200, '"2"']);
    const second = await patch(id, { name: "Two" }, { "if-match": '"1"' });
    expect([second.status, second.at("error.code")]).toEqual([412, "REVISION_CONFLICT"]);
    expect((await a.t.call("GET", `/workflows/${id}`)).at("data.name")).toBe("One");
  });
});

describe("POST /workflows/{id}/duplicate", () => {
  test("makes a copy with the same graph that is not enabled", async () => {
    const exits = [{ on: "UNSUBSCRIBED" }];
    const id = await a.workflow(chain(delay("wait")), { exits, allowReentry: true });
    const copy = await a.t.call("POST", `/workflows/${id}/duplicate`);
    const { data } = Object((await a.t.call("GET", `/workflows/${id}`)).body);
    expect(copy.status).toBe(201);
    expect(copy.at("data")).toEqual({
      ...data,
      id: copy.text("data.id"),
      name: "Flow copy",
      enabled: false,
    });
    expect(copy.text("data.id")).not.toBe(id);
  });
});

describe("the versions of a workflow", () => {
  test("name their author and their changes, and can be restored", async () => {
    const id = await a.workflow(chain(delay("wait", 2)));
    await patch(id, { ...chain(delay("wait", 3), step("end", "EXIT")) });
    await patch(id, { exits: [{ on: "EVENT", eventName: "bought" }] });
    const list = await a.t.call("GET", `/workflows/${id}/versions`);
    const items: { number: number; current: boolean; author: { kind: string } }[] = Object(
      list.at("data.items"),
    );
    expect(items.map(({ number, current, author }) => [number, current, author.kind])).toEqual([
      [3, true, "KEY"],
      [2, false, "KEY"],
      [1, false, "KEY"],
    ]);
    const second = await a.t.call("GET", `/workflows/${id}/versions/2`);
    expect(second.at("data.changes")).toEqual({
      against: 1,
      steps: [
        {
          kind: "CHANGED",
          stepId: "wait",
          name: "DELAY",
          type: "DELAY",
          fields: [{ field: "config.amount", before: 2, after: 3 }],
        },
        { kind: "ADDED", stepId: "end", name: "EXIT", type: "EXIT", fields: [] },
      ],
      transitions: [{ kind: "ADDED", from: "wait", branch: null, before: null, after: "end" }],
      exits: [],
    });
    const third = await a.t.call("GET", `/workflows/${id}/versions/3?against=2`);
    expect(third.at("data.changes.exits")).toEqual([
      { kind: "ADDED", exit: { on: "EVENT", eventName: "bought" } },
    ]);
    const { data: first } = Object((await a.t.call("GET", `/workflows/${id}/versions/1`)).body);
    expect(first.changes.against).toBeNull();
    const { trigger, steps, transitions, exits } = first;
    const restored = await patch(id, { trigger, steps, transitions, exits });
    expect(restored.at("data.steps")).toEqual(steps);
    expect(restored.at("data.exits")).toEqual([]);
  });

  test.each(["0", "4", "-1", "1.5", "x"])("do not have the number %s", async (number) => {
    const id = await a.workflow(chain(delay("wait")));
    expect((await a.t.call("GET", `/workflows/${id}/versions/${number}`)).status).toBe(404);
  });
});

describe("diffGraphs", () => {
  const position = { x: 0, y: 0 };
  const trigger: Step = {
    id: "t",
    type: "TRIGGER",
    name: "T",
    position,
    config: { eventName: "e" },
  };
  const exit: Step = { id: "x", type: "EXIT", name: "X", position, config: {} };
  const base: Graph = {
    steps: [trigger, exit],
    transitions: [{ id: "1", from: "t", to: "x" }],
  };
  const update = (updates: Record<string, unknown>): Step => ({
    ...exit,
    id: "u",
    type: "UPDATE_CONTACT",
    config: { updates },
  });

  test("finds nothing in equal graphs, whatever the positions, ids and order of members are", () => {
    const moved: Graph = {
      steps: [{ ...exit, position: { x: 9, y: 9 } }, trigger],
      transitions: [{ id: "other", from: "t", to: "x" }],
      exits: [],
    };
    expect(diffGraphs(base, moved)).toEqual({ steps: [], transitions: [], exits: [] });
    const one = { ...base, steps: [...base.steps, update({ a: { x: 1, y: [1] }, b: 2 })] };
    const other = { ...base, steps: [...base.steps, update({ b: 2, a: { y: [1], x: 1 } })] };
    expect(diffGraphs(one, other).steps).toEqual([]);
  });

  test("finds a changed type, a removed step and another target", () => {
    const after: Graph = {
      steps: [trigger, update({ a: 1 })],
      transitions: [{ id: "1", from: "t", to: "u" }],
    };
    const { steps, transitions } = diffGraphs(base, after);
    expect(steps.map(({ kind, stepId }) => [kind, stepId])).toEqual([
      ["ADDED", "u"],
      ["REMOVED", "x"],
    ]);
    expect(transitions).toEqual([
      { kind: "CHANGED", from: "t", branch: null, before: "x", after: "u" },
    ]);
    const retyped = diffGraphs(base, { ...base, steps: [trigger, { ...update({}), id: "x" }] });
    expect(retyped.steps[0]?.fields.map(({ field }) => field)).toEqual(["type", "config.updates"]);
  });
});

describe("GET /workflows/{id}/entry-forecast", () => {
  const forecast = async (body: Given) => {
    const id = await a.workflow({ steps: [step("end", "EXIT")], ...body }, { enabled: false });
    return Object((await a.t.call("GET", `/workflows/${id}/entry-forecast`)).at("data"));
  };

  test("counts the contacts that had the event in the last 30 days", async () => {
    await a.track("paid", {}, "ada@example.net");
    await a.track("paid", {}, "ada@example.net");
    await a.track("paid", {}, "bob@example.net");
    const found = await forecast({ trigger: { type: "EVENT", eventName: "paid" } });
    expect(found).toMatchObject({ type: "EVENT", recentContacts: 2, members: null, nextTimes: [] });
    expect(await forecast({ trigger: { type: "EVENT", eventName: "never" } })).toMatchObject({
      recentContacts: 0,
    });
  });

  test("counts the members for a schedule, and shows its next times", async () => {
    await a.track("x");
    const trigger = { type: "SCHEDULE", cron: "30 2 29 3 *", timeZone: "Europe/Berlin" };
    const found = await forecast({ trigger });
    expect(found.members).toBe(1);
    // In 2026 the clocks skip this time.
    expect(found.nextTimes[0]).toBe("2026-03-29T01:00:00.000Z");
    expect(found.nextTimes).toHaveLength(3);
  });

  test("says that no contact enters by itself", async () => {
    const { text } = await forecast({ trigger: { type: "MANUAL" } });
    expect(text).toContain("Nobody");
  });
});

describe("POST /workflow-series", () => {
  for (const { id: seriesId, templates } of SERIES) {
    test(`makes a workflow of ${seriesId} that can be enabled`, async () => {
      const answer = await a.t.call("POST", "/workflow-series", {
        seriesId,
        timeZone: "europe/berlin",
      });
      expect(answer.status).toBe(201);
      expect(answer.at("data.templates")).toHaveLength(Object.keys(templates).length);
      expect(answer.at("data.workflow.enabled")).toBe(false);
      const enabled = await patch(answer.text("data.workflow.id"), { enabled: true });
      expect(enabled.status).toBe(200);
    });
  }

  test("refuses an unknown series and zone, and makes nothing then", async () => {
    for (const body of [{ seriesId: "none" }, { seriesId: "birthday", timeZone: "Mars" }]) {
      expect((await a.t.call("POST", "/workflow-series", body)).status).toBe(422);
    }
    expect((await a.t.call("GET", "/templates")).at("data.total")).toBe(0);
  });

  test("congratulates contacts on their birthday", async () => {
    const person = (email: string, birthday: string) =>
      a.t.call("POST", "/contacts", { email, subscribed: true, data: { birthday } });
    await person("ada@example.net", "1990-03-02");
    await person("bob@example.net", "1990-03-03");
    const answer = await a.t.call("POST", "/workflow-series", { seriesId: "birthday" });
    const id = answer.text("data.workflow.id");
    await patch(id, { enabled: true });
    await a.t.call("POST", `/workflows/${id}/entries`, {
      segmentId: answer.text("data.segmentId"),
    });
    await a.settle();
    expect(await a.executions(id)).toHaveLength(1);
  });
});
