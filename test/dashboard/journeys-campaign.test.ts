/**
 * The journey of somebody who judges a campaign: from the overview to its report, to those who got no
 * mail and why, and to a file with those who clicked. The campaigns are those of the demonstration.
 * `bun scripts/journeys.ts` runs it against the executable.
 */

import { describe, expect } from "bun:test";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { faultsOf, NO_FAULTS } from "../support/browser.ts";
import { expectSoon } from "../support/eventually.ts";
import { stringAt, valueAt } from "../support/json.ts";
import { type DemoServer, sharedDemo } from "./demo-server.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

let server: DemoServer;

beforePages(async () => {
  server = await sharedDemo();
});

const NAME = "Newsletter October";
const number = new Intl.NumberFormat("en-US");
const recipients = (page: Page) => page.getByRole("region", { name: "Recipients" });
/** The number of recipients that the table says it has. */
const rowCount = async (page: Page) =>
  Number(await recipients(page).locator("table").getAttribute("aria-rowcount")) - 1;

/** All addresses of the recipients with a status, as the interface has them. */
async function addressesOf(id: string, query: string): Promise<string[]> {
  const found: string[] = [];
  let cursor = "";
  do {
    const path = `/campaigns/${id}/recipients?${query}&limit=100${cursor}`;
    const { body } = await server.call("GET", path);
    const items = valueAt(body, "data.items");
    if (!Array.isArray(items)) throw new Error("the recipients have no list");
    found.push(...items.map((item: unknown) => stringAt(item, "email")));
    const next = valueAt(body, "data.nextCursor");
    cursor = typeof next === "string" ? `&cursor=${next}` : "";
  } while (cursor !== "");
  return found;
}

describe("a campaign is judged", () => {
  pageTest(
    "from the overview to the figures, the bounces with their reasons, and those who clicked",
    async () => {
      const opened = await server.open("/");
      const { page } = opened;
      await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
      await page.getByRole("link", { name: "Campaigns", exact: true }).click();
      await page.getByRole("link", { name: NAME, exact: true }).waitFor();
      await opened.screenshot("campaign-journey-1-list");
      await page.getByRole("link", { name: NAME, exact: true }).click();
      await page.getByRole("heading", { level: 1, name: NAME }).waitFor();
      const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
      const stats = valueAt((await server.call("GET", `/campaigns/${id}/stats`)).body, "data");
      const bounced = Number(valueAt(stats, "bounced"));
      const clicked = Number(valueAt(stats, "clicked"));
      expect([bounced > 0, clicked > 0]).toEqual([true, true]);
      const figures = page.getByRole("region", { name: "Numbers" });
      const figure = (label: string) =>
        figures.locator(".figure", { hasText: label }).locator(".figure-count");
      await expectSoon(() => figure("Bounced").textContent(), number.format(bounced));
      await opened.screenshot("campaign-journey-2-report");
      expect(await opened.findings()).toEqual([]);

      await figure("Bounced").getByRole("link").click();
      await expectSoon(() => rowCount(page), bounced);
      await opened.screenshot("campaign-journey-3-bounced");
      const first = recipients(page).locator("tbody tr[data-row]").first();
      await first.getByText(/The mailbox|The server|Neither SPF/).waitFor();
      await first.getByRole("link").click();
      await page.locator(".outcome").waitFor();
      await opened.screenshot("campaign-journey-4-bounce");
      await page.goBack();
      await expectSoon(() => rowCount(page), bounced);

      await page.getByRole("button", { name: /^Clicked/ }).click();
      await expectSoon(() => rowCount(page), clicked);
      const saved = page.waitForEvent("download");
      await page.getByRole("button", { name: "Export CSV" }).click();
      const download = await saved;
      const [head = "", ...lines] = readFileSync(await download.path(), "utf8")
        .trim()
        .split("\r\n");
      expect(head).toStartWith("email,");
      const addresses = lines.map((line) => line.split(",")[0]);
      expect(new Set(addresses)).toEqual(new Set(await addressesOf(id, "action=CLICKED")));
      expect(addresses.length).toBe(clicked);
      await opened.screenshot("campaign-journey-5-clicked");

      await page.getByRole("link", { name: "Report", exact: true }).click();
      await page.getByRole("heading", { name: "Beside earlier campaigns" }).waitFor();
      expect(await faultsOf(opened)).toEqual(NO_FAULTS);
      await opened.close();
    },
  );
});
