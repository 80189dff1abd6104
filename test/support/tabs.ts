/**
 * The tabs of a browser, which tests use one after the other. To open a page costs 1 s of processor
 * time in a new tab, because it starts a process and compiles all scripts, and 0.4 s in a used one.
 */

import type { Browser, BrowserContext, Disposable, Page } from "playwright-core";

/** A profile of the browser: it has one user at a time, with one tab or several. */
type Profile = {
  context: BrowserContext;
  /** The header Cookie of its user; empty without one. */
  cookie: string;
  used: Set<Page>;
  idle: Page[];
};

export type Tab = {
  page: Page;
  /** Puts the tab back. */
  leave(): Promise<void>;
  /** Closes the tab, which has settings that cannot be undone, such as a clock. */
  discard(): Promise<void>;
};

/** What `addScript` added to pages. */
const scriptsOf = new WeakMap<Page, Disposable[]>();

/** Runs a script in each document that the page loads, until the tab is put back. */
export async function addScript(page: Page, source: string): Promise<void> {
  const added = await page.addInitScript({ content: source });
  scriptsOf.set(page, [...(scriptsOf.get(page) ?? []), added]);
}

const profilesOf = new WeakMap<Browser, Profile[]>();

const OBSERVED = ["console", "pageerror", "request", "response", "dialog"] as const;
const BLANK = "about:blank";
const CLEAR_STORAGE = `if (location.protocol.startsWith("http")) {
  localStorage.clear();
  sessionStorage.clear();
}`;

/** Returns a tab with an empty storage and the session of the user. */
export async function takeTab(browser: Browser, cookie: string, origin: string): Promise<Tab> {
  const profiles = profilesOf.get(browser) ?? [];
  profilesOf.set(browser, profiles);
  const profile =
    profiles.find((each) => each.used.size > 0 && each.cookie === cookie) ??
    profiles.find((each) => each.used.size === 0) ??
    (await addProfile(browser, profiles));
  profile.cookie = cookie;
  const { context, used, idle } = profile;
  const taken = idle.pop();
  if (taken !== undefined) used.add(taken);
  await context.clearCookies();
  const [name = "", value = ""] = cookie.split("=");
  if (cookie !== "") {
    await context.addCookies([{ name, value, url: origin, httpOnly: true, sameSite: "Lax" }]);
  }
  const page = taken ?? (await context.newPage());
  used.add(page);

  async function leave(): Promise<void> {
    if (!used.has(page)) return;
    await page.evaluate(CLEAR_STORAGE);
    for (const event of OBSERVED) page.removeAllListeners(event);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.setExtraHTTPHeaders({});
    for (const script of scriptsOf.get(page) ?? []) await script.dispose();
    scriptsOf.delete(page);
    await leavePage(page);
    used.delete(page);
    idle.push(page);
    if (used.size === 0) await context.clearPermissions();
  }

  async function discard(): Promise<void> {
    used.delete(page);
    await page.close();
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

async function addProfile(browser: Browser, profiles: Profile[]): Promise<Profile> {
  const context = await browser.newContext();
  const profile = { context, cookie: "", used: new Set<Page>(), idle: [] };
  profiles.push(profile);
  return profile;
}

/** Closes the tabs that tests left open because they failed. */
export async function closeLeftTabs(browser: Browser): Promise<void> {
  const profiles = profilesOf.get(browser) ?? [];
  const left = profiles.filter(({ used }) => used.size > 0);
  profilesOf.set(
    browser,
    profiles.filter(({ used }) => used.size === 0),
  );
  for (const { context } of left) await context.close();
}
