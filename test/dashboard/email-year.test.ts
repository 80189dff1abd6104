/** The emails of a year: a long list, mails that were refused or wait, and what they show. */

import { describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { sharedDemo } from "./demo-server.ts";
import { openEmails, type Server } from "./email-server.ts";
import { expectNoFaults } from "./layouts.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

/** Rows that may be in the document, of any number of mails. */
const MAX_ROWS = 60;

let server: Server;
/** The same server, for a user who may read the bodies of marketing mail alone. */
let viewer: Server;

beforePages(async () => {
  const { url, project, secretKey, cookies } = await sharedDemo();
  server = { url, project, secretKey, cookie: cookies.OWNER };
  viewer = { ...server, cookie: cookies.VIEWER };
});

const rows = (page: Page) => page.locator(".email-table [data-row]");

describe("the emails of a year", () => {
  pageTest("a list of 20,000 mails has few rows in the document, also at its end", async () => {
    const { page, problems, close } = await openEmails(server, "/emails");
    await page.getByText(/\d\d,\d{3} emails/).waitFor();
    const table = page.locator(".email-table .table-scroll");
    for (let i = 0; i < 8; i++) {
      await Promise.all([
        page.waitForResponse(/\/emails\?.*cursor=/),
        table.evaluate((element) => element.scrollTo(0, element.scrollHeight)),
      ]);
      expect(await rows(page).count()).toBeWithin(10, MAX_ROWS + 1);
    }
    expect(problems).toEqual([]);
    await close();
  });

  for (const [status, badge, text] of [
    ["bounced", "Bounced", /is permanent: /],
    ["queued", "Deferred", /is temporary: /],
  ] as const) {
    pageTest(
      `a ${status} mail shows its transcript first, with the reply in plain words`,
      async () => {
        const opened = await openEmails(server, `/emails?status=${status}`);
        const { page } = opened;
        await rows(page).filter({ hasText: badge }).first().locator("[data-primary]").click();
        await expectNoFaults(opened, {
          name: `email-${status}`,
          layouts: ["light", "phone-dark"],
          async isShown() {
            const drawer = page.getByRole("dialog");
            await drawer.getByText(text).first().waitFor();
            await drawer.getByText("MAIL FROM:").first().waitFor();
          },
        });
      },
    );
  }

  pageTest(
    "a viewer reads marketing mail, and the record and transcript of other mail",
    async () => {
      const path = "/emails?source=transactional&status=delivered";
      const { page, ...opened } = await openEmails(viewer, path);
      await rows(page).first().locator("[data-primary]").click();
      await page.getByText("Attempt 1").waitFor();
      for (const tab of ["Preview", "Text", "Source", "Headers", "Checks", "Raw"]) {
        await page.getByRole("link", { name: tab, exact: true }).click();
        await page.getByText("You may not read this email").waitFor();
      }
      await opened.screenshot("email-viewer");
      expect(await opened.findings()).toEqual([]);
      await page.goto(page.url().replace(/emails\?.*/, "emails?source=campaign&status=opened"));
      await rows(page).first().locator("[data-primary]").click();
      await page.frameLocator("iframe").getByText("Harbour Books").first().waitFor();
      await opened.close();
    },
  );

  pageTest(
    "after an error further rows are requested only when asked, and the drawer reads on",
    async () => {
      let requests = 0;
      const { page, close } = await openEmails(server, "/emails", {
        prepare: async (page) => {
          const error = { code: "X", message: "The rows are not available." };
          await page.route(/\/emails\?.*cursor=/, (route) => {
            requests++;
            return route.fulfill({ status: 500, json: { success: false, error } });
          });
        },
      });
      const table = page.locator(".email-table .table-scroll");
      await rows(page).first().waitFor();
      await table.evaluate((element) => element.scrollTo(0, element.scrollHeight));
      await page.getByText("The rows are not available.").waitFor();
      await page.locator('[data-row="99"] [data-primary]').click();
      await page.getByText("Attempt 1").or(page.locator("iframe")).first().waitFor();
      expect(requests).toBe(1);
      await page.keyboard.press("Escape");
      await page.unroute(/\/emails\?.*cursor=/);
      await page.getByRole("button", { name: "Try again" }).click();
      await page.locator('[data-row="100"]').waitFor();
      await page.locator('[data-row="100"] [data-primary]').focus();
      await page.keyboard.press("Enter");
      const drawer = page.getByRole("dialog");
      await drawer.waitFor();
      for (let i = 0; i < 30; i++) await page.keyboard.press("j");
      await page.keyboard.press("Escape");
      await drawer.waitFor({ state: "detached" });
      await page.locator('[data-row="130"] [data-primary]:focus').waitFor();
      await close();
    },
  );

  pageTest("the mails of a campaign are found by its name", async () => {
    const { page, problems, close } = await openEmails(server, "/emails");
    await rows(page).first().waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("campaign:advent");
    await page.getByRole("option", { name: "Advent calendar" }).click();
    await page.getByText("campaign: Advent calendar").waitFor();
    await page.getByRole("cell", { name: "Twenty-four doors" }).first().waitFor();
    expect(problems).toEqual([]);
    await close();
  });
});
