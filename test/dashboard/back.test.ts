/** Back shows a long list where it was left; a link to the list shows its beginning. */

import { describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { hasChromium, BROWSER_LIMIT_MS, type Layout, openPage } from "../support/browser.ts";
import { type DashboardProject, newProject } from "../support/dashboard-server.ts";
import { expectSoon } from "../support/eventually.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

/** More than two pages of a list. */
const ROWS = 250;

let server: DashboardProject;

beforePages(async () => {
  server = await newProject();
  const emails = Array.from({ length: ROWS }, (_, i) => `c${String(i).padStart(3, "0")}@x.example`);
  for (const email of emails) {
    await server.call("POST", "/contacts", { email });
    await server.call("POST", "/suppressions", { email, reason: "MANUAL" });
  }
});

const topOf = (page: Page) =>
  page.evaluate("document.querySelector('.table-scroll')?.scrollTop ?? -1");

/** Scrolls to the end of all loaded rows until so much is loaded. */
async function scrollTo(page: Page, top: number): Promise<void> {
  await expectSoon(async () => {
    await page.evaluate(`document.querySelector('.table-scroll').scrollTo({ top: ${top} })`);
    return topOf(page);
  }, top);
}

describe("Back", () => {
  test.skipIf(!hasChromium).each([
    ["/contacts", "light", 6_000],
    ["/contacts", "phone", 9_000],
    ["/suppressions", "light", 6_000],
    ["/events", "light", 6_000],
  ] satisfies [string, Layout, number][])(
    "to %s (%s) shows the rows that were left",
    async (path, layout, top) => {
      const { page, problems, close } = await openPage(
        `${server.url}/app/p/${server.project}${path}`,
        { cookie: server.cookie, layout },
      );
      await page.locator("[data-row]").first().waitFor();
      await scrollTo(page, top);
      if (path === "/contacts") {
        await page.locator("[data-row] [data-primary]").nth(12).click();
      } else {
        await page.keyboard.press("g");
        await page.keyboard.press("o");
      }
      await page.locator(".table-scroll").waitFor({ state: "detached" });
      await page.goBack();
      await expectSoon(() => topOf(page), top);
      await page.locator("[data-row]").first().waitFor();
      expect(problems).toEqual([]);
      await close();
    },
    BROWSER_LIMIT_MS,
  );

  pageTest("is not a link to the list, which shows its beginning", async () => {
    const { page, close } = await openPage(`${server.url}/app/p/${server.project}/contacts`, {
      cookie: server.cookie,
    });
    await page.locator("[data-row]").first().waitFor();
    await scrollTo(page, 6_000);
    await page.locator("[data-row] [data-primary]").nth(12).click();
    await page.locator(".table-scroll").waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Contacts" }).first().click();
    await page.locator("[data-row='0']").waitFor();
    expect(await topOf(page)).toBe(0);
    await close();
  });
});
