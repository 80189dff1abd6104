/** Back shows a long list where it was left; a link to the list shows its beginning. */

import { describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { type Layout, openPage } from "../support/browser.ts";
import { type DashboardProject, newProject } from "../support/dashboard-server.ts";
import { expectSoon } from "../support/eventually.ts";
import { beforePages, pageTest } from "../support/page-test.ts";

/** A page of a list has 100 rows. */
const ROWS = 180;
/** The position of a row that the first page of the list does not have. */
const TOP = { light: 5_000, phone: 8_000 };

let project: DashboardProject;

beforePages(async () => {
  project = await newProject();
  // Each new contact is an event as well.
  for (let i = 0; i < ROWS; i++) {
    await project.call("POST", "/contacts", { email: `c${i}@acme.example` });
  }
});

const openContacts = (layout: Layout) =>
  openPage(`${project.url}/app/p/${project.project}/contacts`, { cookie: project.cookie, layout });

const readTop = (page: Page) =>
  page.evaluate("document.querySelector('.table-scroll')?.scrollTop ?? -1");

/** Scrolls to the end of all loaded rows until so much is loaded. */
async function scrollTo(page: Page, top: number): Promise<void> {
  await page.locator("[data-row]").first().waitFor();
  await expectSoon(async () => {
    await page.evaluate(`document.querySelector('.table-scroll').scrollTo({ top: ${top} })`);
    return readTop(page);
  }, top);
}

/** Leaves the list, and expects that Back shows the rows that were left. */
async function expectBack(page: Page, top: number, leave: () => Promise<void>): Promise<void> {
  await leave();
  await page.locator(".table-scroll").waitFor({ state: "detached" });
  await page.goBack();
  await expectSoon(() => readTop(page), top);
  await page.locator("[data-row]").first().waitFor();
}

describe("Back", () => {
  pageTest("shows the rows that were left, and a link to the list its beginning", async () => {
    const { page, problems, close } = await openContacts("light");
    const openRow = () => page.locator("[data-row] [data-primary]").nth(12).click();
    await scrollTo(page, TOP.light);
    await expectBack(page, TOP.light, openRow);
    await openRow();
    await page.locator(".table-scroll").waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Contacts" }).first().click();
    await page.locator("[data-row='0']").waitFor();
    expect(await readTop(page)).toBe(0);

    await page.getByRole("link", { name: "Events" }).click();
    await page.getByRole("heading", { level: 1, name: "Events" }).waitFor();
    await scrollTo(page, TOP.light);
    await expectBack(page, TOP.light, async () => {
      await page.keyboard.press("g");
      await page.keyboard.press("o");
    });
    expect(problems).toEqual([]);
    await close();
  });

  pageTest("shows the rows that were left on a phone", async () => {
    const { page, problems, close } = await openContacts("phone");
    await scrollTo(page, TOP.phone);
    await expectBack(page, TOP.phone, () =>
      page.locator("[data-row] [data-primary]").nth(12).click(),
    );
    expect(problems).toEqual([]);
    await close();
  });
});
