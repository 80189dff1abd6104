/** The emails of a year: a long list, mails that were refused or wait, and what they show. */

import { describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { expectSoon } from "../support/eventually.ts";
import { stringAt } from "../support/json.ts";
import { beforePages, pageTest } from "../support/page-test.ts";
import { type DemoServer, sharedDemo } from "./demo-server.ts";

/** Rows that may be in the document, of any number of mails. */
const MAX_ROWS = 60;
/** Rows that one request returns. */
const PAGE_ROWS = 100;
/** The requests of all pages of the list but the first. */
const FURTHER_ROWS = /\/emails\?.*cursor=/;
const UNAVAILABLE = {
  success: false,
  error: { code: "X", message: "The rows are not available." },
};

let demo: DemoServer;

beforePages(async () => {
  demo = await sharedDemo();
});

const rows = (page: Page) => page.locator(".email-table [data-row]");
const link = (page: Page, row: number) => page.locator(`[data-row="${row}"] [data-primary]`);
const table = (page: Page) => page.locator(".email-table .table-scroll");
const scrollToEnd = (page: Page) =>
  table(page).evaluate((element) => element.scrollTo(0, element.scrollHeight));
const openedEmail = (page: Page) => new URL(page.url()).searchParams.get("email");

/** Adds terms to the search. */
async function search(page: Page, terms: string): Promise<void> {
  const field = page.getByLabel("Search: to, subject, status…");
  await field.fill(terms);
  await field.press("Enter");
}

/** Opens the next email in the drawer, as soon as it is loaded. */
async function pressNext(page: Page): Promise<void> {
  const before = openedEmail(page);
  const next = page.getByRole("dialog").getByRole("button", { name: "Next", disabled: false });
  await next.waitFor();
  await page.keyboard.press("j");
  await page.waitForURL(() => openedEmail(page) !== before);
}

describe("the emails of a year", () => {
  pageTest(
    "are a list with few rows in the document, which its drawer and its end read on",
    async () => {
      const newest = await demo.items(`/emails?limit=${PAGE_ROWS}`);
      const id = stringAt(newest, `${PAGE_ROWS - 3}.id`);
      const { page, close } = await demo.open(`/emails?email=${id}`, { role: "OWNER" });
      await page.getByText(/\d,\d{3} emails/).waitFor();
      const drawer = page.getByRole("dialog");
      await drawer.waitFor();
      for (let i = 0; i < 4; i++) await pressNext(page);
      const next = openedEmail(page);
      await page.keyboard.press("Escape");
      await drawer.waitFor({ state: "detached" });
      // The row of the email was not in the document.
      await page.locator(`[data-primary][href$="/emails/${next}"]:focus`).waitFor();

      for (let i = 0; i < 2; i++) {
        await Promise.all([page.waitForResponse(FURTHER_ROWS), scrollToEnd(page)]);
        expect(await rows(page).count()).toBeWithin(10, MAX_ROWS + 1);
      }

      // After an error, further rows are requested only when asked.
      let requests = 0;
      await page.route(FURTHER_ROWS, (route) => {
        requests++;
        return route.fulfill({ status: 500, json: UNAVAILABLE });
      });
      const last = 4 * PAGE_ROWS - 1;
      await expectSoon(async () => {
        await scrollToEnd(page);
        return link(page, last).count();
      }, 1);
      await page.getByText("The rows are not available.").waitFor();
      await link(page, last).click();
      await drawer.getByText("Attempt 1").or(page.locator("iframe")).first().waitFor();
      await page.keyboard.press("Escape");
      await drawer.waitFor({ state: "detached" });
      expect(requests).toBe(1);
      await page.unroute(FURTHER_ROWS);
      await page.getByRole("button", { name: "Try again" }).click();
      await link(page, last + 1).waitFor({ state: "attached" });
      await close();
    },
  );

  pageTest("are found by campaign, and refused ones show the conversation first", async () => {
    const { page, problems, close } = await demo.open("/emails", { role: "OWNER" });
    await rows(page).first().waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("campaign:advent");
    await page.getByRole("option", { name: "Advent calendar" }).click();
    await page.getByText("campaign: Advent calendar").waitFor();
    await page.getByRole("cell", { name: "Twenty-four doors" }).first().waitFor();
    await page.getByRole("button", { name: "Remove the filter campaign" }).click();
    for (const [status, badge, text] of [
      ["bounced", "Bounced", /is permanent: /],
      ["queued", "Deferred", /is temporary: /],
    ] as const) {
      await search(page, `status:${status}`);
      await rows(page).filter({ hasText: badge }).first().locator("[data-primary]").click();
      const drawer = page.getByRole("dialog");
      await drawer.getByText(text).first().waitFor();
      await drawer.getByText("MAIL FROM:").first().waitFor();
      await page.keyboard.press("Escape");
      await drawer.waitFor({ state: "detached" });
    }
    expect(problems).toEqual([]);
    await close();
  });

  pageTest(
    "show a viewer marketing mail, and the record and transcript of other mail",
    async () => {
      const path = "/emails?source=transactional&status=delivered";
      const { page, close } = await demo.open(path, { role: "VIEWER" });
      await rows(page).first().locator("[data-primary]").click();
      await page.getByText("Attempt 1").waitFor();
      await page.getByText("only editors and admins of the project read its content").waitFor();
      const tabs = page.getByRole("navigation", { name: "Parts of the email" }).getByRole("link");
      expect(await tabs.allInnerTexts()).toEqual(["Transcript", "Timeline"]);
      await page.goto(`${page.url()}&tab=preview`);
      await page.getByText("Attempt 1").waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await search(page, "source:campaign status:opened");
      await page.getByText("status: Opened").waitFor();
      await rows(page).first().locator("[data-primary]").click();
      await page.frameLocator("iframe").getByText("Harbour Books").first().waitFor();
      await close();
    },
  );
});
