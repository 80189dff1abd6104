/**
 * Measures the pages Emails and Inbox of the dashboard with 200,000 mails and 100,000 captured
 * messages: the time until the server has answered what the first content needs, of pages, searches
 * and opened mails, and how long the event loop was blocked meanwhile. If Chromium is there, it also
 * measures the time until the first row is in the document, and what every page requests
 * (dashboard-pages.ts).
 */

import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { hasChromium, openPageIn, startBrowser } from "../../test/support/browser.ts";
import { listAt, stringAt, valueAt } from "../../test/support/json.ts";
import { signIn } from "../pages/sign-in.ts";
import { seedDemo } from "../seed/demo.ts";
import { DEMO_PASSWORD, DEMO_USERS } from "../seed/demo/team.ts";
import { DEMO_SCALES } from "../seed/demo/year.ts";
import { removeFolder, temporaryFolder } from "./children.ts";
import { benchPages } from "./dashboard-pages.ts";
import { recordPages } from "./dashboard-requests.ts";
import { startProbedServer } from "./loop.ts";
import { latencies } from "./probes.ts";
import { type Aim, ms, msAim, printLatencies, printValue, reportAims, whole } from "./report.ts";

const CAPTURE_LIMITS = ["--capture-max-messages", "0", "--capture-max-days", "0"];
const ARGUMENTS = ["--transport", "capture", "--user-rate", "0", ...CAPTURE_LIMITS];
const LOADS = 30;
const QUICK_LOADS = 5;
/** Pages of a list that are read after each other, as by scrolling. */
const SCROLLED_PAGES = 100;
const MAX_FIRST_CONTENT_MS = 300;
/** A search that finds too little stops after two seconds. */
const MAX_SEARCH_MS = 2_500;
const QUICK = { ...DEMO_SCALES.small, inboxMessages: 2_000 };

type Get = (path: string) => Promise<unknown>;
type PageLoad = {
  name: string;
  /** The answers that the first content needs, in the order in which a page asks for them; a search has one. */
  paths: readonly string[];
};

const EMAILS = "/emails?limit=50";
const MESSAGES = "/inboxes/default/messages?limit=50";
const search = (query: string) => `${MESSAGES}&query=${encodeURIComponent(query)}`;

/** The mails that match a rare term are spread over the whole list. */
const PAGE_LOADS: readonly PageLoad[] = [
  { name: "Emails", paths: ["/app/api/state", EMAILS] },
  { name: "Emails, to a domain", paths: [`${EMAILS}&to=@post.example`] },
  { name: "Emails, bounced", paths: [`${EMAILS}&status=BOUNCED`] },
  { name: "Emails, part of a subject", paths: [`${EMAILS}&subject=book`] },
  { name: "Inbox", paths: ["/app/api/state", "/inboxes?limit=100", MESSAGES] },
  { name: "Inbox, search for text", paths: [search("lighthouse")] },
  { name: "Inbox, search for a recipient", paths: [search("to:zofia@reader.example")] },
  { name: "Inbox, unread messages", paths: [search("is:unread")] },
];

export async function benchDashboard(options: {
  binary: string | null;
  isQuick: boolean;
  seeded: string | null;
}): Promise<boolean> {
  const { binary, isQuick } = options;
  const data = await seededCopy(options);
  const server = await startProbedServer({ binary, data, args: ARGUMENTS });
  const base = `http://127.0.0.1:${server.port}`;
  const { name, value } = await signIn(base, DEMO_USERS[0]?.email ?? "", DEMO_PASSWORD);
  const cookie = `${name}=${value}`;
  const state = await get(base, { cookie }, "/app/api/state");
  const project = stringAt(state, "data.projects.0.id");
  const read: Get = (path) => get(base, { cookie, "x-project": project }, path);
  const sizes = await Promise.all([EMAILS, MESSAGES].map(read));
  const [mails, messages] = sizes.map((page) => Number(valueAt(page, "data.total")));
  console.log(`dashboard: ${whole(mails ?? 0)} mails, ${whole(messages ?? 0)} captured messages`);
  // The code of the checks is loaded by the first one.
  await read(`/inboxes/default/messages/${stringAt(sizes[1], "data.items.0.id")}/checks`);
  await server.reportLoop("the first requests");
  const aims: Aim[] = [];
  for (const load of PAGE_LOADS) aims.push(await measure(read, load, isQuick));
  aims.push(...(await server.reportLoop("opening and searching the lists")));
  for (const path of [EMAILS, MESSAGES]) await openAndScroll(read, path);
  aims.push(...(await server.reportLoop("scrolling, and opening mails and messages")));
  if (hasChromium) await measureBrowser(base, project, cookie);
  const pages = hasChromium ? await recordPages({ base, project, cookie, read }) : [];
  await server.stop();
  const headers = { cookie, "x-project": project };
  const request = (at: string, path: string) => fetchWhole(at + path, headers);
  aims.push(...(await benchPages({ binary, data, args: ARGUMENTS, pages, request })));
  removeFolder(data);
  return reportAims(aims);
}

/** A folder with the demonstration, copied from `seeded` if it is given. */
async function seededCopy({ isQuick, seeded }: { isQuick: boolean; seeded: string | null }) {
  const data = temporaryFolder();
  if (seeded === null) {
    const sizes = isQuick ? QUICK : DEMO_SCALES.large;
    await seedDemo(data, { sizes, untilMs: Date.now(), seed: 1, log: printStep });
    return data;
  }
  for (const file of ["mailstead.db", "secret"]) {
    if (!existsSync(join(seeded, file))) throw new Error(`${seeded} has no ${file}`);
    cpSync(join(seeded, file), join(data, file));
  }
  return data;
}

const printStep = (text: string): void => console.log(`  ${text}`);

async function get(base: string, headers: Record<string, string>, path: string): Promise<unknown> {
  return JSON.parse(await fetchWhole(base + path, headers));
}

async function fetchWhole(url: string, headers: Record<string, string>): Promise<string> {
  const response = await fetch(url, { headers });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`);
  return text;
}

async function measure(read: Get, { name, paths }: PageLoad, isQuick: boolean): Promise<Aim> {
  const times: number[] = [];
  for (let i = 0; i < (isQuick ? QUICK_LOADS : LOADS); i++) {
    const startedAt = performance.now();
    for (const path of paths) await read(path);
    times.push(performance.now() - startedAt);
  }
  const measured = latencies(name, times);
  printLatencies(measured);
  return paths.length > 1
    ? msAim(`first content of ${name}, p50`, measured.p50, MAX_FIRST_CONTENT_MS)
    : msAim(`${name}, max`, measured.max, MAX_SEARCH_MS);
}

/** Reads pages of a list as scrolling does, and the details of the first object of each. */
async function openAndScroll(read: Get, path: string): Promise<void> {
  const list = path.slice(0, path.indexOf("?"));
  const parts = list === "/emails" ? ["", "/content"] : ["", "/checks"];
  let cursor = "";
  const startedAt = performance.now();
  let rows = 0;
  for (let i = 0; i < SCROLLED_PAGES; i++) {
    const page = await read(`${path}${cursor}`);
    const items = listAt(page, "data.items");
    rows += items.length;
    const id = stringAt(items[0], "id");
    for (const part of parts) await read(`${list}/${id}${part}`);
    const next = valueAt(page, "data.nextCursor");
    if (typeof next !== "string") break;
    cursor = `&cursor=${encodeURIComponent(next)}`;
  }
  printValue(`${whole(rows)} rows of ${list}`, ms(performance.now() - startedAt));
}

/** Opens each page in Chromium and waits for its first row; the scripts are in the cache then. */
async function measureBrowser(base: string, project: string, cookie: string): Promise<void> {
  const browser = await startBrowser();
  for (const [name, row] of [
    ["emails", "[data-primary]"],
    ["inboxes", ".inbox-row"],
  ] as const) {
    const url = `${base}/app/p/${project}/${name}`;
    const { page, close } = await openPageIn(browser, url, { cookie });
    await page.locator(row).first().waitFor();
    const times: number[] = [];
    for (let i = 0; i < QUICK_LOADS; i++) {
      const startedAt = performance.now();
      await page.goto(url, { waitUntil: "commit" });
      await page.locator(row).first().waitFor();
      times.push(performance.now() - startedAt);
    }
    printLatencies(latencies(`first row of /${name} in Chromium`, times));
    await close();
  }
  await browser.close();
}
