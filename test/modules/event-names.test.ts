/** All requests have the same rule for event names: they are trimmed and not blank. */

import { beforeEach, describe, expect, test } from "bun:test";
import { isEventName, trimmedEventName } from "../../src/lib/event-name.ts";
import type { TestApp } from "../support/app.ts";
import { listAt } from "../support/json.ts";
import { projectPerTest } from "../support/project-per-test.ts";
import { expectError } from "../support/refusal.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const ada = "ada@example.com";
const SPACED = " \t\u00a0\u200bbought it\u200d\u2060 \ufeff\r\n\u2003";
const BLANK = [" ", "\t\r\n", "\u00a0\u2003", "\u200b", "\ufeff", "\u00ad\u2060 ", "\u3164"];

const bought = {
  logic: "AND",
  groups: [{ filters: [{ field: `event.${SPACED}`, operator: "triggered" }] }],
};

describe("an event name with white space around it", () => {
  test("is recorded without white space", async () => {
    await t.create("/v1/track", { event: SPACED, email: ada }, "event");
    expect(t.eventNames()).toEqual(["contact.subscribed", "bought it"]);
    expect((await t.call("GET", "/events/names")).at("data.items")).toContain("bought it");
  });

  test("is found in the log by either spelling", async () => {
    await t.create("/v1/track", { event: "bought it", email: ada }, "event");
    for (const event of ["bought it", SPACED]) {
      for (const filter of ["", `&email=${ada}`]) {
        const answer = await t.call("GET", `/events?event=${encodeURIComponent(event)}${filter}`);
        expect([answer.at("data.total"), answer.at("data.items.0.name")]).toEqual([1, "bought it"]);
      }
    }
  });

  test("matches the same event in a segment", async () => {
    await t.create("/v1/track", { event: "bought it", email: ada }, "event");
    const id = await t.create("/segments", { name: "Buyers", condition: bought }, "data.id");
    const members = await t.call("GET", `/segments/${id}/contacts`);
    expect(listAt(members.body, "data.items")).toMatchObject([{ email: ada }]);
  });

  test("is stored trimmed in a workflow's trigger and wait", async () => {
    const id = await t.create(
      "/workflows",
      {
        name: "W",
        enabled: true,
        trigger: { type: "EVENT", eventName: SPACED },
        steps: [
          { id: "start", type: "TRIGGER", config: { eventName: "bought it" } },
          { id: "wait", type: "WAIT_FOR_EVENT", config: { eventName: " paid " } },
        ],
        transitions: [{ from: "start", to: "wait" }],
      },
      "data.id",
    );
    const workflow = await t.call("GET", `/workflows/${id}`);
    expect(workflow.at("data.trigger.eventName")).toBe("bought it");
    expect(listAt(workflow.body, "data.steps")).toMatchObject([
      { config: { eventName: "bought it" } },
      { config: { eventName: "paid" } },
    ]);
  });

  test("is stored trimmed in a webhook", async () => {
    const events = [SPACED, " email.* "];
    const body = { url: "https://hooks.example.com/in", events };
    const created = await t.call("POST", "/webhooks", body);
    expect(created.at("data.events")).toEqual(["bought it", "email.*"]);
    const path = `/webhooks/${created.text("data.id")}`;
    const changed = await t.call("PATCH", path, { events: [" * "] });
    expect(changed.at("data.events")).toEqual(["*"]);
  });

  test("is refused if its trimmed form is reserved", async () => {
    const before = t.contents();
    for (const event of [" email.opened", "contact.subscribed\u00a0", "\tsegment.vip.entry\n"]) {
      const answer = await t.call("POST", "/v1/track", { event, email: ada });
      const errors = [["event", "reserved_event"]] as const;
      expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors });
    }
    expect(t.contents()).toEqual(before);
  });
});

describe("an event name without a visible character is refused", () => {
  type RequestCase = [where: string, path: string, body: (event: string) => object, field: string];
  const step = (event: string) => ({
    id: "w",
    type: "WAIT_FOR_EVENT",
    config: { eventName: event },
  });
  const requests: RequestCase[] = [
    ["in a tracked event", "/v1/track", (event) => ({ event, email: ada }), "event"],
    [
      "as a trigger",
      "/workflows",
      (eventName) => ({ name: "W", trigger: { type: "EVENT", eventName } }),
      "trigger.eventName",
    ],
    [
      "as the end of a wait",
      "/workflows",
      (event) => ({ name: "W", trigger: { type: "EVENT", eventName: "a" }, steps: [step(event)] }),
      "steps.0.config.eventName",
    ],
    [
      "in a webhook",
      "/webhooks",
      (event) => ({ url: "https://hooks.example.com/in", events: ["a", event] }),
      "events.1",
    ],
    [
      "in a segment",
      "/segments",
      (event) => ({
        name: "S",
        condition: {
          logic: "AND",
          groups: [{ filters: [{ field: `event.${event}`, operator: "triggered" }] }],
        },
      }),
      "condition.groups.0.filters.0.field",
    ],
  ];
  test.each(requests)("%s", async (_, path, body, field) => {
    const before = t.contents();
    for (const name of BLANK) {
      const answer = await t.call("POST", path, body(name));
      expect([name, answer.status, answer.at("error.errors.0.field")]).toEqual([name, 422, field]);
    }
    expect(t.contents()).toEqual(before);
  });
});

test("other names are valid", () => {
  for (const text of [" a ", "a b", "é", "日本", "👍", "a\u200bb", "0", "."]) {
    expect([text, isEventName(text), trimmedEventName(text)]).toEqual([text, true, text.trim()]);
  }
});
