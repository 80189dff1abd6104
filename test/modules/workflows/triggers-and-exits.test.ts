/** Tests schedules, entries by hand and exits through the API. */

import { beforeEach, describe, expect, test } from "bun:test";
import { automationPerTest, type Automation } from "../../support/automation.ts";
import { chain, delay, type Given, graph, step, transition, trigger } from "./graphs.ts";

const next = automationPerTest();
let a: Automation;
beforeEach(async () => {
  a = await next();
});

const SCHEDULE = { type: "SCHEDULE", cron: "0 9 * * *", timeZone: "UTC", segmentId: null };
const END = { steps: [step("end", "EXIT")] };

async function faults(body: Given): Promise<string[]> {
  const answer = await a.t.call("POST", "/workflows", { name: "W", ...body });
  const errors: { field: string; code: string }[] = Object(answer.at("error.errors") ?? []);
  return [String(answer.status), ...errors.map(({ field, code }) => `${field} ${code}`)];
}

const REFUSED: readonly [name: string, body: Given, faults: string[]][] = [
  ["an unknown trigger", { trigger: { type: "LATER" } }, ["trigger.type invalid_value"]],
  ["a trigger that is no object", { trigger: 3 }, ["trigger invalid_type"]],
  ["an event without a name", { trigger: { type: "EVENT" } }, ["trigger.eventName required"]],
  [
    "a schedule of four fields in no zone",
    { trigger: { ...SCHEDULE, cron: "0 9 * *", timeZone: "Nowhere" } },
    ["trigger.timeZone invalid_value", "trigger.cron invalid_format"],
  ],
  [
    "a schedule that never comes",
    { trigger: { ...SCHEDULE, cron: "0 9 30 2 *" } },
    ["trigger.cron invalid_format"],
  ],
  [
    "a segment that does not exist",
    { trigger: { ...SCHEDULE, segmentId: "none" } },
    ["trigger.segmentId unknown_reference"],
  ],
  [
    "an exit of no kind",
    { exits: [{ on: "BIRTHDAY" }, {}] },
    ["exits.0.on invalid_value", "exits.1.on required"],
  ],
  [
    "eleven exits",
    { exits: Array.from({ length: 11 }, (_, i) => ({ on: "EVENT", eventName: `e${i}` })) },
    ["exits too_big"],
  ],
  [
    "the same exit twice",
    { exits: [{ on: "UNSUBSCRIBED" }, { on: "UNSUBSCRIBED" }] },
    ["exits.1 invalid_value"],
  ],
  [
    "a faulty trigger and a faulty step together",
    { trigger: { type: "SCHEDULE" }, steps: [step("d", "DELAY", { unit: "days" })] },
    ["trigger.cron required", "trigger.timeZone required", "steps.0.config.amount required"],
  ],
  [
    "another trigger than that of the step",
    { trigger: { type: "MANUAL" }, steps: [trigger()] },
    ["trigger invalid_value"],
  ],
  [
    "a time window without days, with times that are none",
    {
      steps: [
        step("w", "TIME_WINDOW", { days: [], from: "9", to: "25:00", timeZone: "UTC" }),
        step("v", "TIME_WINDOW", { days: ["MON"], from: "9", to: "25:00", timeZone: "Mars" }),
      ],
      transitions: [transition("w>v")],
    },
    [
      "steps.0.config.days too_small",
      "steps.1.config.from invalid_value",
      "steps.1.config.to invalid_value",
      "steps.1.config.timeZone invalid_value",
    ],
  ],
  [
    "a split with equal branches, and one with a weight of 0",
    {
      steps: [
        step("s", "SPLIT", {
          branches: [
            { id: "a", weight: 1 },
            { id: "a", weight: 1 },
          ],
        }),
        step("t", "SPLIT", {
          branches: [
            { id: "a", weight: 0 },
            { id: "b", weight: 1 },
          ],
        }),
      ],
      transitions: [transition("s>t:a")],
    },
    ["steps.0.config.branches.1.id invalid_value", "steps.1.config.branches.0.weight too_small"],
  ],
  [
    "a branch that a split does not have",
    {
      steps: [
        step("s", "SPLIT", {
          branches: [
            { id: "a", weight: 1 },
            { id: "b", weight: 1 },
          ],
        }),
        step("e", "EXIT"),
      ],
      transitions: [transition("s>e:yes")],
    },
    ["transitions.0.branch invalid_value"],
  ],
];

describe("POST /workflows refuses", () => {
  for (const [name, body, expected] of REFUSED) {
    test(name, async () => {
      const given = { trigger: { type: "EVENT", eventName: "e" }, ...END, ...body };
      expect(await faults(given)).toEqual(["422", ...expected]);
    });
  }
});

describe("a trigger", () => {
  test("of each kind is answered as it was given, also by its step", async () => {
    for (const given of [SCHEDULE, { type: "MANUAL" }]) {
      const id = await a.t.create("/workflows", { name: "W", trigger: given, ...END }, "data.id");
      const answer = await a.t.call("GET", `/workflows/${id}`);
      expect(answer.at("data.trigger")).toEqual(given);
      expect(answer.at("data.steps.0.config")).toEqual(given);
      const { body } = await a.t.call("PATCH", `/workflows/${id}`, Object(answer.at("data")));
      expect(Object(body).data.steps).toEqual(answer.at("data.steps"));
    }
  });

  test("may be changed to another kind and back", async () => {
    const id = await a.workflow(chain(step("end", "EXIT")));
    const kinds = [SCHEDULE, { type: "MANUAL" }, { type: "EVENT", eventName: "came" }];
    for (const given of kinds) {
      const answer = await a.t.call("PATCH", `/workflows/${id}`, { trigger: given });
      expect([answer.status, answer.at("data.trigger")]).toEqual([200, given]);
    }
    await a.track("came");
    expect(await a.executions(id)).toHaveLength(1);
  });
});

describe("an exit", () => {
  const waiting = chain(delay("wait", 3, "days"));

  test("on an event ends the executions of its contact, of the version that has the exit", async () => {
    const id = await a.workflow(waiting);
    await a.track("signed-up", {}, "old@example.net");
    await a.t.call("PATCH", `/workflows/${id}`, { exits: [{ on: "EVENT", eventName: "bought" }] });
    await a.track("signed-up");
    await a.track("signed-up", {}, "bob@example.net");
    for (const email of ["old@example.net", "ada@example.net"]) await a.track("bought", {}, email);
    const found = await a.executions(id);
    expect(found.map(({ status, exitReason }) => [status, exitReason])).toEqual([
      ["WAITING", null],
      ["EXITED", 'The event "bought" happened.'],
      ["WAITING", null],
    ]);
  });

  test("comes before the executions that the event continues, and before it starts the workflow again", async () => {
    const exits = [{ on: "EVENT", eventName: "signed-up" }];
    const rest = { exits, allowReentry: true };
    const steps = [step("w", "WAIT_FOR_EVENT", { eventName: "signed-up" }), delay("d")];
    const id = await a.workflow(chain(...steps), rest);
    await a.track("signed-up");
    await a.track("signed-up");
    const found = await a.executions(id);
    expect(found.map(({ status, currentStepId }) => `${status} ${currentStepId}`)).toEqual([
      "EXITED w",
      "WAITING w",
    ]);
  });

  test("on unsubscribing ends an execution", async () => {
    const id = await a.workflow(waiting, { exits: [{ on: "UNSUBSCRIBED" }] });
    await a.track("signed-up");
    await a.t.call("POST", "/v1/track", { event: "x", email: "ada@example.net", subscribed: true });
    const [execution] = await a.executions(id);
    await a.t.call("PATCH", `/contacts/${execution?.contactId}`, { subscribed: false });
    await a.settle();
    const found = await a.executions(id);
    expect(found.map(({ status, exitReason }) => [status, exitReason])).toEqual([
      ["EXITED", "The contact unsubscribed."],
    ]);
  });

  test("on leaving a segment needs a tracked segment, which then cannot be deleted", async () => {
    const segment = (name: string, trackMembership: boolean) =>
      a.t.create("/segments", { name, type: "STATIC", trackMembership }, "data.id");
    const untracked = await segment("Plain", false);
    const id = await a.workflow(waiting);
    const exits = (segmentId: string) =>
      a.t.call("PATCH", `/workflows/${id}`, { exits: [{ on: "SEGMENT_LEFT", segmentId }] });
    const refused = await exits(untracked);
    expect([refused.status, refused.at("error.errors.0.field")]).toEqual([
      422,
      "exits.0.segmentId",
    ]);
    const segmentId = await segment("VIP", true);
    expect((await exits(segmentId)).status).toBe(200);
    expect((await a.t.call("DELETE", `/segments/${segmentId}`)).status).toBe(409);
    const off = await a.t.call("PATCH", `/segments/${segmentId}`, { trackMembership: false });
    expect(off.status).toBe(422);
    await a.track("signed-up");
    const members = { emails: ["ada@example.net"] };
    await a.t.call("POST", `/segments/${segmentId}/members`, members);
    await a.t.call("DELETE", `/segments/${segmentId}/members`, members);
    await a.settle();
    const found = await a.executions(id);
    expect(found.map(({ exitReason }) => exitReason)).toEqual([
      'The contact left the segment "VIP".',
    ]);
  });
});

describe("a step", () => {
  test("TIME_WINDOW waits for the zone of its contact", async () => {
    // The clock of tests begins on Monday, 2 March 2026, at 10:00 UTC.
    const window = { days: ["MON"], from: "09:00", to: "17:00", timeZone: "CONTACT" };
    const id = await a.workflow(chain(step("w", "TIME_WINDOW", window), delay("d")));
    await a.track("signed-up", {}, "utc@example.net");
    const body = { event: "x", email: "la@example.net", data: {} };
    await a.t.call("POST", "/v1/track", body);
    await a.t.call("POST", "/contacts", {
      email: "la@example.net",
      data: { timezone: "America/Los_Angeles" },
    });
    await a.track("signed-up", {}, "la@example.net");
    const at = async () => (await a.executions(id)).map(({ currentStepId }) => currentStepId);
    expect(await at()).toEqual(["d", "w"]);
    await a.advance(7 * 3_600_000 - 1);
    expect(await at()).toEqual(["d", "w"]);
    await a.advance(1);
    expect(await at()).toEqual(["d", "d"]);
  });

  test("SPLIT leads each contact to one branch", async () => {
    const branches = [
      { id: "a", weight: 50 },
      { id: "b", weight: 50 },
    ];
    const split = graph(
      [trigger(), step("s", "SPLIT", { branches }), delay("a"), delay("b")],
      ["start>s", "s>a:a", "s>b:b"],
    );
    const id = await a.workflow(split);
    for (let i = 0; i < 20; i++) await a.track("signed-up", {}, `c${i}@example.net`);
    const taken = (await a.executions(id)).map(({ currentStepId }) => currentStepId);
    expect(new Set(taken)).toEqual(new Set(["a", "b"]));
    const detail = await a.execution(id, (await a.executions(id))[0]?.id ?? "");
    expect(detail.steps[1]).toBe(`s COMPLETED:${detail.currentStepId}`);
  });
});
