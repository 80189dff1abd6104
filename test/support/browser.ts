/**
 * A browser for the tests of the dashboard: starts Chromium, opens pages in a layout, collects what
 * a page must not do (console messages, requests to other origins), runs axe and saves screenshots
 * in `dist/dashboard/`. All test files of a process share one Chromium (`sharedBrowser`).
 */

import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { listAt, stringAt } from "./json.ts";
import { processFolder } from "./process-folder.ts";
import { shared } from "./shared.ts";
import { addScript, takeTab } from "./tabs.ts";

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
/** Rows of a table look like those before them. */
const LATER_ROWS = "[data-row]:nth-child(n + 12)";
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

/** Returns the browser of this process, which starts at the first call and ends with the process. */
export const sharedBrowser = shared(
  () => withTemporaryFolder(processFolder(), startBrowser),
  // Chromium is closed if it crashed, or a test took too long.
  (browser) => browser.isConnected(),
);

/** Runs a function while temporary files are made in the folder. */
async function withTemporaryFolder<T>(folder: string, run: () => Promise<T>): Promise<T> {
  const before = process.env["TMPDIR"];
  process.env["TMPDIR"] = folder;
  try {
    return await run();
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
  }
}

type AxeOptions = {
  /** Selector of the parts to look at; by default the whole page. */
  within?: string;
  /** By default all rules of AXE_TAGS. */
  rules?: readonly string[];
};

export type OpenedPage = {
  page: Page;
  /** Console messages, errors of scripts and requests to other origins. */
  problems: string[];
  setLayout(layout: Layout): Promise<void>;
  /** Saves `dist/dashboard/NAME-LAYOUT.png`. */
  screenshot(name: string): Promise<void>;
  /** The findings of axe, as `rule: element: reason`. */
  findings(options?: AxeOptions): Promise<string[]>;
  /** By how many pixels the page is wider than the window. */
  overflowPx(): Promise<number>;
  close(): Promise<void>;
  /** Closes the page and its profile, which has settings that cannot be undone, such as a clock. */
  discard(): Promise<void>;
};

export type PageOptions = {
  layout?: Layout;
  /** The session of the user, as in the header Cookie. */
  cookie?: string;
  /** Whether the browser has to load all scripts again. */
  isFirstVisit?: boolean;
  /** Runs before the first request. */
  prepare?: (page: Page) => Promise<void>;
};

/** Opens a page with an empty storage in the shared browser. */
export async function openPage(url: string, options: PageOptions = {}): Promise<OpenedPage> {
  return openPageIn(await sharedBrowser(), url, options);
}

/** As `openPage`, in another browser. */
export async function openPageIn(
  browser: Browser,
  url: string,
  options: PageOptions = {},
): Promise<OpenedPage> {
  const { cookie = "", prepare } = options;
  let { layout = "light" } = options;
  const { origin } = new URL(url);
  const { page, leave, discard } = await takeTab(browser, cookie, origin);
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
  if (options.isFirstVisit === true) await clearCache(page);
  await prepare?.(page);
  await page.goto(url);
  return {
    page,
    problems,
    async setLayout(next) {
      if (next === layout) return;
      const { viewport, colorScheme } = LAYOUTS[next];
      const isOtherWidth = viewport.width !== LAYOUTS[layout].viewport.width;
      layout = next;
      await page.emulateMedia({ ...MEDIA, colorScheme });
      if (isOtherWidth) await page.setViewportSize(viewport);
      // The page learns of the scheme by an event.
      const shown = `html[data-mantine-color-scheme="${colorScheme}"]`;
      await page.locator(shown).waitFor({ state: "attached" });
    },
    async screenshot(name) {
      await page.screenshot({ path: join(OUTPUT, `${name}-${layout}.png`) });
    },
    findings: (limits = {}) => runAxe(page, limits),
    overflowPx: async () =>
      Number(await page.evaluate("document.documentElement.scrollWidth - innerWidth")),
    close: leave,
    discard,
  };
}

async function clearCache(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("Network.clearBrowserCache");
  await session.detach();
}

/**
 * The Content-Security-Policy would refuse a script element, so axe is evaluated. It does not enter
 * frames: those with mails run no scripts.
 */
async function runAxe(page: Page, { within = ":root", rules }: AxeOptions): Promise<string[]> {
  const isLoaded = await page.evaluate("'axe' in window");
  if (isLoaded !== true) await page.evaluate(AXE_SOURCE);
  const options = {
    runOnly: rules === undefined ? AXE_TAGS : { type: "rule", values: rules },
    resultTypes: ["violations"],
    iframes: false,
    preload: false,
  };
  const parts = { include: [within], exclude: [LATER_ROWS] };
  const result: unknown = await page.evaluate(
    `axe.run(${JSON.stringify(parts)}, ${JSON.stringify(options)})`,
  );
  return listAt(result, "violations").flatMap((violation) =>
    listAt(violation, "nodes").map(
      (node) =>
        `${stringAt(violation, "id")}: ${stringAt(node, "html")}: ${stringAt(node, "failureSummary")}`,
    ),
  );
}

/** Opens the stream of live messages without any, so that a page changes only by its own actions. */
export function withoutLiveMessages(page: Page): Promise<void> {
  return addScript(page, SILENT_LIVE_MESSAGES);
}

/** A route would do the same, but each load of a page with a route costs 0.4 s of processor time. */
const SILENT_LIVE_MESSAGES = `{
  const { EventSource } = window;
  class SilentSource extends EventTarget {
    readyState = EventSource.OPEN;
    constructor() {
      super();
      setTimeout(() => this.dispatchEvent(new Event("open")));
    }
    close() {
      this.readyState = EventSource.CLOSED;
    }
  }
  window.EventSource = class extends EventSource {
    constructor(url, ...rest) {
      if (String(url).startsWith("/app/api/live")) return new SilentSource();
      super(url, ...rest);
    }
  };
}`;

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
