/**
 * A browser for the tests of the dashboard: starts Chromium and a server from source, opens pages in
 * a layout, collects what a page must not do (console messages, requests to other origins), runs axe
 * and saves screenshots in `dist/dashboard/`.
 */

import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { listAt, stringAt } from "./json.ts";
import { startMailstead } from "./cli.ts";

const ROOT = join(import.meta.dir, "../..");
const OUTPUT = join(ROOT, "dist", "dashboard");
const PATHS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const AXE_SOURCE = readFileSync(join(ROOT, "node_modules/axe-core/axe.min.js"), "utf8");
const AXE_TAGS = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"];

const chromiumPath = process.env["CHROMIUM"] ?? PATHS.find((path) => existsSync(path));

/** Tests in a browser are skipped where Chromium is missing. */
export const hasChromium = chromiumPath !== undefined && existsSync(chromiumPath);

/** The limit of a test in a browser, on a busy machine. */
export const BROWSER_LIMIT_MS = 60_000;

/** The limit of one step in a page, such as a click. */
const STEP_LIMIT_MS = 10_000;

export const LAYOUTS = {
  light: { viewport: { width: 1280, height: 800 }, colorScheme: "light" },
  dark: { viewport: { width: 1280, height: 800 }, colorScheme: "dark" },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: "light" },
  "phone-dark": { viewport: { width: 390, height: 844 }, colorScheme: "dark" },
} as const;
export type Layout = keyof typeof LAYOUTS;
const MEDIA = { reducedMotion: "reduce" } as const;
export const LAYOUT_NAMES = ["light", "dark", "phone", "phone-dark"] as const satisfies Layout[];

/** Builds the dashboard, or another page with the given options, unless its sources are unchanged. */
export function buildDashboard(options: readonly string[] = []): void {
  const command = [process.execPath, "scripts/ui.ts", "--if-needed", ...options];
  const built = Bun.spawnSync(command, { cwd: ROOT });
  if (!built.success) throw new Error(built.stderr.toString());
}

export function startBrowser(): Promise<Browser> {
  mkdirSync(OUTPUT, { recursive: true });
  return chromium.launch({
    ...(chromiumPath === undefined ? {} : { executablePath: chromiumPath }),
    headless: true,
    args: FLAGS,
  });
}

export type Dashboard = Awaited<ReturnType<typeof startDashboard>>;

/**
 * Starts `mailstead dev` from source on free ports, with data that is removed at the end, and signs
 * its user in: `openPage(browser, url, { cookie: server.cookie })` opens a page for that user.
 */
export async function startDashboard(words: readonly string[] = []) {
  buildDashboard();
  const isReady = (greeting: string) => greeting.endsWith("}\n");
  const ports = ["--port", "0", "--capture-smtp", "127.0.0.1:0"];
  const server = await startMailstead(
    ["dev", "--json", "--data", "temporary", ...ports, ...words],
    isReady,
  );
  const info: unknown = JSON.parse(server.greeting);
  const url = stringAt(info, "url");
  const cookie = await signIn(url, stringAt(info, "dashboard"));
  const state = await call(url, cookie, "GET", "/app/api/state");
  return {
    ...server,
    info,
    url,
    /** The session, as in the header Cookie. */
    cookie,
    secretKey: stringAt(info, "secretKey"),
    project: stringAt(state, "data.projects.0.id"),
    /** Calls the interface as the signed-in user, for the project; resolves to the parsed body. */
    call: (method: string, path: string, body?: unknown) =>
      call(url, cookie, method, path, {
        body,
        project: stringAt(state, "data.projects.0.id"),
      }),
  };
}

/** Signs in with the link that the server printed; resolves to the header Cookie. */
async function signIn(url: string, link: string): Promise<string> {
  const token = new URL(link).hash.slice(1);
  const response = await fetch(`${url}/app/api/link`, {
    method: "POST",
    headers: { "content-type": "application/json", ...browserHeaders(url) },
    body: JSON.stringify({ token }),
  });
  const [cookie = ""] = (response.headers.get("set-cookie") ?? "").split(";");
  if (cookie === "") throw new Error(`the sign-in link was refused: ${await response.text()}`);
  return cookie;
}

/** The headers that the server requires of requests with a cookie. */
const browserHeaders = (url: string) => ({ origin: url, "x-requested-with": "mailstead" });

async function call(
  url: string,
  cookie: string,
  method: string,
  path: string,
  { body, project }: { body?: unknown; project?: string } = {},
): Promise<unknown> {
  const response = await fetch(url + path, {
    method,
    headers: {
      cookie,
      ...browserHeaders(url),
      ...(project === undefined ? {} : { "x-project": project }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  const answer: unknown = text === "" ? {} : JSON.parse(text);
  return answer;
}

export type OpenedPage = {
  page: Page;
  /** Console messages, errors of scripts and requests to other origins. */
  problems: string[];
  /** Changes the layout; the page is loaded again if its width changes. */
  setLayout(layout: Layout): Promise<void>;
  /** Saves `dist/dashboard/NAME-LAYOUT.png`. */
  screenshot(name: string): Promise<void>;
  /** The findings of axe, as `rule: element: reason`. */
  findings(): Promise<string[]>;
  /** By how many pixels the page is wider than the window. */
  overflowPx(): Promise<number>;
  close(): Promise<void>;
};

type User = { context: BrowserContext; idle: Page[] };
/** The users of a browser by their cookies. */
const usersOf = new WeakMap<Browser, Map<string, User>>();

/**
 * Returns an empty page of a user. A new page costs a second of processor time and reads all scripts
 * again, so that pages are used several times.
 */
async function takePage(browser: Browser, cookie: string, url: string) {
  const users = usersOf.get(browser) ?? new Map<string, User>();
  usersOf.set(browser, users);
  const user = users.get(cookie) ?? { context: await browser.newContext(), idle: [] };
  users.set(cookie, user);
  const { context, idle } = user;
  await context.clearCookies();
  const [name = "", value = ""] = cookie.split("=");
  if (cookie !== "") {
    await context.addCookies([{ name, value, url, httpOnly: true, sameSite: "Lax" }]);
  }
  const page = idle.pop() ?? (await context.newPage());

  async function putBack(): Promise<void> {
    await page.evaluate(CLEAR_STORAGE);
    for (const event of ["console", "pageerror", "request"] as const)
      page.removeAllListeners(event);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.setExtraHTTPHeaders({});
    await page.goto("about:blank");
    idle.push(page);
  }
  return { page, putBack };
}

const CLEAR_STORAGE = `if (location.protocol.startsWith("http")) {
  localStorage.clear();
  sessionStorage.clear();
}`;

/**
 * Opens a page with an empty storage. `cookie` is the session of `startDashboard`; `prepare` runs
 * before the first request.
 */
export async function openPage(
  browser: Browser,
  url: string,
  options: { layout?: Layout; cookie?: string; prepare?: (page: Page) => Promise<void> } = {},
): Promise<OpenedPage> {
  const { cookie = "", prepare } = options;
  let { layout = "light" } = options;
  const { origin } = new URL(url);
  const { page, putBack } = await takePage(browser, cookie, origin);
  page.setDefaultTimeout(STEP_LIMIT_MS);
  await page.setViewportSize(LAYOUTS[layout].viewport);
  await page.emulateMedia({ ...MEDIA, colorScheme: LAYOUTS[layout].colorScheme });
  const problems: string[] = [];
  page.on("console", (message) => {
    const type: string = message.type();
    // "verbose" is advice of the browser itself.
    if (type !== "debug" && type !== "verbose") problems.push(`${type}: ${message.text()}`);
  });
  page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
  page.on("request", (request) => {
    const target = request.url();
    if (!target.startsWith(origin) && !/^(?:data|blob):/.test(target)) {
      problems.push(`request: ${target}`);
    }
  });
  await prepare?.(page);
  await page.goto(url);
  return {
    page,
    problems,
    async setLayout(next) {
      const { viewport, colorScheme } = LAYOUTS[next];
      const isOtherWidth = viewport.width !== LAYOUTS[layout].viewport.width;
      layout = next;
      await page.emulateMedia({ ...MEDIA, colorScheme });
      if (isOtherWidth) {
        await page.setViewportSize(viewport);
        await page.reload();
      }
      // The page learns of the scheme by an event.
      const shown = `html[data-mantine-color-scheme="${colorScheme}"]`;
      await page.locator(shown).waitFor({ state: "attached" });
    },
    async screenshot(name) {
      await page.screenshot({ path: join(OUTPUT, `${name}-${layout}.png`) });
    },
    findings: () => runAxe(page),
    overflowPx: async () =>
      Number(await page.evaluate("document.documentElement.scrollWidth - innerWidth")),
    close: putBack,
  };
}

/**
 * The Content-Security-Policy would refuse a script element, so axe is evaluated. It does not enter
 * frames: those with mails run no scripts.
 */
async function runAxe(page: Page): Promise<string[]> {
  const isLoaded = await page.evaluate("'axe' in window");
  if (isLoaded !== true) await page.evaluate(AXE_SOURCE);
  const result: unknown = await page.evaluate(
    `axe.run(document, { runOnly: ${JSON.stringify(AXE_TAGS)}, resultTypes: ["violations"], iframes: false })`,
  );
  return listAt(result, "violations").flatMap((violation) =>
    listAt(violation, "nodes").map(
      (node) =>
        `${stringAt(violation, "id")}: ${stringAt(node, "html")}: ${stringAt(node, "failureSummary")}`,
    ),
  );
}

/** Opens the stream of live messages without any, so that a page changes only by its own actions. */
export async function withoutLiveMessages(page: Page): Promise<void> {
  await page.route("**/app/api/live*", (route) =>
    route.fulfill({ contentType: "text/event-stream", body: ": open\n\n" }),
  );
}

/** A page without faults. */
export const NO_FAULTS = { findings: [], problems: [], overflowPx: 0 };

/** The faults of a page: findings of axe, unexpected messages and requests, and its overflow. */
export async function faultsOf({
  findings,
  problems,
  overflowPx,
}: Pick<OpenedPage, "findings" | "problems" | "overflowPx">) {
  return { findings: await findings(), problems, overflowPx: await overflowPx() };
}
