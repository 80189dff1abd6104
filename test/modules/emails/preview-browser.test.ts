/** A hostile mail in the frame of a page: nothing leaves the frame. */

import { afterAll, describe, expect } from "bun:test";
import { previewDocument, previewHeaders } from "../../../src/render/preview-document.ts";
import { hasChromium, sharedBrowser } from "../../support/browser.ts";
import { waitUntil } from "../../support/eventually.ts";
import { pageTest, beforePages } from "../../support/page-test.ts";

/** The server of an attacker, and the paths that were requested from it. */
let evil: ReturnType<typeof Bun.serve>;
let stolen: string[];
let shown: ReturnType<typeof Bun.serve>;
let html = "";

const PAGE = `<!doctype html><title>Page</title>
  <iframe src="/preview" width="800" height="600"
    sandbox="allow-popups allow-popups-to-escape-sandbox"></iframe>`;

beforePages(async () => {
  stolen = [];
  evil = Bun.serve({
    port: 0,
    fetch(request) {
      stolen.push(new URL(request.url).pathname);
      return new Response("<title>Evil</title>", { headers: { "Content-Type": "text/html" } });
    },
  });
  shown = Bun.serve({
    port: 0,
    fetch: ({ url }) =>
      new URL(url).pathname === "/preview"
        ? new Response(previewDocument(html, []), { headers: previewHeaders("text/html") })
        : new Response(PAGE, { headers: { "Content-Type": "text/html" } }),
  });
});
afterAll(async () => {
  if (!hasChromium) return;
  await Promise.all([evil.stop(true), shown.stop(true)]);
});

function hostileBody(base: string): string {
  const steal = `fetch('${base}/script');top.document.title='x';location='${base}/moved'`;
  return `
    <base href="${base}/base/" target="_top">
    <meta http-equiv="refresh" content="0; url=${base}/refresh">
    <link rel="stylesheet" href="${base}/sheet"><link rel="preload" as="image" href="${base}/preload">
    <link rel="prefetch" href="${base}/prefetch"><link rel="preconnect" href="${base}">
    <style>@import "${base}/import"; @font-face { font-family: f; src: url(${base}/font) }
      p { font-family: f; background: url(${base}/background); color: rgb(1, 2, 3) }</style>
    <script>${steal}</script><script src="${base}/external"></script>
    <img src="${base}/image" srcset="${base}/set 2x" onerror="${steal}">
    <img src="data:image/png;base64,x" onerror="${steal}">
    <svg><image href="${base}/svg"/><use href="${base}/use#a"/><script>${steal}</script></svg>
    <video src="${base}/video" poster="${base}/poster" autoplay></video><audio src="${base}/audio">
    </audio><input type="image" src="${base}/input"><object data="${base}/object"></object>
    <embed src="${base}/embed"><iframe src="${base}/frame"></iframe>
    <table background="${base}/table"><tr><td style="background:url(${base}/style)">x</td></tr></table>
    <form action="${base}/form" target="_top"><button id="submit" formtarget="_top">Submit</button></form>
    <a id="script" href="javascript:${steal}" target="_top">Script</a>
    <a id="link" href="${base}/link" target="_top" rel="opener" ping="${base}/ping">Link</a>
    <p id="text">Hello</p>`;
}

describe("a hostile mail in a frame", () => {
  pageTest("loads and runs nothing, and its links open new tabs without an opener", async () => {
    const base = `http://127.0.0.1:${evil.port}`;
    const url = `http://127.0.0.1:${shown.port}/`;
    html = hostileBody(base);
    const context = await (await sharedBrowser()).newContext();
    const page = await context.newPage();
    await page.goto(url);
    const frame = page.frameLocator("iframe");
    // Its own styles work.
    await frame.locator("#text").waitFor();
    const color = "getComputedStyle(document.querySelector('#text')).color";
    expect(await page.frames()[1]?.evaluate(color)).toBe("rgb(1, 2, 3)");
    await frame.locator("#script").click();
    await frame.locator("#submit").click();
    expect(stolen).toEqual([]);

    const opened = context.waitForEvent("page");
    await frame.locator("#link").click();
    const tab = await opened;
    await waitUntil(() => stolen.includes("/link"));
    await tab.waitForLoadState();
    expect(await tab.evaluate("[window.opener, document.referrer, document.title]")).toEqual([
      null,
      "",
      "Evil",
    ]);
    expect([page.url(), await page.title()]).toEqual([url, "Page"]);
    expect(stolen.filter((path) => path !== "/favicon.ico")).toEqual(["/link"]);
    await context.close();
  });
});
