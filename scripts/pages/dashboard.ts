/**
 * Opens every page of the dashboard in every state and layout, and checks that it is accessible
 * (axe), fits the window, writes nothing to the console and requests nothing from other origins. The
 * screenshots are in `dist/dashboard/`, as NAME-STATE-LAYOUT.png.
 *
 * 1. The demonstration project is made in a temporary folder, and a second project without data.
 * 2. A server is started from source, and the owner signs in.
 * 3. Each page is opened with this session. In the state BROKEN the browser answers the requests of
 *    the page with 500.
 */

import type { Browser, Page, Request } from "playwright-core";
import {
  buildDashboard,
  type Layout,
  LAYOUT_NAMES,
  openPageIn,
  startBrowser,
} from "../../test/support/browser.ts";
import { stringAt } from "../../test/support/json.ts";
import { removeFolder, startServer, temporaryFolder } from "../bench/children.ts";
import { seedDemo } from "../seed/demo.ts";
import { DEMO_SCALES } from "../seed/demo/year.ts";
import {
  DASHBOARD_PAGES,
  type DashboardPage,
  OBJECT_LISTS,
  PAGE_STATES,
  type PageState,
  type Place,
} from "./dashboard-pages.ts";
import { sendSampleMessage } from "./sample-message.ts";
import { type SessionCookie, signIn } from "./sign-in.ts";

export type RunCommand = (data: string, ...words: string[]) => Promise<unknown>;

export type Site = {
  browser: Browser;
  base: string;
  secretKey: string;
  /** The session of the owner. */
  cookie: SessionCookie;
  places: Readonly<Record<PageState, Place>>;
};

const SEED = 1;
/** A page is settled if it waits for no answer for this long. */
const QUIET_MS = 250;
const SETTLE_LIMIT_MS = 15_000;
/** Time in which a frame is painted after it was loaded. */
const PAINT_MS = 500;
/** The browser's own message about a refused request. It lacks the path, so it is left out. */
const REFUSAL_MESSAGE =
  /^error: Failed to load resource: the server responded with a status of \d+/;
const EMPTY_PROJECT = "Quiet Harbour";

/** Returns the problems of all pages whose name contains `only`. */
export function checkDashboard(command: RunCommand, only: string): Promise<string[]> {
  return withDemo(command, (site) => checkPages(site, only));
}

/** Runs a check with a browser and a server with the demonstration, whose owner is signed in. */
export async function withDemo<T>(
  command: RunCommand,
  check: (site: Site) => Promise<T>,
): Promise<T> {
  buildDashboard();
  const data = temporaryFolder();
  const sizes = DEMO_SCALES.small;
  const demo = await seedDemo(data, { sizes, untilMs: Date.now(), seed: SEED });
  const empty = await command(data, "project", "create", EMPTY_PROJECT);
  const args = ["--transport", "capture", "--capture-smtp", "127.0.0.1:0", "--user-rate", "0"];
  const server = await startServer({ binary: null, data, args });
  const browser = await startBrowser();
  try {
    const base = `http://127.0.0.1:${server.port}`;
    const cookie = await signIn(base, demo.users[0]?.email ?? "", demo.password);
    await sendSampleMessage(base, `${cookie.name}=${cookie.value}`);
    const ids = await findIds(base, demo.secretKey);
    const full = { project: demo.projectId, ids };
    const places = {
      FULL: full,
      BROKEN: full,
      EMPTY: { project: stringAt(empty, "project.id"), ids },
    };
    return await check({ browser, base, cookie, secretKey: demo.secretKey, places });
  } finally {
    await browser.close();
    await server.stop();
    removeFolder(data);
  }
}

export async function findIds(base: string, key: string): Promise<Place["ids"]> {
  const find = async ({ path, id }: { path: string; id: string }): Promise<string> => {
    const response = await fetch(base + path, { headers: { authorization: `Bearer ${key}` } });
    return stringAt(await response.json(), id);
  };
  const { email, contact, segment, buyers, form, campaign, draft, workflow } = OBJECT_LISTS;
  const { template, webhook, domain, suppression, message, received } = OBJECT_LISTS;
  return {
    email: await find(email),
    contact: await find(contact),
    segment: await find(segment),
    buyers: await find(buyers),
    form: await find(form),
    campaign: await find(campaign),
    draft: await find(draft),
    workflow: await find(workflow),
    template: await find(template),
    webhook: await find(webhook),
    domain: await find(domain),
    suppression: await find(suppression),
    message: await find(message),
    received: await find(received),
  };
}

async function checkPages(site: Site, only: string): Promise<string[]> {
  const problems: string[] = [];
  for (const page of DASHBOARD_PAGES.filter(({ name }) => name.includes(only))) {
    for (const state of page.states ?? PAGE_STATES) {
      for (const layout of LAYOUT_NAMES) {
        const name = `${page.name}, ${state.toLowerCase()}, ${layout}`;
        const found = await checkPage(site, { page, state, layout });
        console.log(`  ${found.length === 0 ? "ok  " : "FAIL"}  ${name}`);
        for (const problem of found) console.log(`          ${problem.slice(0, 300)}`);
        problems.push(...found.map((problem) => `${name}: ${problem}`));
      }
    }
  }
  return problems;
}

type View = { page: DashboardPage; state: PageState; layout: Layout };

async function checkPage(site: Site, { page, state, layout }: View): Promise<string[]> {
  let settle: () => Promise<void> = () => Promise.resolve();
  const refusals: string[] = [];
  const opened = await openPageIn(
    site.browser,
    `${site.base}/app${page.path(site.places[state])}`,
    {
      layout,
      prepare: async (target) => {
        settle = watchRequests(target);
        target.on("response", (response) => {
          const isExpected = state === "BROKEN" && response.status() === 500;
          if (response.status() < 400 || isExpected) return;
          const { pathname } = new URL(response.url());
          if (page.refused !== undefined && pathname.endsWith(page.refused)) return;
          refusals.push(
            `${response.request().method()} ${pathname} is answered with ${response.status()}`,
          );
        });
        await prepare(target, site, { page, state });
      },
    },
  );
  try {
    const heading = opened.page.getByRole("heading", { level: 1, name: page.heading });
    const isShown = await heading.waitFor({ timeout: SETTLE_LIMIT_MS }).then(
      () => true,
      () => false,
    );
    await settle();
    await page.open?.(opened.page);
    await settle();
    await opened.page.evaluate("document.fonts.ready");
    await framesPainted(opened.page);
    await opened.screenshot(`${page.name}-${state.toLowerCase()}`);
    const overflowPx = await opened.overflowPx();
    return [
      ...(isShown ? [] : [`the heading ${String(page.heading)} is missing`]),
      ...(overflowPx === 0 ? [] : [`it is ${overflowPx} px wider than the window`]),
      ...(await opened.findings()),
      ...refusals,
      ...opened.problems.filter(
        (text) =>
          !REFUSAL_MESSAGE.test(text) &&
          (page.expected === undefined || !text.includes(page.expected)),
      ),
    ];
  } finally {
    await opened.close();
  }
}

async function prepare(
  target: Page,
  { base, cookie, places }: Site,
  { page, state }: Pick<View, "page" | "state">,
): Promise<void> {
  if (page.isPublic !== true) await target.context().addCookies([{ ...cookie, url: base }]);
  if (state === "BROKEN") {
    // Without its state the dashboard shows no page at all, so this request is answered as usual.
    await target.route(
      ({ pathname }) => pathname !== "/app/api/state",
      (route) => {
        const kind = route.request().resourceType();
        if (kind !== "fetch" && kind !== "xhr") return route.continue();
        return route.fulfill({ status: 500, json: FAILURE });
      },
    );
  }
  const changes = page.appState?.(places[state]);
  if (changes === undefined) return;
  await target.route("**/app/api/state", async (route) => {
    const response = await route.fetch();
    const answer: { data: object } = await response.json();
    await route.fulfill({ response, json: { ...answer, data: { ...answer.data, ...changes } } });
  });
}

/** An error as the server answers it. */
const FAILURE = {
  success: false,
  error: {
    code: "INTERNAL_SERVER_ERROR",
    message: "An unexpected error happened.",
    statusCode: 500,
    requestId: "0199b6f2-6f6a-7000-8000-000000000000",
    errors: [],
    suggestion: "Try again later.",
  },
  timestamp: "2026-01-01T00:00:00.000Z",
};

/**
 * Resolves when the frames with mails are painted. Their documents come from another origin, so the
 * browser paints them in a process of their own, after their page.
 */
async function framesPainted(page: Page): Promise<void> {
  const [, ...frames] = page.frames();
  for (const frame of frames) await frame.waitForLoadState("load");
  if (frames.length > 0) await Bun.sleep(PAINT_MS);
}

/** Returns a function that waits until the page waits for no answer. Streams do not count. */
function watchRequests(page: Page): () => Promise<void> {
  const open = new Set<Request>();
  let changedAt = performance.now();
  const note = (change: (request: Request) => void) => (request: Request) => {
    if (request.resourceType() === "eventsource") return;
    change(request);
    changedAt = performance.now();
  };
  page.on(
    "request",
    note((request) => void open.add(request)),
  );
  page.on(
    "requestfinished",
    note((request) => void open.delete(request)),
  );
  page.on(
    "requestfailed",
    note((request) => void open.delete(request)),
  );
  return async () => {
    const limit = performance.now() + SETTLE_LIMIT_MS;
    const isQuiet = () => open.size === 0 && performance.now() - changedAt >= QUIET_MS;
    while (!isQuiet() && performance.now() < limit) await Bun.sleep(QUIET_MS / 5);
  };
}
