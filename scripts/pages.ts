/**
 * Checks the pages behind the links of a mail in a real browser: opens them, clicks, compares the
 * contact, and saves screenshots in light, dark and phone layouts in `dist/pages/`.
 *
 * `bun scripts/pages.ts`. It needs Chromium, found at the path in `CHROMIUM` or in the usual folders.
 * Without Chromium it prints that it was skipped and exits with code 0.
 *
 * `bun scripts/pages.ts dashboard [NAME]` checks the pages of the dashboard instead, or those whose
 * name contains NAME (pages/dashboard.ts). `bun scripts/pages.ts keystrokes` measures how long a
 * keystroke takes in the editors of a template of 100 kB (pages/keystrokes.ts).
 */

import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { removeFolder, ROOT, type Server, startServer, temporaryFolder } from "./bench/children.ts";
import { valueAt, stringAt } from "../test/support/json.ts";
import { checkDashboard } from "./pages/dashboard.ts";
import { measureKeystrokes } from "./pages/keystrokes.ts";

const CHROMIUM_PATHS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const OUTPUT = join(ROOT, "dist", "pages");
const LIMIT_MS = 120_000;
const DASHBOARD_LIMIT_MS = 30 * 60_000;

const PROJECT = "Harbour Books";
const READER = "ada.lovelace@example.net";
const BODY = `<!doctype html><html><body style="font-family:sans-serif;max-width:36rem;margin:2rem auto">
<h1>New this week</h1><p>Hello {{ name }}, three books have come in.</p>
<p><a href="https://books.example/new?week=12&amp;from=mail">See them all</a></p></body></html>`;

/** The viewports and colour schemes in which pages are shown. */
const LAYOUTS = {
  light: { viewport: { width: 1100, height: 700 }, colorScheme: "light" },
  dark: { viewport: { width: 1100, height: 700 }, colorScheme: "dark" },
  phone: { viewport: { width: 360, height: 720 }, colorScheme: "light", deviceScaleFactor: 2 },
  "phone-dark": {
    viewport: { width: 360, height: 720 },
    colorScheme: "dark",
    deviceScaleFactor: 2,
  },
} as const;
type Layout = keyof typeof LAYOUTS;

type ReceivedMail = { id: string; html: string; unsubscribeUrl: string; manageUrl: string };

function expectEqual(name: string, actual: unknown, expected: unknown): void {
  if (!Bun.deepEquals(actual, expected)) {
    throw new Error(`${name}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
  }
  console.log(`  ok  ${name}`);
}

async function command(data: string, ...args: string[]): Promise<unknown> {
  const child = Bun.spawn([process.execPath, "src/main.ts", ...args, "--data", data, "--json"], {
    cwd: ROOT,
    stdout: "pipe",
  });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`mailstead ${args.join(" ")} failed`);
  return JSON.parse(text);
}

/** A client for the API with a key. */
function createApi(server: Server, key: string) {
  const base = `http://127.0.0.1:${server.port}`;
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };

  async function call(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(base + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return response.headers.get("content-type")?.includes("json") === true
      ? JSON.parse(text)
      : text;
  }

  return {
    base,

    async sendNews(): Promise<ReceivedMail> {
      const template = await call("POST", "/templates", {
        name: "News",
        type: "MARKETING",
        subject: "New this week",
        body: BODY,
        from: "news@books.example",
        fromName: PROJECT,
      });
      const sent = await call("POST", "/v1/send", {
        to: { name: "Ada", email: READER },
        template: stringAt(template, "data.id"),
        subscribed: true,
      });
      const id = stringAt(sent, "emails.0.email");
      for (;;) {
        const status = stringAt(await call("GET", `/emails/${id}`), "data.status");
        if (status === "SENT") break;
        await Bun.sleep(20);
      }
      return parseMail(id, String(await call("GET", `/emails/${id}/raw`)));
    },

    isSubscribed: async () => valueAt(await call("GET", "/contacts"), "contacts.0.subscribed"),
    lastUnsubscription: async () => {
      const event = valueAt(
        await call("GET", "/events?event=contact.unsubscribed&limit=1"),
        "data.items.0",
      );
      return [stringAt(event, "name"), stringAt(event, "emailId"), valueAt(event, "data.via")];
    },
  };
}

function parseMail(id: string, raw: string): ReceivedMail {
  const unsubscribeUrl = /List-Unsubscribe:\s*<([^>]+)>/.exec(raw)?.[1] ?? "";
  const html = raw.slice(raw.indexOf("text/html"));
  return {
    id,
    html: Buffer.from(html.slice(html.indexOf("\r\n\r\n") + 4).replaceAll("=\r\n", ""))
      .toString()
      .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
      .replace(/\r\n--=_[\s\S]*$/, ""),
    unsubscribeUrl,
    manageUrl: unsubscribeUrl.replace("/unsubscribe/", "/manage/"),
  };
}

/** Console messages of the browser, and resources that pages loaded besides their document. */
const problems: string[] = [];

/** Opens a page in a new browser context, without cookies or cache. */
async function open(browser: Browser, layout: Layout, url: string): Promise<Page> {
  const context = await browser.newContext(LAYOUTS[layout]);
  const page = await context.newPage();
  page.on("console", (message) => problems.push(`${url} logs: ${message.text()}`));
  page.on("request", (request) => {
    if (request.resourceType() !== "document") problems.push(`${url} loads ${request.url()}`);
  });
  await page.goto(url);
  return page;
}

async function screenshot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(OUTPUT, `${name}.png`) });
}

async function checkLayouts(browser: Browser, name: string, url: string): Promise<void> {
  for (const layout of ["light", "dark", "phone", "phone-dark"] as const) {
    const page = await open(browser, layout, url);
    const widest = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
    expectEqual(`${name}, ${layout}: fits the width`, widest, 0);
    await screenshot(page, `${name}-${layout}`);
    await page.context().close();
  }
}

/** Unsubscribes with the mouse and resubscribes with the keyboard. */
async function unsubscribeAndResubscribe(
  browser: Browser,
  mail: ReceivedMail,
  server: ReturnType<typeof createApi>,
): Promise<void> {
  const page = await open(browser, "light", mail.unsubscribeUrl);
  expectEqual("opening the page changes nothing", await server.isSubscribed(), true);
  expectEqual("the page declares its language", await page.getAttribute("html", "lang"), "en");
  await page.getByRole("button", { name: "Unsubscribe" }).click();
  await page.getByRole("heading", { name: "You are unsubscribed" }).waitFor();
  expectEqual("the button unsubscribes", await server.isSubscribed(), false);
  expectEqual("the event names the mail", await server.lastUnsubscription(), [
    "contact.unsubscribed",
    mail.id,
    "page",
  ]);
  await screenshot(page, "unsubscribed-light");
  await page.reload();
  expectEqual("a reload keeps the contact unsubscribed", await server.isSubscribed(), false);
  await page.keyboard.press("Tab");
  await screenshot(page, "unsubscribed-focus");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "You are subscribed" }).waitFor();
  expectEqual("the keyboard subscribes again", await server.isSubscribed(), true);
  await page.context().close();
}

async function checkOneClick(
  mail: ReceivedMail,
  server: ReturnType<typeof createApi>,
): Promise<void> {
  const response = await fetch(mail.unsubscribeUrl, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: "List-Unsubscribe=One-Click",
    redirect: "manual",
  });
  expectEqual("one-click is answered with 200", response.status, 200);
  expectEqual("one-click unsubscribes", await server.isSubscribed(), false);
}

async function saveMailScreenshot(browser: Browser, mail: ReceivedMail): Promise<void> {
  const context = await browser.newContext(LAYOUTS.light);
  const page = await context.newPage();
  await page.setContent(mail.html);
  await screenshot(page, "mail-light");
  await context.close();
}

async function checkLanguages(data: string, browser: Browser, mail: ReceivedMail): Promise<void> {
  for (const language of ["de", "fr", "ja", "pl"]) {
    await command(data, "project", "set", "--language", language);
    const page = await open(browser, "phone", mail.manageUrl);
    expectEqual(`the page is in ${language}`, await page.getAttribute("html", "lang"), language);
    await screenshot(page, `manage-${language}-phone`);
    await page.context().close();
  }
}

/** Opens a truncated link; problems are not recorded, since a browser logs every 404. */
async function checkTruncatedLink(browser: Browser, mail: ReceivedMail): Promise<void> {
  const context = await browser.newContext({ ...LAYOUTS["phone-dark"], locale: "es-ES" });
  const page = await context.newPage();
  const response = await page.goto(mail.manageUrl.slice(0, -5));
  expectEqual("a truncated link is answered with 404", response?.status(), 404);
  expectEqual(
    "the error page is in the browser's language",
    await page.getAttribute("html", "lang"),
    "es",
  );
  await screenshot(page, "bad-link-phone-dark");
  await context.close();
}

async function run(executablePath: string): Promise<void> {
  rmSync(OUTPUT, { recursive: true, force: true });
  mkdirSync(OUTPUT, { recursive: true });
  const data = temporaryFolder();
  const { secretKey } = keysIn(await command(data, "project", "create", PROJECT));
  await command(data, "domain", "add", "books.example", "--verified");
  const server = await startServer({ binary: null, data, args: ["--transport", "capture"] });
  const browser = await chromium.launch({ executablePath, headless: true, args: FLAGS });
  try {
    const api = createApi(server, secretKey);
    const mail = await api.sendNews();
    await saveMailScreenshot(browser, mail);
    await checkLayouts(browser, "unsubscribe", mail.unsubscribeUrl);
    await checkLayouts(browser, "manage", mail.manageUrl);
    await unsubscribeAndResubscribe(browser, mail, api);
    await checkOneClick(mail, api);
    await checkLayouts(browser, "manage-unsubscribed", mail.manageUrl);
    await checkTruncatedLink(browser, mail);
    await checkLanguages(data, browser, mail);
    expectEqual("pages load nothing and log nothing", problems, []);
  } finally {
    await browser.close();
    await server.stop();
    removeFolder(data);
  }
}

function keysIn(answer: unknown): { secretKey: string } {
  return { secretKey: stringAt(answer, "secretKey") };
}

const browserPath = process.env["CHROMIUM"] ?? CHROMIUM_PATHS.find((path) => existsSync(path));
if (browserPath === undefined || !existsSync(browserPath)) {
  console.log(
    "skipped: Chromium is missing (apt-get install chromium, or set CHROMIUM to its path)",
  );
  process.exit(0);
}
const [what, only = ""] = process.argv.slice(2);
const limitMs = what === undefined ? LIMIT_MS : DASHBOARD_LIMIT_MS;
setTimeout(() => {
  console.error(`the check did not finish within ${limitMs / 1000} s`);
  process.exit(1);
}, limitMs);
try {
  if (what === "dashboard") {
    console.log("pages of the dashboard in a real browser");
    const found = await checkDashboard(command, only);
    if (found.length > 0) throw new Error(`${found.length} problems were found`);
  } else if (what === "keystrokes") {
    await measureKeystrokes(command);
  } else {
    console.log("pages in a real browser");
    await run(browserPath);
    console.log(`the screenshots are in ${OUTPUT}`);
  }
  process.exit(0);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
