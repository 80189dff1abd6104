/** GET /campaigns/summaries: campaigns without their content, with their main numbers. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { settleEventLoop } from "../../support/eventually.ts";
import { readInBackground } from "../../support/event-stream.ts";
import { listAt, stringAt } from "../../support/json.ts";
import { plansOfReads } from "../../support/reads.ts";
import { type CampaignApp, campaignApp } from "./campaign-app.ts";

let t: CampaignApp;
let ids: { sent: string; draft: string; segment: string };

beforeAll(async () => {
  t = await campaignApp();
  t.insertContacts(3);
  await t.call("POST", "/suppressions", { email: "c1@x.test" });
  const sent = await t.campaign({ name: "Spring 100%" });
  await t.act(sent, "send");
  await t.settle();
  t.clock.advance(1_000);
  const segment = await t.create("/segments", { name: "Readers", type: "STATIC" }, "data.id");
  const draft = await t.campaign({ name: "Autumn", audienceType: "SEGMENT", segmentId: segment });
  ids = { sent, draft, segment };
});
afterAll(() => t.close());

const summaries = async (query = "") => {
  const { body } = await t.call("GET", `/campaigns/summaries${query}`);
  return { items: listAt(body, "data.items"), body };
};
const names = async (query: string) =>
  (await summaries(query)).items.map((item) => stringAt(item, "name"));

test("shows the numbers, the segment and the dates of each campaign, newest first", async () => {
  const { items } = await summaries();
  expect(items).toEqual([
    {
      id: ids.draft,
      name: "Autumn",
      subject: "Hello {{ name }}",
      status: "DRAFT",
      statusReason: null,
      audienceType: "SEGMENT",
      segmentId: ids.segment,
      segmentName: "Readers",
      scheduledAt: null,
      startedAt: null,
      finishedAt: null,
      imported: null,
      abTestState: null,
      createdAt: new Date(t.clock.now()).toISOString(),
      totalRecipients: 0,
      queued: 0,
      sent: 0,
      delivered: 0,
      opened: 0,
      clicked: 0,
      bounced: 0,
      bouncedLater: 0,
      complained: 0,
      unsubscribed: 0,
    },
    expect.objectContaining({
      id: ids.sent,
      status: "SENT",
      segmentId: null,
      segmentName: null,
      totalRecipients: 3,
      queued: 0,
      sent: 2,
    }),
  ]);
});

test.each([
  ["", ["Autumn", "Spring 100%"]],
  ["?status=SENT", ["Spring 100%"]],
  ["?status=PAUSED", []],
  ["?name=AUT", ["Autumn"]],
  ["?name=0%25", ["Spring 100%"]],
  ["?name=_", []],
  ["?name=%5C", []],
])("the filter %p finds %p", async (query, expected) => {
  expect(await names(query)).toEqual(expected);
});

test("reads only the campaigns of the project, in the order of the list", async () => {
  const plans = await plansOfReads(t.app.app, () => summaries("?status=SENT&name=A&limit=1"));
  expect(plans).toEqual([
    "SEARCH campaigns USING INDEX campaigns_page (project_seq=? AND seq<?)",
    "SEARCH campaigns USING INDEX campaigns_page (project_seq=?)",
  ]);
});

test("finds the campaigns before another one, page by page", async () => {
  expect(await names(`?before=${ids.draft}`)).toEqual(["Spring 100%"]);
  expect(await names(`?before=${ids.sent}`)).toEqual([]);
  const first = await summaries("?limit=1");
  const cursor = encodeURIComponent(stringAt(first.body, "data.nextCursor"));
  expect(await names(`?limit=1&cursor=${cursor}`)).toEqual(["Spring 100%"]);
});

test("answers 404 for a campaign of another project, and shows it nothing", async () => {
  const { secretKey: key } = await t.makeProject("other");
  const answer = await t.call("GET", `/campaigns/summaries?before=${ids.sent}`, undefined, { key });
  expect(answer.status).toBe(404);
  const list = await t.call("GET", "/campaigns/summaries", undefined, { key });
  expect(list.at("data")).toEqual({ items: [], nextCursor: null, hasMore: false, total: 0 });
});

test("a campaign is shown as a document for a contact", async () => {
  const contact = await t.contact("ada@x.test", { data: { name: "Ada <3" } });
  const shown = await t.call("GET", `/campaigns/${ids.sent}/preview?contactId=${contact}`);
  expect(shown.body).toStartWith("<p>Dear Ada &lt;3</p><div ");
  expect(shown.headers.get("content-security-policy")).toContain("default-src 'none'");
  const text = await t.call("GET", `/campaigns/${ids.sent}/preview?part=text`);
  expect([text.status, text.body, text.headers.get("content-type")]).toEqual([
    200,
    expect.stringMatching(/^Dear\n\n--\n.+\nUnsubscribe: /),
    "text/plain; charset=utf-8",
  ]);
  expect((await t.call("GET", `/campaigns/${ids.sent}/preview?contactId=x`)).status).toBe(404);
});

test("every change of a campaign is told to the dashboard after its commit", async () => {
  const { body: stream } = await t.app.handle(
    new Request("http://localhost/app/api/live", {
      headers: { authorization: `Bearer ${t.secretKey}` },
    }),
  );
  if (stream === null) throw new Error("the response has no body");
  const { state, cancel } = readInBackground(stream);
  const id = await t.campaign();
  const line = `data: ${JSON.stringify({ type: "campaign.changed", id })}\n`;

  /** The number of notices of the change since the last call. */
  async function told(): Promise<number> {
    t.clock.advance(100);
    await settleEventLoop();
    const times = state.text.split(line).length - 1;
    state.text = "";
    return times;
  }
  expect(await told()).toBe(1);
  const scheduledFor = new Date(t.clock.now() + 60_000).toISOString();
  for (const act of [
    () => t.call("PATCH", `/campaigns/${id}`, { name: "Winter", rate: 1 / 60 }),
    () => t.act(id, "send", { scheduledFor }),
    () => t.act(id, "unschedule"),
    () => t.act(id, "send"),
    () => t.act(id, "pause"),
    () => t.act(id, "resume"),
    () => t.act(id, "cancel"),
  ]) {
    expect((await act()).status).toBeLessThan(300);
    expect(await told()).toBe(1);
  }
  expect((await t.act(id, "pause")).status).toBe(409);
  expect(await told()).toBe(0);
  await cancel();
});
