/** Mails that attack whoever looks at them: nothing leaves the preview, the source or the list. */

import { afterAll, describe, expect } from "bun:test";
import { hasChromium } from "../support/browser.ts";
import { openEmails, send, type Server } from "./email-server.ts";
import { pageTest, beforePages } from "../support/page-test.ts";
import { newProject } from "../support/dashboard-server.ts";

/** The server renders and signs megabytes for a tab, also on a busy machine. */
const SLOW_MS = 25_000;

let server: Server;
let evil: ReturnType<typeof Bun.serve>;
let requested: string[];

beforePages(async () => {
  requested = [];
  evil = Bun.serve({
    port: 0,
    fetch(request) {
      requested.push(new URL(request.url).pathname);
      return new Response("");
    },
  });
  server = await newProject();
});
afterAll(async () => {
  if (!hasChromium) return;
  await evil.stop(true);
});

const SUBJECT = `<img src=x onerror="document.title='ran'">{{constructor}}`;

function hostileBody(base: string): string {
  const attack = `top.location='${base}/top';fetch('${base}/fetch');top.document.title='ran'`;
  return `<html><head><meta http-equiv="refresh" content="0;url=${base}/refresh">
<base href="${base}/" target="_top"><link rel="stylesheet" href="${base}/sheet">
<style>@import "${base}/import"; body { background: url(${base}/background) }</style></head>
<body onload="${attack}"><script>${attack}</script><img src="${base}/image" onerror="${attack}">
<iframe src="${base}/frame"></iframe><form action="${base}/form" target="_top">
<button>Win a prize</button></form><a href="javascript:${attack}" target="_top">Click here</a>
<p>The end of the mail</p></body></html>`;
}

describe("a hostile mail", () => {
  pageTest("runs nothing and loads nothing in any tab", async () => {
    const origin = `http://127.0.0.1:${evil.port}`;
    const body = hostileBody(origin);
    const [id = ""] = await send(server, [{ to: "ada@example.com", subject: SUBJECT, body }]);
    const { page, problems, close } = await openEmails(server, `/emails?email=${id}`);
    const tabs = page.context().pages();
    const frame = page.frameLocator("iframe");
    await frame.getByText("The end of the mail").waitFor();
    await frame.getByText("Win a prize").click();
    await frame.getByText("Click here").click();
    for (const [tab, text] of [
      ["Text", "The end of the mail"],
      ["Source", "Content-Type"],
      ["Headers", "Message-ID"],
      ["Checks", "Structure and headers"],
      ["Raw", "The bytes that were captured"],
    ] as const) {
      await page.getByRole("link", { name: tab, exact: true }).click();
      await page.getByText(text).first().waitFor();
    }
    expect(await page.title()).toStartWith("Emails");
    expect(new URL(page.url()).origin).toBe(server.url);
    expect(page.context().pages()).toEqual(tabs);
    expect(requested).toEqual([]);
    // The browser tells what the policy and the sandbox of the frame refused to request.
    const refusals = new RegExp(`Content Security Policy|sandbox|^request: ${origin}`, "i");
    expect(problems.filter((problem) => !refusals.test(problem))).toEqual([]);
    await close();
  });

  pageTest(
    "of megabytes of nested tables is shown in part, and the page stays usable",
    async () => {
      const tables = "<table><tr><td>\n".repeat(1_000);
      const body = `<p>The start of the mail</p>{% for i in (1..300) %}${tables}{% endfor %}`;
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
    },
  );
});
