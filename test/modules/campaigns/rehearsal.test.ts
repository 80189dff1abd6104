import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { chooseSample } from "../../../src/modules/campaigns/rehearsal-sample.ts";
import { listAt, valueAt } from "../../support/json.ts";
import { type CampaignApp, campaignsPerTest } from "./campaign-app.ts";

let t: CampaignApp;
const next = campaignsPerTest();
// The first rehearsal starts the thread that checks messages.
beforeAll(async () => {
  t = await next();
  await t.contact("first@x.test");
  await rehearse(await t.campaign());
});
beforeEach(async () => {
  t = await next();
});

const rehearse = (id: string, body?: object) => t.act(id, "rehearsal", body);

describe("a rehearsal", () => {
  test("stores a checked message for each contact, and nothing else happens", async () => {
    await t.contact("ada@x.test", { data: { name: "Ada" } });
    await t.contact("bob@x.test", { data: {} });
    await t.contact("out@x.test", { subscribed: false });
    const id = await t.campaign({
      body: '<html><body>{% if name %}Dear {{ name }}{% endif %} <a href="https://x.test/">x</a></body></html>',
    });
    const before = t.contents();
    const answer = await rehearse(id);
    expect(answer.status).toBe(200);
    expect(answer.at("data")).toMatchObject({ rendered: 2, failed: 0 });
    const [first, second] = listAt(answer.body, "data.variants");
    expect(first).toMatchObject({
      contact: { email: "ada@x.test", data: { name: "Ada" } },
      reasons: ["oldest contact", 'name is "Ada"'],
      subject: "Hello Ada",
      fault: null,
    });
    expect(second).toMatchObject({
      contact: { email: "bob@x.test" },
      reasons: ["newest contact", "name is missing"],
    });
    expect(listAt(first, "findings").length).toBeGreaterThan(3);
    const path = `/inboxes/rehearsal/messages/${String(valueAt(first, "messageId"))}`;
    const message = await t.call("GET", `${path}/html`);
    expect(await t.call("GET", path)).toMatchObject({ status: 200 });
    expect(message.status).toBe(200);
    // Neither mails nor events nor counters nor contacts have changed. Readers of the log go on
    // after the contacts were created.
    const after = t.contents();
    const changed = Object.keys(after).filter(
      (table) => JSON.stringify(after[table]) !== JSON.stringify(before[table]),
    );
    const others = changed.filter((table) => !table.startsWith("inbox") && table !== "readers");
    expect(others).toEqual([]);
    expect(t.received()).toEqual([]);
  });

  test("says for whom a campaign cannot be rendered", async () => {
    await t.contact("ada@x.test", { data: { n: "2" } });
    await t.contact("bob@x.test", { data: { n: "" } });
    const id = await t.campaign({ subject: "{{ n }}" });
    const variants = listAt((await rehearse(id)).body, "data.variants");
    expect(variants).toMatchObject([
      { contact: { email: "ada@x.test" }, subject: "2", fault: null },
      { contact: { email: "bob@x.test" }, subject: null, messageId: null },
    ]);
    expect(valueAt(variants[1], "fault")).toContain("subject");
  });

  test("needs a complete campaign, a recipient and a valid size", async () => {
    const draft = await t.create("/campaigns/drafts", { name: "D" }, "data.id");
    expect((await rehearse(draft)).status).toBe(422);
    const id = await t.campaign();
    expect((await rehearse(id)).status).toBe(409);
    await t.contact("ada@x.test");
    for (const sample of [0, 101, 1.5]) {
      const answer = await rehearse(id, { sample });
      expect([sample, answer.at("error.errors.0.field")]).toEqual([sample, "sample"]);
    }
  });

  test("is forgotten with its contact", async () => {
    const contactId = await t.contact("ada@x.test");
    await t.contact("bob@x.test");
    await rehearse(await t.campaign());
    const total = async () => (await t.call("GET", "/inboxes/rehearsal/messages")).at("data.total");
    expect(await total()).toBe(2);
    expect((await t.call("DELETE", `/contacts/${contactId}`)).status).toBe(204);
    expect(await total()).toBe(1);
  });
});

describe("the sample", () => {
  const contact = (seq: number, data: Record<string, unknown>) => ({ seq, data });
  const contacts = [
    contact(1, { name: "Ada", plan: "free" }),
    contact(2, { name: "Bob", plan: "free" }),
    contact(3, { name: "Cy", plan: "pro" }),
    contact(4, { plan: "free" }),
    contact(5, { name: "<b>Łukasz</b>", plan: "free", order: { total: 5 } }),
    contact(6, { name: "Dan", plan: "free" }),
  ];

  test("prefers contacts that differ most from those before", () => {
    const chosen = chooseSample(contacts, ["name", "data.plan", "order.total"], 5);
    expect(chosen.map(({ contact: { seq } }) => seq)).toEqual([1, 6, 5, 3, 2]);
    expect(chosen[2]?.reasons).toEqual([
      "name has characters of HTML",
      'name is "<b>Łukasz</b>"',
      "order.total is a number",
      "order.total is 5",
    ]);
  });

  test("has each contact at most once, and no more than there are", () => {
    expect(chooseSample(contacts, [], 100)).toHaveLength(6);
    expect(chooseSample(contacts.slice(0, 1), ["name"], 20)).toHaveLength(1);
    expect(chooseSample([], ["name"], 20)).toEqual([]);
    expect(chooseSample(contacts, ["name"], 1)).toHaveLength(1);
  });
});
