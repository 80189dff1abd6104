/** An email in the drawer and as a page: each tab, in every layout, and removed or refused content. */

import { describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { openEmails, send, type Server } from "./email-server.ts";
import { expectFaultless } from "./layouts.ts";
import { pageTest, beforePages } from "../support/page-test.ts";
import { newProject } from "../support/dashboard-server.ts";

let server: Server;
let id: string;

const BODY = `<h1>Thank you</h1>
<p>Your order is on its way. <a href="http://shop.example/order">See the order</a></p>
<img src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=">`;

beforePages(async () => {
  server = await newProject();
  [id = ""] = await send(server, [{ to: "ada@example.com", subject: "Order 1", body: BODY }]);
});

/** The tabs with a text that shows that they are complete. */
const TABS = [
  ["Preview", "Dark (simulated)"],
  ["Text", "Your order is on its way."],
  ["Source", "Content-Transfer-Encoding:"],
  ["Headers", "Message-ID"],
  ["Transcript", "Attempt 1"],
  ["Timeline", "Accepted and queued"],
  ["Checks", "1 of 1 images have no alternative text."],
  ["Raw", "The bytes that were captured."],
] as const;

async function openTab(page: Page, [name, text]: (typeof TABS)[number]): Promise<void> {
  await page.getByRole("link", { name, exact: true }).click();
  await page.getByText(text).first().waitFor();
}

describe("an email", () => {
  for (const [width, ...layouts] of [
    ["wide", "light", "dark"],
    ["narrow", "phone", "phone-dark"],
  ] as const) {
    pageTest(
      `in a ${width} drawer, each tab is accessible, quiet and fits the window`,
      async () => {
        const path = `/emails?email=${id}`;
        const opened = await openEmails(server, path, { layout: layouts[0] });
        await opened.page.getByRole("dialog").waitFor();
        for (const tab of TABS) {
          await openTab(opened.page, tab);
          await expectFaultless(opened, {
            name: `email-${tab[0].toLowerCase()}`,
            layouts,
            isShown: (page) => page.getByText(tab[1]).first().waitFor(),
          });
        }
        await opened.close();
      },
    );
  }

  pageTest(
    "as a page it has its own address, and its tab stays when it is loaded again",
    async () => {
      const { page, ...opened } = await openEmails(server, `/emails/${id}?tab=headers`);
      await page.getByRole("heading", { level: 1, name: "Order 1" }).waitFor();
      await page.getByText("Message-ID").waitFor();
      await openTab(page, ["Timeline", "Accepted and queued"]);
      await page.reload();
      await page.getByText("Accepted and queued").waitFor();
      await opened.screenshot("email-page");
      expect(await opened.findings()).toEqual([]);
      expect(opened.problems).toEqual([]);
      await opened.close();
    },
  );

  pageTest(
    "the preview changes its width and its colours, and adds nothing to the history",
    async () => {
      const { page, ...opened } = await openEmails(server, `/emails?email=${id}`);
      const body = page.frameLocator("iframe").locator("html");
      await body.waitFor();
      const before = await page.evaluate("history.length");
      await page.getByText("Phone", { exact: true }).click();
      expect((await page.locator("iframe").boundingBox())?.width).toBe(375);
      await page.getByRole("switch", { name: "Dark (simulated)" }).press("Space");
      await page.frameLocator('iframe[src*="dark=true"]').getByText("Thank you").waitFor();
      expect(await body.evaluate("getComputedStyle(document.documentElement).filter")).toContain(
        "invert",
      );
      expect(await page.evaluate("history.length")).toBe(before);
      expect(opened.problems).toEqual([]);
      await opened.close();
    },
  );

  for (const [name, status, code, title] of [
    ["refused to viewers", 403, "FORBIDDEN", "You may not read this email"],
    ["removed", 404, "CONTENT_PURGED", "The content is no longer stored"],
  ] as const) {
    pageTest(
      `says why its content is ${name}, and shows the record and the transcript`,
      async () => {
        const error = { code, message: "The content is not available.", requestId: "r-1" };
        const { page, ...opened } = await openEmails(server, `/emails?email=${id}`, {
          prepare: async (page) => {
            await page.route(/\/emails\/[^/]+\/(content|source|checks|raw)/, (route) =>
              route.fulfill({ status, json: { success: false, error } }),
            );
          },
        });
        await page.getByText(title).waitFor();
        await opened.screenshot(`email-${code.toLowerCase()}`);
        expect(await opened.findings()).toEqual([]);
        for (const tab of ["Text", "Source", "Headers", "Checks", "Raw"]) {
          await page.getByRole("link", { name: tab, exact: true }).click();
          await page.getByText(title).waitFor();
        }
        await openTab(page, ["Transcript", "Attempt 1"]);
        await opened.close();
      },
    );
  }
});
