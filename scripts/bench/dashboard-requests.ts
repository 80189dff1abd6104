/** The requests of each page of the dashboard, recorded in Chromium, and of its searches. */

import type { Browser } from "playwright-core";
import { openPageIn, startBrowser, withoutLiveMessages } from "../../test/support/browser.ts";
import { stringAt } from "../../test/support/json.ts";
import { DASHBOARD_PAGES, OBJECT_LISTS, type Place } from "../pages/dashboard-pages.ts";

type Get = (path: string) => Promise<unknown>;

export type PageRequests = { name: string; paths: readonly string[] };

/** Searches and dialogs of the pages that read more than the page did. */
const ACTIONS: readonly PageRequests[] = [
  {
    name: "palette, search for a word",
    paths: [
      "/contacts?search=zofia&limit=5",
      "/campaigns/summaries?name=books&limit=5",
      "/templates?name=order&limit=5",
    ],
  },
  { name: "palette, search for nothing", paths: ["/contacts?search=qqqzzz&limit=5"] },
  { name: "contacts, fields of the columns", paths: ["/contacts/fields?counted=NEWEST"] },
  { name: "contacts, search", paths: ["/contacts?search=post.example&limit=50"] },
  { name: "contacts, unsubscribed", paths: ["/contacts?subscribed=false&limit=50"] },
  { name: "suppressions, search", paths: ["/suppressions?email=zofia&limit=50"] },
  { name: "suppressions, bounces", paths: ["/suppressions?reason=HARD_BOUNCE&limit=50"] },
  { name: "events, names", paths: ["/events/names?limit=100"] },
  { name: "events, one name", paths: ["/events?event=email.clicked&limit=50"] },
];

/** Opens each page that a signed-in user of the project has, and returns its requests. */
export async function recordPages(options: {
  base: string;
  project: string;
  cookie: string;
  read: Get;
}): Promise<PageRequests[]> {
  const { base, project, cookie, read } = options;
  const place = { project, ids: await idsOf(read) };
  const browser = await startBrowser();
  const recorded: PageRequests[] = [];
  for (const { name, path, isPublic } of DASHBOARD_PAGES) {
    if (isPublic) continue;
    const paths = await record(browser, { base, cookie, url: `${base}/app${path(place)}` });
    recorded.push({ name, paths });
  }
  await browser.close();
  return [...recorded, ...ACTIONS];
}

async function idsOf(read: Get): Promise<Place["ids"]> {
  const first = async ({ path, id }: { path: string; id: string }) =>
    stringAt(await read(path), id);
  const { email, contact, segment, buyers, form, campaign, draft, workflow } = OBJECT_LISTS;
  const { template, webhook, domain, suppression, message, received } = OBJECT_LISTS;
  return {
    email: await first(email),
    contact: await first(contact),
    segment: await first(segment),
    buyers: await first(buyers),
    form: await first(form),
    campaign: await first(campaign),
    draft: await first(draft),
    workflow: await first(workflow),
    template: await first(template),
    webhook: await first(webhook),
    domain: await first(domain),
    suppression: await first(suppression),
    message: await first(message),
    received: await first(received),
  };
}

/** The paths of the API that a page reads until it is quiet, in their order. */
async function record(
  browser: Browser,
  { base, cookie, url }: { base: string; cookie: string; url: string },
): Promise<string[]> {
  const paths: string[] = [];
  const { page, close } = await openPageIn(browser, url, {
    cookie,
    async prepare(opened) {
      await withoutLiveMessages(opened);
      opened.on("request", (request) => {
        const path = request.url().slice(base.length);
        const isRead = request.method() === "GET" && request.resourceType() === "fetch";
        if (isRead && !path.startsWith("/app/api/live")) paths.push(path);
      });
    },
  });
  await page.waitForLoadState("networkidle");
  await close();
  return paths;
}
