/** POST /v1/track: a fact, its contact, and the summaries beside the log. */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type TestApp, testApp } from "../support/app.ts";
import { expectError } from "../support/refusal.ts";

let t: TestApp;
beforeEach(async () => {
  t = await testApp();
});
afterEach(() => t.close());

const ada = "ada@example.com";

async function tracked(body: object) {
  const answer = await t.call("POST", "/v1/track", { event: "bought", email: ada, ...body });
  expect(answer.status).toBe(200);
  return answer;
}

const contactData = async (id: string) => (await t.call("GET", `/contacts/${id}`)).at("data");

describe("an event", () => {
  test("is answered with its id, that of the contact, and the time, twice", async () => {
    const answer = await tracked({});
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
    });
  });

  test("makes its contact, subscribed, and says so in the log before it", async () => {
    const answer = await tracked({});
    const contact = await t.call("GET", `/contacts/${answer.text("contact")}`);
    expect(contact.body).toMatchObject({ email: ada, subscribed: true, data: {} });
    expect(t.eventNames()).toEqual(["contact.subscribed", "bought"]);
  });

  test("leaves the subscription of a known contact alone unless told", async () => {
    await t.call("POST", "/contacts", { email: ada, subscribed: false });
    const subscribed = async () =>
      (await t.call("GET", `/contacts?search=${ada}`)).at("contacts.0.subscribed");
    await tracked({});
    expect(await subscribed()).toBe(false);
    await tracked({ subscribed: true });
    expect(await subscribed()).toBe(true);
    await tracked({ subscribed: false });
    expect(await subscribed()).toBe(false);
  });

  test("twice is two events, of one contact in any spelling", async () => {
    const first = await tracked({});
    const second = await tracked({ email: "  ADA@Example.COM " });
    expect(second.text("contact")).toBe(first.text("contact"));
    expect(second.text("event")).not.toBe(first.text("event"));
    expect((await t.call("GET", "/events?event=bought")).at("data.total")).toBe(2);
  });

  test("with one Idempotency-Key is one event", async () => {
    const headers = { "idempotency-key": "once" };
    const body = { event: "bought", email: ada };
    const first = await t.call("POST", "/v1/track", body, { headers });
    const again = await t.call("POST", "/v1/track", body, { headers });
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(t.eventNames()).toEqual(["contact.subscribed", "bought"]);
  });

  test("may come with a public key", async () => {
    const body = { event: "seen", email: ada };
    expect((await t.call("POST", "/v1/track", body, { key: t.publicKey })).status).toBe(200);
  });

  test("a hundred at once are a hundred, of one contact", async () => {
    await Promise.all(Array.from({ length: 100 }, () => tracked({})));
    expect(t.countRows("contacts")).toBe(1);
    expect((await t.call("GET", "/events?event=bought")).at("data.total")).toBe(100);
    expect((await t.call("GET", "/events/names")).at("data.items.0")).toBe("bought");
  });
});

describe("data", () => {
  test("is merged into the contact; null takes a key away", async () => {
    const { text } = await tracked({ data: { plan: "pro", tags: ["a"], score: 5 } });
    await tracked({ data: { score: null, plan: "team" } });
    expect(await contactData(text("contact"))).toEqual({ plan: "team", tags: ["a"] });
  });

  test("is kept with the event as it was sent, wrappers resolved", async () => {
    const data = {
      amount: { value: 12.5, persistent: false },
      plan: { value: "pro", persistent: true },
      note: null,
      at: { deep: [1, { x: true }] },
    };
    const { text } = await tracked({ data });
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

  test("that is not to be kept leaves a known contact as it is", async () => {
    const { text } = await tracked({ data: { plan: "pro" } });
    const before = await t.call("GET", `/contacts/${text("contact")}`);
    t.clock.advance(1000);
    await tracked({ data: { x: { value: 1, persistent: false } } });
    await tracked({ data: {} });
    expect((await t.call("GET", `/contacts/${text("contact")}`)).body).toEqual(before.body);
  });
});

describe("refuses, and changes nothing:", () => {
  type Fault = readonly [field: string, code: string];
  const filled = (bytes: number) => "x".repeat(bytes - '{"x":""}'.length);
  const cases: [what: string, body: object, ...errors: Fault[]][] = [
    ["nothing", {}, ["event", "required"], ["email", "required"]],
    ["no event", { email: ada }, ["event", "required"]],
    ["an empty name", { event: "", email: ada }, ["event", "too_small"]],
    ["a name of 256", { event: "x".repeat(256), email: ada }, ["event", "too_big"]],
    ["a name that is a number", { event: 5, email: ada }, ["event", "invalid_type"]],
    ["no address", { event: "x" }, ["email", "required"]],
    ["what is no address", { event: "x", email: "ada" }, ["email", "invalid_format"]],
    [
      "a flag as text",
      { event: "x", email: ada, subscribed: "yes" },
      ["subscribed", "invalid_type"],
    ],
    ["an array as data", { event: "x", email: ada, data: [1] }, ["data", "invalid_type"]],
    ["text as data", { event: "x", email: ada, data: "plan" }, ["data", "invalid_type"]],
    ["NUL in a name", { event: "a\0b", email: ada }, ["event", "invalid_format"]],
    ["NUL in data", { event: "x", email: ada, data: { a: "\0" } }, ["data.a", "invalid_format"]],
    [
      "64 KiB and a byte of data",
      { event: "x", email: ada, data: { x: filled(65_537) } },
      ["data", "too_big"],
    ],
    [
      "as much that is not to be kept",
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
      "everything at once",
      { event: "email.sent", email: "x", subscribed: 1, data: [] },
      ["email", "invalid_format"],
      ["subscribed", "invalid_type"],
      ["data", "invalid_type"],
      ["event", "reserved_event"],
    ],
  ];
  test.each(cases)("%s", async (_, body, ...errors) => {
    const before = t.contents();
    const answer = await t.call("POST", "/v1/track", body);
    expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors });
    expect(t.contents()).toEqual(before);
  });

  test("what would make the contact's data too large, with the event", async () => {
    await tracked({ data: { x: filled(40_000) } });
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

test("names that only look reserved are anybody's", async () => {
  for (const event of [
    "emailed",
    "Email.opened",
    "contact.subscribed.again",
    "segment.entry",
    "é",
  ]) {
    await tracked({ event });
  }
});

test("64 KiB of data are taken to the last byte", async () => {
  await tracked({ data: { x: "x".repeat(65_536 - '{"x":""}'.length) } });
});
