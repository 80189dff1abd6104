/**
 * Shows that the pages behind the links of a mail work in a real browser: asks, clicks, looks at
 * the contact, and takes pictures in light, dark and on a phone into `dist/pages/`.
 *
 * `bun scripts/pages.ts`. Needs Chromium (`CHROMIUM` names it, else the usual places); without one
 * it says so, and that is no failure.
 */

import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { removeFolder, ROOT, type Server, startServer, temporaryFolder } from "./bench/children.ts";
import { at, textAt } from "../test/support/json.ts";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
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

const PROJECT = "Harbour Books";
const READER = "ada.lovelace@example.net";
const BODY = `<!doctype html><html><body style="font-family:sans-serif;max-width:36rem;margin:2rem auto">
<h1>New this week</h1><p>Hello {{ name }}, three books have come in.</p>
<p><a href="https://books.example/new?week=12&amp;from=mail">See them all</a></p></body></html>`;

/** How a page is looked at. */
const LOOKS = {
  light: { viewport: { width: 1100, height: 700 }, colorScheme: "light" },
  dark: { viewport: { width: 1100, height: 700 }, colorScheme: "dark" },
  phone: { viewport: { width: 360, height: 720 }, colorScheme: "light", deviceScaleFactor: 2 },
  "phone-dark": {
    viewport: { width: 360, height: 720 },
    colorScheme: "dark",
    deviceScaleFactor: 2,
  },
} as const;
type Look = keyof typeof LOOKS;

type Letter = { id: string; html: string; unsubscribeUrl: string; manageUrl: string };

function expectSame(what: string, actual: unknown, expected: unknown): void {
  if (!Bun.deepEquals(actual, expected)) {
    throw new Error(`${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
  }
  console.log(`  ok  ${what}`);
}

async function command(data: string, ...words: string[]): Promise<unknown> {
  const child = Bun.spawn([process.execPath, "src/main.ts", ...words, "--data", data, "--json"], {
    cwd: ROOT,
    stdout: "pipe",
  });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`mailstead ${words.join(" ")} failed`);
  return JSON.parse(text);
}

/** The interface with a key, and the mails that were caught. */
function interfaceOf(server: Server, key: string) {
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

    async sendNews(): Promise<Letter> {
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
        template: textAt(template, "data.id"),
        subscribed: true,
      });
      const id = textAt(sent, "emails.0.email");
      for (;;) {
        const status = textAt(await call("GET", `/emails/${id}`), "data.status");
        if (status === "SENT") break;
        await Bun.sleep(20);
      }
      return letterIn(id, String(await call("GET", `/emails/${id}/raw`)));
    },

    isSubscribed: async () => at(await call("GET", "/contacts"), "contacts.0.subscribed"),
    lastEvent: async () => {
      const event = at(await call("GET", "/events?limit=1"), "data.items.0");
      return [textAt(event, "name"), textAt(event, "emailId"), at(event, "data.via")];
    },
  };
}

function letterIn(id: string, raw: string): Letter {
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

/** What the browser complained of, and what pages loaded besides themselves. */
const complaints: string[] = [];

/** A page in a browser without memory. */
async function open(browser: Browser, look: Look, url: string): Promise<Page> {
  const context = await browser.newContext(LOOKS[look]);
  const page = await context.newPage();
  page.on("console", (message) => complaints.push(`${url} says: ${message.text()}`));
  page.on("request", (request) => {
    if (request.resourceType() !== "document") complaints.push(`${url} loads ${request.url()}`);
  });
  await page.goto(url);
  return page;
}

async function picture(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(OUTPUT, `${name}.png`) });
}

async function pictures(browser: Browser, name: string, url: string): Promise<void> {
  for (const look of ["light", "dark", "phone", "phone-dark"] as const) {
    const page = await open(browser, look, url);
    const widest = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
    expectSame(`${name}, ${look}: fits its width`, widest, 0);
    await picture(page, `${name}-${look}`);
    await page.context().close();
  }
}

/** With the mouse on a page, by the keyboard on the next. */
async function decide(
  browser: Browser,
  letter: Letter,
  server: ReturnType<typeof interfaceOf>,
): Promise<void> {
  const page = await open(browser, "light", letter.unsubscribeUrl);
  expectSame("opening the page changes nothing", await server.isSubscribed(), true);
  expectSame("the language is said", await page.getAttribute("html", "lang"), "en");
  await page.getByRole("button", { name: "Unsubscribe" }).click();
  await page.getByRole("heading", { name: "You are unsubscribed" }).waitFor();
  expectSame("the button unsubscribes", await server.isSubscribed(), false);
  expectSame("the event names the mail", await server.lastEvent(), [
    "contact.unsubscribed",
    letter.id,
    "page",
  ]);
  await picture(page, "unsubscribed-light");
  await page.reload();
  expectSame("a reload stays there", await server.isSubscribed(), false);
  await page.keyboard.press("Tab");
  await picture(page, "unsubscribed-focus");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "You are subscribed" }).waitFor();
  expectSame("the keyboard takes it back", await server.isSubscribed(), true);
  await page.context().close();
}

async function oneClick(letter: Letter, server: ReturnType<typeof interfaceOf>): Promise<void> {
  const response = await fetch(letter.unsubscribeUrl, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: "List-Unsubscribe=One-Click",
    redirect: "manual",
  });
  expectSame("one-click is answered with 200", response.status, 200);
  expectSame("one-click unsubscribes", await server.isSubscribed(), false);
}

async function showMail(browser: Browser, letter: Letter): Promise<void> {
  const context = await browser.newContext(LOOKS.light);
  const page = await context.newPage();
  await page.setContent(letter.html);
  await picture(page, "mail-light");
  await context.close();
}

async function inLanguages(data: string, browser: Browser, letter: Letter): Promise<void> {
  for (const language of ["de", "fr", "ja", "pl"]) {
    await command(data, "project", "set", "--language", language);
    const page = await open(browser, "phone", letter.manageUrl);
    expectSame(`in ${language}`, await page.getAttribute("html", "lang"), language);
    await picture(page, `manage-${language}-phone`);
    await page.context().close();
  }
}

/** A browser complains of every 404, which is what this is. */
async function showBadLink(browser: Browser, letter: Letter): Promise<void> {
  const context = await browser.newContext({ ...LOOKS["phone-dark"], locale: "es-ES" });
  const page = await context.newPage();
  const response = await page.goto(letter.manageUrl.slice(0, -5));
  expectSame("a link cut off is not found", response?.status(), 404);
  expectSame("and that is said", await page.getAttribute("html", "lang"), "es");
  await picture(page, "bad-link-phone-dark");
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
    const api = interfaceOf(server, secretKey);
    const letter = await api.sendNews();
    await showMail(browser, letter);
    await pictures(browser, "unsubscribe", letter.unsubscribeUrl);
    await pictures(browser, "manage", letter.manageUrl);
    await decide(browser, letter, api);
    await oneClick(letter, api);
    await pictures(browser, "manage-unsubscribed", letter.manageUrl);
    await showBadLink(browser, letter);
    await inLanguages(data, browser, letter);
    expectSame("nothing was loaded, and nothing complained of", complaints, []);
  } finally {
    await browser.close();
    await server.stop();
    removeFolder(data);
  }
}

function keysIn(answer: unknown): { secretKey: string } {
  return { secretKey: textAt(answer, "secretKey") };
}

setTimeout(() => {
  console.error(`not done within ${LIMIT_MS / 1000} s`);
  process.exit(1);
}, LIMIT_MS);

const browserPath = process.env["CHROMIUM"] ?? PLACES.find((place) => existsSync(place));
if (browserPath === undefined || !existsSync(browserPath)) {
  console.log("skipped: Chromium is missing (apt-get install chromium, or set CHROMIUM)");
  process.exit(0);
}
try {
  console.log("pages in a real browser");
  await run(browserPath);
  console.log(`pictures are in ${OUTPUT}`);
  process.exit(0);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
