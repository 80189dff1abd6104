/** POST /campaigns/import: campaigns that another product has sent, as a record of the past. */

import { beforeEach, expect, test } from "bun:test";
import { listAt, valueAt } from "../../support/json.ts";
import { CAMPAIGN_INVARIANTS } from "../../../src/modules/campaigns/invariants.ts";
import { type CampaignApp, campaignsPerTest } from "./campaign-app.ts";

let t: CampaignApp;
const next = campaignsPerTest();
beforeEach(async () => {
  t = await next();
});

const PAST = {
  source: "listmonk",
  sourceId: "7",
  name: "March letter",
  subject: "March, {{ name }}",
  body: "<p>Hello {{ name }}</p>",
  from: "news@elsewhere.example",
  fromName: "Harbour Books",
  sentAt: "2024-03-02T09:00:00Z",
  counts: { recipients: 900, sent: 896, opens: 410 },
};

const store = (rest: Record<string, unknown> = {}) =>
  t.call("POST", "/campaigns/import", { ...PAST, ...rest });

async function imported(rest: Record<string, unknown> = {}): Promise<string> {
  const stored = await store(rest);
  expect(stored.status).toBe(201);
  return stored.text("data.id");
}

test("is SENT with the totals of the other product, which count in no statistics here", async () => {
  await t.contact("ada@x.test");
  const id = await imported();
  await t.settle();
  const origin = {
    source: "listmonk",
    sourceId: "7",
    sentAt: "2024-03-02T09:00:00.000Z",
    importedAt: new Date(t.clock.now()).toISOString(),
    counts: {
      recipients: 900,
      sent: 896,
      delivered: null,
      opened: null,
      opens: 410,
      clicked: null,
      clicks: null,
      bounced: null,
      complained: null,
      unsubscribed: null,
    },
  };
  expect((await t.call("GET", `/campaigns/${id}`)).at("data")).toMatchObject({
    name: "March letter",
    status: "SENT",
    from: "news@elsewhere.example",
    startedAt: null,
    finishedAt: null,
    missing: [],
    imported: origin,
  });
  const [summary] = listAt((await t.call("GET", "/campaigns/summaries")).body, "data.items");
  expect(summary).toMatchObject({ status: "SENT", sent: 0, opened: 0, imported: origin });
  expect(await t.stats(id)).toMatchObject({ totalRecipients: 0, sent: 0, opened: 0 });
  expect(t.count("true")).toBe(0);
  const own = await t.campaign();
  for (const [isImported, found] of [
    [true, id],
    [false, own],
  ]) {
    const list = await t.call("GET", `/campaigns/summaries?imported=${isImported}`);
    expect(listAt(list.body, "data.items").map((item) => valueAt(item, "id"))).toEqual([found]);
  }
  for (const { violations } of CAMPAIGN_INVARIANTS) {
    expect(t.db.sqlite.query(violations).all()).toEqual([]);
  }
});

test("is found again by its source and its id there, in its own project only", async () => {
  const id = await imported();
  const again = await store({ name: "Other" });
  expect([again.status, again.text("data.id"), again.text("data.name")]).toEqual([
    200,
    id,
    "March letter",
  ]);
  await imported({ source: "Plunk" });
  await imported({ sourceId: "8" });
  expect((await t.call("GET", "/campaigns/summaries")).at("data.total")).toBe(3);
  t = await next();
  await imported();
});

test.each([
  ["send", "INVALID_STATE"],
  ["pause", "INVALID_STATE"],
  ["follow-up", "INVALID_STATE"],
])("cannot %s", async (action, code) => {
  const refused = await t.act(await imported(), action);
  expect([refused.status, refused.text("error.code")]).toEqual([409, code]);
});

test("has no public page, is copied into a draft, and can be deleted", async () => {
  const id = await imported();
  const page = await t.call("PATCH", `/campaigns/${id}`, { archived: true });
  expect([page.status, page.text("error.message")]).toEqual([
    409,
    "An imported campaign has no public page.",
  ]);
  const copy = await t.act(id, "duplicate");
  expect(copy.at("data")).toMatchObject({ status: "DRAFT", imported: null, body: PAST.body });
  expect((await t.act(copy.text("data.id"), "send")).status).toBe(422);
  expect((await t.call("DELETE", `/campaigns/${id}`)).status).toBe(204);
  await imported();
});

test.each([
  [{ source: "" }, "source"],
  [{ sourceId: null }, "sourceId"],
  [{ body: "{% if %}" }, "body"],
  [{ subject: "two\nlines" }, "subject"],
  [{ sentAt: "yesterday" }, "sentAt"],
  [{ sentAt: "2999-01-01T00:00:00Z" }, "sentAt"],
  [{ counts: { sent: -1 } }, "counts.sent"],
  [{ counts: { sents: 1 } }, "counts.sents"],
  [{ from: "nobody" }, "from"],
])("refuses %j", async (field, name) => {
  const refused = await store(field);
  expect([refused.status, valueAt(refused.body, "error.errors.0.field")]).toEqual([422, name]);
  expect(t.countRows("campaigns")).toBe(0);
});
