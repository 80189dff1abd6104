/** Topics, the choices of contacts, and pauses. */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { setPause } from "../../../src/modules/contacts/pause.ts";
import { contactService } from "../../../src/modules/contacts/service.ts";
import {
  findTopic,
  mayGetMarketing,
  setTopicChoices,
  topicChoices,
} from "../../../src/modules/topics/choices.ts";
import { type TestApp, testApp } from "../../support/app.ts";
import { expectError } from "../../support/refusal.ts";

const DAY = 24 * 60 * 60_000;

let t: TestApp;
beforeEach(async () => {
  t = await testApp();
});
afterEach(() => t.close());

const create = (body: object) => t.create("/topics", body, "data.id");

async function contactOf(email: string, subscribed = true) {
  const id = await t.create("/contacts", { email, subscribed }, "id");
  return () => contactService(t.app.app).get(t.project.seq, id);
}

describe("a topic", () => {
  test("has a key of its name, and defaults that send no contact mail unasked", async () => {
    const answer = await t.call("POST", "/topics", { name: " Produkt-Neuigkeiten! " });
    expect([answer.status, answer.at("data")]).toEqual([
      201,
      {
        id: answer.text("data.id"),
        key: "produkt-neuigkeiten",
        name: "Produkt-Neuigkeiten!",
        description: null,
        default: "UNSUBSCRIBED",
        visibility: "PUBLIC",
        subscribers: 0,
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
      },
    ]);
    const second = await t.call("POST", "/topics", { name: "Produkt Neuigkeiten" });
    expect(second.at("data.key")).toBe("produkt-neuigkeiten-2");
    const listed = await t.call("GET", "/topics");
    expect(listed.at("data.items.1.key")).toBe("produkt-neuigkeiten-2");
  });

  test.each([
    ["without a name", { name: " " }, 422, "name"],
    ["with a key that is no slug", { name: "News", key: "Product News" }, 422, "key"],
    ["with an unknown default", { name: "News", default: "OPT_IN" }, 422, "default"],
    [
      "with a description of 501 characters",
      { name: "News", description: "x".repeat(501) },
      422,
      "description",
    ],
  ])("%s is refused", async (_, body, status, field) => {
    const answer = await t.call("POST", "/topics", body);
    expect([answer.status, answer.at("error.errors.0.field")]).toEqual([status, field]);
    expect(t.countRows("topics")).toBe(0);
  });

  test("with the key of another one is refused, and so is the 101st", async () => {
    await create({ name: "News", key: "news" });
    expectError(await t.call("POST", "/topics", { name: "Other", key: "news" }), {
      status: 409,
      code: "CONFLICT",
    });
    for (let n = 2; n <= 100; n++) await create({ name: `Topic ${n}` });
    expectError(await t.call("POST", "/topics", { name: "One more" }), {
      status: 409,
      code: "CONFLICT",
    });
  });

  test("is changed, but for its key", async () => {
    const id = await create({ name: "News" });
    const patch = { name: "Product news", visibility: "PRIVATE", default: "SUBSCRIBED" };
    const answer = await t.call("PATCH", `/topics/${id}`, { ...patch, description: "Monthly" });
    expect(answer.at("data")).toMatchObject({ ...patch, key: "news", description: "Monthly" });
  });

  test("is deleted with the choices", async () => {
    const id = await create({ name: "News" });
    const ada = await contactOf("ada@example.com");
    await t.call("PUT", `/contacts/${ada().id}/topics`, {
      topics: [{ topicId: id, subscribed: true }],
    });
    expect(t.countRows("topic_subscriptions")).toBe(1);
    expect((await t.call("DELETE", `/topics/${id}`)).status).toBe(204);
    expect(t.countRows("topic_subscriptions")).toBe(0);
    expectError(await t.call("GET", `/topics/${id}`), { status: 404, code: "TOPIC_NOT_FOUND" });
  });
});

describe("the choices of a contact", () => {
  test("are the defaults of the topics until it chooses", async () => {
    const all = await create({ name: "All", default: "SUBSCRIBED" });
    const few = await create({ name: "Few" });
    const ada = await contactOf("ada@example.com");
    await contactOf("grace@example.com");
    await contactOf("gone@example.com", false);
    const states = async () => {
      const { body } = await t.call("GET", `/contacts/${ada().id}/topics`);
      return Object(body).data.topics.map((topic: { subscribed: boolean; chosenAt: unknown }) => [
        topic.subscribed,
        topic.chosenAt !== null,
      ]);
    };
    const counts = async () => {
      const { body } = await t.call("GET", "/topics");
      return Object(body).data.items.map((topic: { subscribers: number }) => topic.subscribers);
    };
    expect([await states(), await counts()]).toEqual([
      [
        [true, false],
        [false, false],
      ],
      [2, 0],
    ]);
    const choices = [
      { topicId: all, subscribed: false },
      { topicId: few, subscribed: true },
    ];
    const path = `/contacts/${ada().id}/topics`;
    expect((await t.call("PUT", path, { topics: choices })).status).toBe(200);
    expect((await t.call("PUT", path, { topics: choices })).status).toBe(200);
    expect([await states(), await counts()]).toEqual([
      [
        [false, true],
        [true, true],
      ],
      [1, 1],
    ]);
    const listed = async (topic: string) => {
      const { body } = await t.call("GET", `/contacts?topic=${topic}&subscribed=true`);
      return Object(body).items.map((each: { email: string }) => each.email);
    };
    expect([await listed("all"), await listed("few"), await listed("none")]).toEqual([
      ["grace@example.com"],
      ["ada@example.com"],
      [],
    ]);
    // A repeated choice is no event.
    expect(t.eventNames().filter((name) => name.startsWith("contact.topic"))).toEqual([
      "contact.topic_unsubscribed",
      "contact.topic_subscribed",
    ]);
  });

  test("that name an unknown topic are refused, and none is stored", async () => {
    const id = await create({ name: "News" });
    const ada = await contactOf("ada@example.com");
    const topics = [
      { topicId: id, subscribed: true },
      { topicId: "none", subscribed: true },
    ];
    const answer = await t.call("PUT", `/contacts/${ada().id}/topics`, { topics });
    expect([answer.status, answer.at("error.errors.0.field")]).toEqual([422, "topics.1.topicId"]);
    expect(t.countRows("topic_subscriptions")).toBe(0);
  });

  test("stay when the default changes, and go with the contact", async () => {
    const id = await create({ name: "News" });
    const ada = await contactOf("ada@example.com");
    const topics = [{ topicId: id, subscribed: false }];
    await t.call("PUT", `/contacts/${ada().id}/topics`, { topics });
    await t.call("PATCH", `/topics/${id}`, { default: "SUBSCRIBED" });
    expect(topicChoices(t.app.app, ada()).map((choice) => choice.isSubscribed)).toEqual([false]);
    await t.call("DELETE", `/contacts/${ada().id}`);
    expect(t.countRows("topic_subscriptions")).toBe(0);
  });
});

describe("marketing mail", () => {
  test("is refused for the first reason that there is", async () => {
    const app = t.app.app;
    const topicId = await create({ name: "News", default: "SUBSCRIBED" });
    const topicSeq = findTopic(app, t.project.seq, topicId)?.seq ?? 0;
    const ada = await contactOf("ada@example.com");
    const reasons = () => [
      mayGetMarketing(app, ada(), topicSeq, t.clock.now()),
      mayGetMarketing(app, ada(), null, t.clock.now()),
    ];
    expect(reasons()).toEqual([null, null]);
    await app.writer.write(
      () => void setPause(app, ada(), t.clock.now() + DAY, { source: SOURCE }),
    );
    expect(reasons()).toEqual(["PAUSED", "PAUSED"]);
    const leave = [{ topicId, isSubscribed: false }];
    await app.writer.write(() => void setTopicChoices(app, ada(), leave, CAUSE));
    expect(reasons()).toEqual(["TOPIC", "PAUSED"]);
    t.clock.advance(DAY);
    expect(reasons()).toEqual(["TOPIC", null]);
    await t.call("PATCH", `/contacts/${ada().id}`, { subscribed: false });
    expect(reasons()).toEqual(["UNSUBSCRIBED", "UNSUBSCRIBED"]);
    // A topic that was deleted has no members.
    expect(mayGetMarketing(app, { ...ada(), isSubscribed: true }, 999, t.clock.now())).toBe(
      "TOPIC",
    );
  });
});

describe("a pause", () => {
  const until = (ms: number) => new Date(t.clock.now() + ms).toISOString();

  test("is set and ended by a request, each with an event", async () => {
    const ada = await contactOf("ada@example.com");
    const path = `/contacts/${ada().id}`;
    const pausedUntil = until(7 * DAY);
    expect((await t.call("PATCH", path, { pausedUntil })).at("pausedUntil")).toBe(pausedUntil);
    await t.call("PATCH", path, { pausedUntil });
    expect((await t.call("PATCH", path, { pausedUntil: null })).at("pausedUntil")).toBeUndefined();
    expect(t.eventNames().slice(1)).toEqual(["contact.paused", "contact.resumed"]);
  });

  test.each([
    ["that is over", -1],
    ["of more than a year", 367 * DAY],
  ])("%s is refused", async (_, ms) => {
    const ada = await contactOf("ada@example.com");
    const answer = await t.call("PATCH", `/contacts/${ada().id}`, { pausedUntil: until(ms) });
    expect([answer.status, answer.at("error.errors.0.field")]).toEqual([422, "pausedUntil"]);
    expect(ada().pausedUntil).toBeNull();
  });
});

const SOURCE = { type: "PREFERENCES" } as const;
const CAUSE = { consent: { source: SOURCE } };

describe("a condition on a topic", () => {
  const condition = (value: boolean, key = "news", operator = "equals") => ({
    logic: "AND",
    groups: [{ filters: [{ field: `topic.${key}`, operator, value }] }],
  });

  test("matches the contacts who are in it, by their choice or the default", async () => {
    const id = await create({ name: "News", default: "SUBSCRIBED" });
    const people = await Promise.all(
      ["in@x.test", "out@x.test", "none@x.test"].map((to) => contactOf(to)),
    );
    const [joined, left] = people;
    for (const [contact, subscribed] of [
      [joined, true],
      [left, false],
    ] as const) {
      const topics = [{ topicId: id, subscribed }];
      await t.call("PUT", `/contacts/${contact?.().id}/topics`, { topics });
    }
    const members = async (given: object) => {
      const { body } = await t.call("POST", "/segments/preview", { condition: given });
      return Object(body)
        .data.members.map((each: { email: string }) => each.email)
        .toSorted();
    };
    expect(await members(condition(true))).toEqual(["in@x.test", "none@x.test"]);
    expect(await members(condition(false))).toEqual(["out@x.test"]);
    expect(await members(condition(true, "news", "notEquals"))).toEqual(["out@x.test"]);
    await t.call("PATCH", `/topics/${id}`, { default: "UNSUBSCRIBED" });
    expect(await members(condition(true))).toEqual(["in@x.test"]);
    expect(await members(condition(false))).toEqual(["none@x.test", "out@x.test"]);
  });

  test("names a topic of the project, which then cannot be deleted", async () => {
    const segment = { name: "Readers", condition: condition(true) };
    const unknown = await t.call("POST", "/segments", segment);
    expect(unknown.at("error.errors.0")).toMatchObject({
      field: "condition.groups.0.filters.0.field",
      code: "unknown_reference",
    });
    const id = await create({ name: "News" });
    await t.create("/segments", segment, "data.id");
    const refused = await t.call("DELETE", `/topics/${id}`);
    expect(refused.text("error.message")).toBe('This topic is used by segment "Readers".');
  });
});
