/**
 * The tabs of a browser, which tests use one after the other. To open a page costs 1 s of processor
 * time in a new tab, because it starts a process and compiles all scripts, and 0.4 s in a used one.
 */

import type { Browser, BrowserContext, Disposable, Page, Request } from "playwright-core";

/** A profile of the browser: it has one user at a time, with one tab or several. */
type Profile = {
  context: BrowserContext;
  /** The header Cookie of its user; empty without one. */
  cookie: string;
  /** The number of its tabs that are used. */
  used: number;
  idle: Page[];
  /** Resolves when the profile has the cookie. */
  ready: Promise<void>;
};

export type Tab = {
  page: Page;
  /** Puts the tab back. */
  leave(): Promise<void>;
  /** Closes all tabs of the profile, which has settings that cannot be undone, such as a clock. */
  discard(): Promise<void>;
};

/** The scripts that `addScript` added to each page. */
const scriptsOf = new WeakMap<Page, Disposable[]>();

/** Runs a script in each document that the page loads, until the tab is put back. */
export async function addScript(page: Page, source: string): Promise<void> {
  const added = await page.addInitScript({ content: source });
  scriptsOf.set(page, [...(scriptsOf.get(page) ?? []), added]);
}

const requestsOf = new WeakMap<BrowserContext, Set<Request>>();
const profilesOf = new WeakMap<Browser, Profile[]>();

const OBSERVED = ["console", "pageerror", "request", "response", "dialog"] as const;
const BLANK = "about:blank";
/** The length of the text of a page that is printed when a test fails. */
const SHOWN_LENGTH = 1_500;
const CLEAR_STORAGE = `if (location.protocol.startsWith("http")) {
  localStorage.clear();
  sessionStorage.clear();
}`;

/** Replaces the cookies of a profile. A tab that sends a request meanwhile would lose its session. */
async function setCookie(context: BrowserContext, cookie: string, origin: string): Promise<void> {
  await context.clearCookies();
  const [name = "", value = ""] = cookie.split("=");
  if (cookie === "") return;
  await context.addCookies([{ name, value, url: origin, httpOnly: true, sameSite: "Lax" }]);
}

/** Returns a tab with an empty storage and the session of the user. */
export async function takeTab(browser: Browser, cookie: string, origin: string): Promise<Tab> {
  const profiles = profilesOf.get(browser) ?? [];
  profilesOf.set(browser, profiles);
  const profile =
    profiles.find((each) => each.used > 0 && each.cookie === cookie) ??
    profiles.find((each) => each.used === 0) ??
    addProfile(profiles, await browser.newContext());
  // The profile is taken before anything is waited for, because a test may open two pages at once.
  profile.cookie = cookie;
  profile.used++;
  const { context, idle } = profile;
  const taken = idle.pop();
  if (profile.used === 1) profile.ready = setCookie(context, cookie, origin);
  await profile.ready;
  const page = taken ?? (await context.newPage());
  // A tab behind another one of its profile is painted once a second.
  await page.bringToFront();
  let isUsed = true;

  async function leave(): Promise<void> {
    if (!isUsed) return;
    isUsed = false;
    await page.evaluate(CLEAR_STORAGE);
    for (const event of OBSERVED) page.removeAllListeners(event);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.setExtraHTTPHeaders({});
    for (const script of scriptsOf.get(page) ?? []) await script.dispose();
    scriptsOf.delete(page);
    await leavePage(page);
    if (profile.used === 1) await context.clearPermissions();
    idle.push(page);
    profile.used--;
  }

  async function discard(): Promise<void> {
    profilesOf.set(
      browser,
      (profilesOf.get(browser) ?? []).filter((each) => each !== profile),
    );
    await context.close();
  }
  return { page, leave, discard };
}

/**
 * Shows an empty document, which is opened by the page itself: then it stays in the process of the
 * page. If the browser opened it, it would start another process, and one more for the next page.
 */
async function leavePage(page: Page): Promise<void> {
  if (page.url() === BLANK) return;
  await Promise.all([page.waitForURL(BLANK), page.evaluate(`location.href = "${BLANK}"`)]);
}

function addProfile(profiles: Profile[], context: BrowserContext): Profile {
  watchRequests(context);
  const profile = { context, cookie: "", used: 0, idle: [], ready: Promise.resolve() };
  profiles.push(profile);
  return profile;
}

function watchRequests(context: BrowserContext): void {
  const requests = new Set<Request>();
  requestsOf.set(context, requests);
  context.on("request", (request) => {
    if (request.resourceType() !== "eventsource") requests.add(request);
  });
  context.on("requestfinished", (request) => requests.delete(request));
  context.on("requestfailed", (request) => requests.delete(request));
}

/** The requests of a page that have no answer yet, without event streams. */
export function openRequests(page: Page): Request[] {
  const requests = requestsOf.get(page.context()) ?? [];
  return [...requests].filter((request) => request.frame().page() === page);
}

/** Describes the contents and pending requests of the used tabs, to explain why a test failed. */
export async function describeTabs(browser: Browser): Promise<string> {
  const lines: string[] = [];
  for (const page of browser.contexts().flatMap((context) => context.pages())) {
    if (page.url() === BLANK) continue;
    const text = await page.evaluate("document.body.innerText").catch(String);
    lines.push(`The page ${page.url()} shows:`, String(text).slice(0, SHOWN_LENGTH));
    for (const each of openRequests(page))
      lines.push(`No answer yet: ${each.method()} ${each.url()}`);
  }
  return lines.join("\n");
}

/** Closes the tabs that tests left open because they failed. */
export async function closeLeftTabs(browser: Browser): Promise<void> {
  const profiles = profilesOf.get(browser) ?? [];
  const left = profiles.filter(({ used }) => used > 0);
  profilesOf.set(
    browser,
    profiles.filter(({ used }) => used === 0),
  );
  for (const { context } of left) await context.close();
}
