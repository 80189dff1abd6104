/** GET /campaigns/{id}/recipients by what the recipients did. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { settleEventLoop } from "../../support/eventually.ts";
import { listAt, stringAt, valueAt } from "../../support/json.ts";
import { BROWSER, type Received, received } from "../../support/mailing.ts";
import { plansOfReads } from "../../support/reads.ts";
import { signIn } from "../../support/session.ts";
import { type CampaignApp, campaignApp } from "./campaign-app.ts";

const LINKS = '<a href="https://shop.test/a">a</a> <a href="https://shop.test/b">b</a>';

let t: CampaignApp;
let id: string;

async function followLink(url: string | null | undefined, form?: string): Promise<void> {
  const { href } = new URL(url ?? "", "http://localhost");
  const request = new Request(href, {
    method: form === undefined ? "GET" : "POST",
    headers: { "user-agent": BROWSER, "content-type": "application/x-www-form-urlencoded" },
    body: form ?? null,
  });
  const response = await t.app.handle(request);
  expect(response.status).toBeLessThan(400);
  t.clock.advance(120_000);
  await settleEventLoop();
}

/** c1 clicks a, b and a; c2 opens; c3 clicks b and unsubscribes; c4 does nothing; c5 bounces. */
beforeAll(async () => {
  t = await campaignApp();
  t.insertContacts(5);
  id = await t.campaign({ body: `<body>${LINKS}</body>` });
  await t.act(id, "send");
  await t.settle();
  t.clock.advance(60_000);
  const mails = await Promise.all(t.received().map((raw) => received("", raw)));
  const linkOf = (mail: Received | undefined, position: number) =>
    mail?.hrefs.filter((href) => href.includes("/c/"))[position];
  const [first, second, third] = mails;
  await followLink(linkOf(first, 0));
  await followLink(linkOf(first, 1));
  await followLink(linkOf(first, 0));
  await followLink(second?.pixel);
  await followLink(linkOf(third, 1));
  await followLink(third?.unsubscribe, "List-Unsubscribe=One-Click");
  t.db.sqlite.run(
    `UPDATE emails SET status = 'BOUNCED', bounced_at = 5, last_error = '550 5.1.1 unknown user'
     WHERE to_address = 'c5@x.test'`,
  );
});
afterAll(() => t.close());

async function recipients(query: string) {
  const { body } = await t.call("GET", `/campaigns/${id}/recipients?${query}`);
  return { items: listAt(body, "data.items"), total: valueAt(body, "data.total"), body };
}
const link = (path: string) => `link=${encodeURIComponent(`https://shop.test/${path}`)}`;

test.each([
  ["action=OPENED", ["c3", "c2", "c1"]],
  ["action=CLICKED", ["c3", "c1"]],
  ["action=NOT_OPENED", ["c4"]],
  ["action=BOUNCED", ["c5"]],
  ["action=COMPLAINED", []],
  ["action=UNSUBSCRIBED", ["c3"]],
  [link("a"), ["c1"]],
  [link("b"), ["c3", "c1"]],
  [link("c"), []],
  [`${link("b")}&action=UNSUBSCRIBED`, ["c3"]],
  ["status=CLICKED&action=OPENED", ["c3", "c1"]],
])("%s finds %p", async (query, expected) => {
  const { items, total } = await recipients(query);
  const names = items.map((item) => stringAt(item, "email").replace("@x.test", ""));
  expect([names, total]).toEqual([expected, expected.length]);
});

test("a recipient has the times and the different links, a bounce has its reason", async () => {
  const clicked = await recipients(link("a"));
  expect(clicked.items).toEqual([
    expect.objectContaining({
      email: "c1@x.test",
      status: "CLICKED",
      openedAt: expect.any(String),
      clickedAt: expect.any(String),
      bouncedAt: null,
      complainedAt: null,
      links: ["https://shop.test/a", "https://shop.test/b"],
    }),
  ]);
  const bounced = await recipients("action=BOUNCED");
  expect(bounced.items).toEqual([
    expect.objectContaining({
      bouncedAt: "1970-01-01T00:00:00.005Z",
      lastError: "550 5.1.1 unknown user",
      links: [],
    }),
  ]);
});

test("a filtered list has pages, each with the exact total", async () => {
  const first = await recipients("action=OPENED&limit=2");
  const cursor = encodeURIComponent(stringAt(first.body, "data.nextCursor"));
  const second = await recipients(`action=OPENED&limit=2&cursor=${cursor}`);
  expect([first.items.length, second.items.length, second.total]).toEqual([2, 1, 3]);
});

test("an unknown action is refused", async () => {
  expect((await t.call("GET", `/campaigns/${id}/recipients?action=LEFT`)).status).toBe(422);
});

test("reads mails by the index of their campaign, and events by that of their mail", async () => {
  const plans = await plansOfReads(t.app.app, () => recipients(`${link("b")}&action=UNSUBSCRIBED`));
  expect(plans).toHaveLength(2);
  for (const plan of plans) {
    expect(plan).toContain("INDEX emails_campaign (campaign_seq=?");
    expect(plan).toContain("INDEX events_email (email_seq=?)");
    expect(plan).not.toMatch(/SCAN (?!json_each)|TEMP B-TREE/);
  }
});

test("a viewer sees links without query, and finds recipients by them", async () => {
  t.db.sqlite.run(`UPDATE campaign_links SET url = replace(url, 'test/a', 'test/a?token=5')`);
  const full = "https://shop.test/a?token=5";
  t.db.sqlite.run(
    `UPDATE events SET data = json_object('url', ?) WHERE data LIKE '%shop.test/a"%'`,
    [full],
  );
  const viewer = await signIn(t, { email: "viewer@example.com", isOwner: false });
  await t.app.writer.write(() =>
    t.app.accounts.members.put(t.project.seq, viewer.user.seq, "VIEWER"),
  );
  const read = (path: string) =>
    viewer.call("GET", `/campaigns/${id}/${path}`, undefined, { "x-project": t.project.id });
  const found = await read(`recipients?${link("a")}`);
  expect(found.at("data.items")).toMatchObject([
    { email: "c1@x.test", links: ["https://shop.test/a", "https://shop.test/b"] },
  ]);
  expect((await read(`recipients?link=${encodeURIComponent(full)}`)).at("data.total")).toBe(0);
  const stats = await read("stats");
  expect(stats.at("data.links")).toMatchObject([
    { url: "https://shop.test/a", clicks: 2, uniqueClicks: 1 },
    { url: "https://shop.test/b", clicks: 2, uniqueClicks: 2 },
  ]);
});
