/** POST /v1/track: the recorded event and its contact. */

import { beforeEach, describe, expect, test } from "bun:test";
import type { TestApp } from "../support/app.ts";
import { projectPerTest } from "../support/project-per-test.ts";
import { expectError } from "../support/refusal.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const ada = "ada@example.com";

async function track(body: object) {
  const answer = await t.call("POST", "/v1/track", { event: "bought", email: ada, ...body });
  expect(answer.status).toBe(200);
  return answer;
}

const contactData = async (id: string) => (await t.call("GET", `/contacts/${id}`)).at("data");

describe("POST /v1/track", () => {
  test("responds with the ids of event and contact and the time, in the envelope and beside it", async () => {
    const answer = await track({});
    const [contact, event] = [answer.text("data.contact"), answer.text("data.event")];
    expect(answer.body).toEqual({
      success: true,
      data: { contact, event, timestamp: answer.text("timestamp") },
      contact,
      event,
      timestamp: answer.text("timestamp"),
    });
    const listed = await t.call("GET", "/events?event=bought");
    expect(listed.at("data.items.0")).toMatchObject({
      id: event,
      name: "bought",
      contactId: contact,
      contactEmail: ada,
      emailId: null,
      emailTags: null,
    });
  });

  test("creates a subscribed contact and records its event before the tracked one", async () => {
    const answer = await track({});
    const contact = await t.call("GET", `/contacts/${answer.text("contact")}`);
    expect(contact.body).toMatchObject({ email: ada, subscribed: true, data: {} });
    expect(t.eventNames()).toEqual(["contact.subscribed", "bought"]);
  });

  test("changes the subscription of an existing contact only if the request contains it", async () => {
    await t.call("POST", "/contacts", { email: ada, subscribed: false });
    const subscribed = async () =>
      (await t.call("GET", `/contacts?search=${ada}`)).at("contacts.0.subscribed");
    await track({});
    expect(await subscribed()).toBe(false);
    await track({ subscribed: true });
    expect(await subscribed()).toBe(true);
    await track({ subscribed: false });
    expect(await subscribed()).toBe(false);
  });

  test("sets the subscription of a new contact only, if existing ones are to be preserved", async () => {
    async function subscriptionAfter(email: string, given: object): Promise<unknown> {
      const answer = await track({ email, preserveExistingSubscription: true, ...given });
      return (await t.call("GET", `/contacts/${answer.text("data.contact")}`)).at("subscribed");
    }
    expect(await subscriptionAfter("ada@x.io", { subscribed: false })).toBe(false);
    expect(await subscriptionAfter("ada@x.io", { subscribed: true })).toBe(false);
    expect(await subscriptionAfter("bob@x.io", {})).toBe(true);
    expect(await subscriptionAfter("bob@x.io", { subscribed: false })).toBe(true);
  });

  test("records two events of one contact for two spellings of its address", async () => {
    const first = await track({});
    const second = await track({ email: "  ADA@Example.COM " });
    expect(second.text("contact")).toBe(first.text("contact"));
    expect(second.text("event")).not.toBe(first.text("event"));
    expect((await t.call("GET", "/events?event=bought")).at("data.total")).toBe(2);
  });

  test("records a hundred events of one contact for a hundred concurrent requests", async () => {
    await Promise.all(Array.from({ length: 100 }, () => track({})));
    expect(t.countRows("contacts")).toBe(1);
    expect((await t.call("GET", "/events?event=bought")).at("data.total")).toBe(100);
    expect((await t.call("GET", "/events/names")).at("data.items.0")).toBe("bought");
  });
});

describe("data", () => {
  test("is merged into the contact, and null removes a key", async () => {
    const { text } = await track({ data: { plan: "pro", tags: ["a"], score: 5 } });
    await track({ data: { score: null, plan: "team" } });
    expect(await contactData(text("contact"))).toEqual({ plan: "team", tags: ["a"] });
  });

  test("is stored with the event as it was sent, with wrappers resolved", async () => {
    const data = {
      amount: { value: 12.5, persistent: false },
      plan: { value: "pro", persistent: true },
      note: null,
      at: { deep: [1, { x: true }] },
    };
    const { text } = await track({ data });
    expect((await t.call("GET", "/events?event=bought")).at("data.items.0.data")).toEqual({
      amount: 12.5,
      plan: "pro",
      note: null,
      at: { deep: [1, { x: true }] },
    });
    expect(await contactData(text("contact"))).toEqual({
      plan: "pro",
      at: { deep: [1, { x: true }] },
    });
  });

  test("that is not persistent does not change an existing contact", async () => {
    const { text } = await track({ data: { plan: "pro" } });
    const before = await t.call("GET", `/contacts/${text("contact")}`);
    t.clock.advance(1000);
    await track({ data: { x: { value: 1, persistent: false } } });
    await track({ data: {} });
    expect((await t.call("GET", `/contacts/${text("contact")}`)).body).toEqual(before.body);
  });
});

describe("POST /v1/track refuses without a change", () => {
  type Fault = readonly [field: string, code: string];
  const filled = (bytes: number) => "x".repeat(bytes - '{"x":""}'.length);
  const cases: [what: string, body: object, ...errors: Fault[]][] = [
    ["an empty body", {}, ["event", "required"], ["email", "required"]],
    ["NUL in a name", { event: "a\0b", email: ada }, ["event", "invalid_format"]],
    ["NUL in data", { event: "x", email: ada, data: { a: "\0" } }, ["data.a", "invalid_format"]],
    [
      "64 KiB and a byte of data",
      { event: "x", email: ada, data: { x: filled(65_537) } },
      ["data", "too_big"],
    ],
    [
      "as much data that is not persistent",
      { event: "x", email: ada, data: { x: { value: filled(65_537), persistent: false } } },
      ["data", "too_big"],
    ],
    ...[
      "email.opened",
      "email.",
      "email.anything.at.all",
      "contact.subscribed",
      "contact.unsubscribed",
      "segment.vip.entry",
      "segment.a.b.exit",
    ].map((event): [string, object, Fault] => [
      event,
      { event, email: ada },
      ["event", "reserved_event"],
    ]),
    [
      "several errors at once",
      { event: "email.sent", email: "x", subscribed: 1, data: [] },
      ["email", "invalid_format"],
      ["subscribed", "invalid_type"],
      ["data", "invalid_type"],
      ["event", "reserved_event"],
    ],
  ];
  test("wrong bodies", async () => {
    const before = t.contents();
    for (const [what, body, ...errors] of cases) {
      const answer = await t.call("POST", "/v1/track", body);
      expect([what, answer.status]).toEqual([what, 422]);
      expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors });
    }
    expect(t.contents()).toEqual(before);
  });

  test("data that would make the contact's data too large", async () => {
    await track({ data: { x: filled(40_000) } });
    const before = t.contents();
    const body = { event: "more", email: ada, data: { y: filled(40_000) } };
    expectError(await t.call("POST", "/v1/track", body), {
      status: 422,
      code: "VALIDATION_ERROR",
      errors: [["data", "too_big"]],
    });
    expect(t.contents()).toEqual(before);
  });
});

test("names that only resemble reserved ones, and exactly 64 KiB of data, are accepted", async () => {
  const names = ["emailed", "Email.opened", "contact.subscribed.again", "segment.entry", "é"];
  for (const event of names) await track({ event });
  await track({ data: { x: "x".repeat(65_536 - '{"x":""}'.length) } });
});
