import { beforeEach, expect, test } from "bun:test";
import { type CampaignApp, campaignsPerTest } from "./campaign-app.ts";

let t: CampaignApp;
const next = campaignsPerTest();
beforeEach(async () => {
  t = await next();
});

const recipients = (id: string) =>
  t.db.sqlite
    .query<{ email: string }, [string]>(
      `SELECT to_address AS email FROM emails JOIN campaigns ON campaigns.seq = campaign_seq
       WHERE campaigns.id = ? ORDER BY 1`,
    )
    .all(id)
    .map(({ email }) => email);

async function sent(): Promise<string> {
  for (const name of ["ada", "bob", "cy"]) await t.contact(`${name}@x.test`);
  const id = await t.campaign({ preheader: "Soon" });
  await t.act(id, "send");
  await t.settle();
  t.db.sqlite.run("UPDATE emails SET opened_at = 1 WHERE to_address = 'ada@x.test'");
  t.db.sqlite.run("UPDATE emails SET machine_opened_at = 1 WHERE to_address = 'bob@x.test'");
  await t.contact("new@x.test");
  return id;
}

test("a follow-up goes to those who got the campaign and did not open it", async () => {
  const id = await sent();
  const answer = await t.act(id, "follow-up", { subject: "Once more" });
  expect(answer.status).toBe(201);
  expect(answer.at("data")).toMatchObject({
    name: "Spring (not opened)",
    subject: "Once more",
    preheader: "Soon",
    status: "DRAFT",
    audienceType: "FILTERED",
    audienceFilter: {
      logic: "AND",
      groups: [{ filters: [{ field: `campaign.${id}`, operator: "wasNotOpened" }] }],
    },
    missing: [],
  });
  const followUp = answer.text("data.id");
  // A contact that opens or unsubscribes meanwhile does not get it.
  t.db.sqlite.run("UPDATE contacts SET is_subscribed = 0 WHERE email = 'cy@x.test'");
  await t.act(followUp, "send");
  await t.settle();
  expect(recipients(followUp)).toEqual(["bob@x.test"]);
});

test("a follow-up of those who did not click has the same subject", async () => {
  const id = await sent();
  const answer = await t.act(id, "follow-up", { audience: "NOT_CLICKED" });
  expect(answer.at("data")).toMatchObject({
    name: "Spring (not clicked)",
    subject: "Hello {{ name }}",
  });
  const counted = await t.call("GET", `/campaigns/${answer.text("data.id")}/audience`);
  expect(counted.at("data.recipients")).toBe(3);
});

test("a campaign that was not sent has no follow-up", async () => {
  expect((await t.act(await t.campaign(), "follow-up")).status).toBe(409);
});

test("a follow-up with a faulty subject is refused", async () => {
  const answer = await t.act(await sent(), "follow-up", { subject: "{% if %}" });
  expect([answer.status, answer.at("error.errors.0.field")]).toEqual([422, "subject"]);
});
