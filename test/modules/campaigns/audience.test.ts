import { afterAll, beforeAll, expect, test } from "bun:test";
import { type CampaignApp, campaignApp } from "./campaign-app.ts";

let t: CampaignApp;
beforeAll(async () => {
  t = await campaignApp();
  t.insertContacts(5);
  await t.contact("out@x.test", { subscribed: false });
  await t.contact("both@x.test", { subscribed: false });
  for (const email of ["c1@x.test", "c2@x.test", "both@x.test", "stranger@x.test"]) {
    await t.call("POST", "/suppressions", { email });
  }
});
afterAll(() => t.close());

const breakdown = async (id: string) =>
  (await t.call("GET", `/campaigns/${id}/audience`)).at("data");

test("counts each contact that gets no mail once, with its first reason", async () => {
  const counts = { matching: 7, unsubscribed: 2, suppressed: 2, recipients: 3 };
  const id = await t.campaign();
  expect(await breakdown(id)).toEqual(counts);
  await t.act(id, "send");
  await t.settle();
  expect(await t.stats(id)).toMatchObject({ totalRecipients: 5, suppressed: 2, sent: 3 });
});

test("counts the members of a segment", async () => {
  const segment = await t.create("/segments", { name: "Static", type: "STATIC" }, "data.id");
  await t.call("POST", `/segments/${segment}/members`, { emails: ["c1@x.test", "c3@x.test"] });
  const id = await t.campaign({ audienceType: "SEGMENT", segmentId: segment });
  const counts = { matching: 2, unsubscribed: 0, suppressed: 1, recipients: 1 };
  expect(await breakdown(id)).toEqual(counts);
});

test("answers 404 for a campaign of another project", async () => {
  const other = await t.makeProject("other");
  const id = await t.campaign();
  const answer = await t.call("GET", `/campaigns/${id}/audience`, undefined, {
    key: other.secretKey,
  });
  expect(answer.status).toBe(404);
});
