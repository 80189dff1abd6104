/** Conditions on the mails of a campaign, of a template and on clicked links. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { settleEventLoop } from "../../support/eventually.ts";
import { listAt } from "../../support/json.ts";
import { BROWSER, received } from "../../support/mailing.ts";
import { type CampaignApp, campaignApp } from "../campaigns/campaign-app.ts";

let t: CampaignApp;
let campaign: string;
let template: string;
const SCANNER = "Mozilla/5.0 (compatible; BarracudaCentral/1.0)";
const LINK = "https://shop.test/sale?a=1";

beforeAll(async () => {
  t = await campaignApp();
  for (const name of ["opener", "clicker", "reader", "bounced", "machine"]) {
    await t.contact(`${name}@x.test`);
  }
  campaign = await t.campaign({ body: `<a href="${LINK}">Sale</a>` });
  await t.act(campaign, "send");
  await t.settle();
  await t.contact("late@x.test");
  const content = { name: "T", subject: "S", body: "B", type: "TRANSACTIONAL" };
  template = await t.create("/templates", { ...content, from: "news@acme.test" }, "data.id");
  for (const to of ["late@x.test", "late@x.test", "reader@x.test"]) {
    await t.call("POST", "/v1/send", { to, template });
  }
  await t.settle();
  await readMails();
  t.db.sqlite.run(
    `UPDATE emails SET opened_at = 1 WHERE seq =
     (SELECT max(seq) FROM emails WHERE to_address = 'late@x.test')`,
  );
  t.db.sqlite.run("UPDATE emails SET bounced_at = 1 WHERE to_address = 'bounced@x.test'");
});
afterAll(() => t.close());

/** One recipient opens the mail, an hour later another one clicks, and a machine does both. */
async function readMails(): Promise<void> {
  const mails = await Promise.all(t.received().map((raw) => received("", raw)));
  const mailTo = (name: string) => mails.find(({ raw }) => raw.includes(`To: ${name}@x.test`));
  const clickIn = (name: string) => mailTo(name)?.hrefs.find((href) => href.includes("/c/")) ?? "";
  t.clock.advance(60_000);
  await requestUrl(mailTo("opener")?.pixel ?? "", BROWSER);
  await requestUrl(mailTo("machine")?.pixel ?? "", SCANNER);
  await requestUrl(clickIn("machine"), SCANNER);
  t.clock.advance(3_600_000);
  await requestUrl(clickIn("clicker"), BROWSER);
}

async function requestUrl(url: string, agent: string): Promise<void> {
  const headers = { "user-agent": agent };
  await t.app.handle(new Request(new URL(url, "http://localhost").href, { headers }));
  t.clock.advance(60_000);
  await settleEventLoop();
}

const one = (field: string, operator: string, rest: object = {}) => ({
  logic: "AND",
  groups: [{ filters: [{ field, operator, ...rest }] }],
});

async function found(condition: object): Promise<string[]> {
  const answer = await t.call("POST", "/segments/preview", { condition });
  expect(answer.status).toBe(200);
  const members = listAt(answer.body, "data.members");
  expect(answer.at("data.count")).toBe(members.length);
  const emails = members.map((each) => String(Reflect.get(Object(each), "email")));
  return emails.map((email) => email.split("@")[0] ?? "").toSorted();
}

const HOUR = { value: 30, unit: "minutes" };

describe("the mail of a campaign", () => {
  const cases: [operator: string, rest: object, names: string[]][] = [
    ["wasReceived", {}, ["clicker", "machine", "opener", "reader"]],
    ["wasNotReceived", {}, ["bounced", "late"]],
    ["wasReceivedWithin", { value: 1, unit: "days" }, ["clicker", "machine", "opener", "reader"]],
    ["wasOpened", {}, ["clicker", "opener"]],
    ["wasOpenedWithin", HOUR, ["clicker"]],
    ["wasNotOpened", {}, ["machine", "reader"]],
    ["wasClicked", {}, ["clicker"]],
    ["wasClickedWithin", HOUR, ["clicker"]],
    ["wasNotClicked", {}, ["machine", "opener", "reader"]],
  ];
  test.each(cases)("%s %j", async (operator, rest, names) => {
    const field = `campaign.${campaign}`;
    expect(await found(one(field, operator, rest))).toEqual(names);
    // Within an alternative, no index of the mails is scanned.
    const either = {
      logic: "OR",
      groups: [
        { filters: [{ field, operator, ...rest }] },
        { filters: [{ field: "email", operator: "equals", value: "nobody@x.test" }] },
      ],
    };
    expect(await found(either)).toEqual(names);
  });
});

describe("the mails from a template", () => {
  test.each([
    ["wasReceived", ["late", "reader"]],
    ["wasNotReceived", ["bounced", "clicker", "machine", "opener"]],
    ["wasOpened", ["late"]],
    ["wasNotOpened", ["reader"]],
  ])("%s", async (operator, names) => {
    expect(await found(one(`template.${template}`, operator))).toEqual(names);
  });
});

describe("a link", () => {
  test.each([
    ["wasClicked", {}, ["clicker"]],
    ["wasClickedWithin", HOUR, ["clicker"]],
    ["wasNotClicked", {}, ["bounced", "late", "machine", "opener", "reader"]],
  ])("%s %j", async (operator, rest, names) => {
    expect(await found(one(`link.${LINK}`, operator, rest))).toEqual(names);
    expect(await found(one("link.https://shop.test/other", operator, rest))).toHaveLength(
      operator === "wasNotClicked" ? 6 : 0,
    );
  });
});

test("a condition on mails names what is wrong", async () => {
  const wrong: [field: string, operator: string, at: string][] = [
    ["campaign.", "wasOpened", "field"],
    [`campaign.${campaign}`, "equals", "operator"],
    ["campaign.nope", "wasOpened", "field"],
    ["template.nope", "wasOpened", "field"],
    ["link.mailto:a@b.test", "wasClicked", "field"],
    [`campaign.${campaign}`, "wasOpenedWithin", "value"],
  ];
  for (const [field, operator, at] of wrong) {
    const body = { name: "S", condition: one(field, operator) };
    const answer = await t.call("POST", "/segments", body);
    expect([field, answer.at("error.errors.0.field")]).toEqual([
      field,
      `condition.groups.0.filters.0.${at}`,
    ]);
  }
});

test("a tracked segment follows opens", async () => {
  const condition = one(`campaign.${campaign}`, "wasNotOpened");
  const id = await t.create("/segments", { name: "Sleepers", condition }, "data.id");
  const count = async () => (await t.call("GET", `/segments/${id}`)).at("data.memberCount");
  expect(await count()).toBe(2);
});

test("the indexes of mails are used", () => {
  const plan = (sql: string) =>
    t.db.sqlite
      .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => detail)
      .join("\n");
  expect(
    plan(`SELECT contacts.seq FROM contacts WHERE EXISTS (
      SELECT 1 FROM emails AS mail INDEXED BY emails_template
      WHERE mail.template_id = 'x' AND mail.template_id IS NOT NULL
        AND mail.contact_seq = contacts.seq)`),
  ).toContain("emails_template (template_id=? AND contact_seq=?)");
});
