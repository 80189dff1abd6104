import { beforeEach, expect, test } from "bun:test";
import { removeOldData } from "../../../src/modules/retention.ts";
import { settleEventLoop, waitUntil } from "../../support/eventually.ts";
import { BROWSER, type Received, received } from "../../support/mailing.ts";
import { type CampaignApp, campaignsPerTest } from "./campaign-app.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const SCANNER = "Mozilla/5.0 (compatible; BarracudaCentral/1.0)";
const LINKS = '<a href="https://shop.test/a">a</a> <a href="https://shop.test/b">b</a>';

let t: CampaignApp;
const next = campaignsPerTest();

beforeEach(async () => {
  t = await next();
});

/** A campaign that three recipients received a minute ago. */
async function sentCampaign(): Promise<{ id: string; mails: Received[] }> {
  t.insertContacts(3);
  const id = await t.campaign({ body: `<body>${LINKS}</body>` });
  await t.act(id, "send");
  await t.settle();
  t.clock.advance(MINUTE);
  return { id, mails: await Promise.all(t.received().map((raw) => received("", raw))) };
}

/** Sends a request to the tracking server and waits two minutes, so that the next one counts. */
async function requestUrl(url: string, { method = "GET", agent = BROWSER } = {}): Promise<void> {
  const request = new Request(new URL(url, "http://localhost").href, {
    method,
    headers: { "user-agent": agent },
  });
  await t.app.handle(request);
  t.clock.advance(2 * MINUTE);
  await settleEventLoop();
}

/** Lets time pass until all readers of the log have read the first click: until then its event stays. */
function readClick(): boolean {
  t.clock.advance(MINUTE);
  const found = t.db.sqlite
    .query<{ isRead: number }, [number]>(
      `SELECT (SELECT min(seq) FROM readers) >= seq AS isRead FROM events
       WHERE project_seq = ? AND name = 'email.clicked'`,
    )
    .get(t.project.seq);
  return found?.isRead === 1;
}

const linkTo = (mail: Received | undefined, position: number): string =>
  mail?.hrefs.filter((href) => href.includes("/c/"))[position] ?? "";

test("counts people once, every click, and machines separately, by hour", async () => {
  const { id, mails } = await sentCampaign();
  const [first, second, third] = mails;
  await requestUrl(first?.pixel ?? "");
  await requestUrl(first?.pixel ?? "");
  await requestUrl(linkTo(first, 0));
  await requestUrl(linkTo(first, 0));
  await requestUrl(linkTo(first, 1));
  await requestUrl(third?.pixel ?? "", { agent: SCANNER });
  await requestUrl(linkTo(third, 0), { method: "HEAD" });
  t.clock.advance(60 * MINUTE);
  await requestUrl(linkTo(second, 0));
  expect(await t.stats(id)).toMatchObject({
    totalRecipients: 3,
    sent: 3,
    opened: 2,
    clicked: 2,
    machineOpens: 1,
    machineClicks: 1,
    openRate: 2 / 3,
    clickRate: 2 / 3,
    links: [
      { url: "https://shop.test/a", clicks: 3, uniqueClicks: 2 },
      { url: "https://shop.test/b", clicks: 1, uniqueClicks: 1 },
    ],
    timeline: [
      { at: "2026-03-02T10:00:00.000Z", opens: 1, clicks: 3 },
      { at: "2026-03-02T11:00:00.000Z", opens: 1, clicks: 1 },
    ],
    sentByHour: [{ at: "2026-03-02T10:00:00.000Z", sent: 3 }],
  });
});

test("counts a person who clicks once, also if the events of the first click were deleted", async () => {
  const { id, mails } = await sentCampaign();
  await requestUrl(linkTo(mails[0], 0));
  await waitUntil(readClick);
  t.clock.advance(40 * DAY);
  const days = { bodies: 0, raw: 0, events: 30, deliveries: 0 };
  const app = { ...t.app.app };
  while (await removeOldData(app, days));
  expect(t.eventNames()).not.toContain("email.clicked");
  const from = new Date(t.clock.now()).toISOString();
  await requestUrl(linkTo(mails[0], 0));
  expect(t.eventNames()).toContain("email.clicked");
  expect(await t.stats(id)).toMatchObject({ clicked: 1, clickRate: 1 / 3 });
  const project = await t.call("GET", `/stats?from=${from}&interval=HOUR`);
  expect(project.at("data.totals.clicked")).toBe(0);
});

test("counts an unsubscription by the link of a mail once for its campaign", async () => {
  const { id, mails } = await sentCampaign();
  const unsubscribe = () =>
    t.app.handle(
      new Request(new URL(mails[0]?.unsubscribe ?? "", "http://localhost").href, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: "List-Unsubscribe=One-Click",
      }),
    );
  expect((await unsubscribe()).status).toBe(200);
  await unsubscribe();
  await t.app.handle(
    new Request(new URL(mails[0]?.subscribe ?? "", "http://localhost").href, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "action=subscribe",
    }),
  );
  await unsubscribe();
  expect(t.eventNames().filter((name) => name === "contact.unsubscribed")).toHaveLength(2);
  expect(await t.stats(id)).toMatchObject({ unsubscribed: 1, unsubscribeRate: 1 / 3 });
});

test("counters equal the numbers of rows and events", async () => {
  const { id } = await sentCampaign();
  const count = (sql: string) =>
    t.db.sqlite
      .query<{ n: number }, [number]>(`SELECT count(*) AS n FROM ${sql} AND project_seq = ?`)
      .get(t.project.seq)?.n;
  expect(await t.stats(id)).toMatchObject({
    totalRecipients: count("emails WHERE campaign_seq IS NOT NULL"),
    sent: count("events WHERE name = 'email.sent'"),
    queued: count("emails WHERE next_at IS NOT NULL"),
  });
});
