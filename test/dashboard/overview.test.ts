/** The overview: its numbers, ranges, chart and table, and what needs attention. */

import { describe, expect } from "bun:test";
import type { Page, Response } from "playwright-core";
import { type Layout, openPage } from "../support/browser.ts";
import { expectSoon, waitUntilRead } from "../support/eventually.ts";
import { listAt, stringAt, valueAt } from "../support/json.ts";
import { sharedDemo } from "./demo-server.ts";
import { expectNoFaults } from "./layouts.ts";
import { pageTest, beforePages } from "../support/page-test.ts";
import { type DashboardProject, newProject } from "../support/dashboard-server.ts";

type Site = { url: string; cookie: string; project: string };
let site: Site;
let empty: DashboardProject;

beforePages(async () => {
  const { url, project, cookies } = await sharedDemo();
  site = { url, project, cookie: cookies.OWNER };
  empty = await newProject();
});

async function openOverview(query = "", layout: Layout = "light", of = site) {
  return openPage(`${of.url}/app/p/${of.project}${query}`, { layout, cookie: of.cookie });
}

const FIGURES = ["sent", "delivered", "opened", "clicked", "bounced"];
const params = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);
/** The figures as numbers; the browser of the tests writes 1,234. */
async function figuresOf(page: Page): Promise<number[]> {
  const texts = await page.locator(".figure-count").allTextContents();
  return texts.map((text) => Number(text.replaceAll(",", "")));
}
const chart = (page: Page) => page.locator(".chart-canvas canvas");

/** Runs a step and returns the body of the answer to GET /stats that it causes. */
async function statsOf(page: Page, step: () => Promise<unknown>): Promise<unknown> {
  const [response] = await Promise.all([page.waitForResponse(/\/stats\?/), step()]);
  const body: unknown = await response.json();
  return body;
}

describe("the overview", () => {
  pageTest("every layout is accessible, quiet and fits the window", async () => {
    await expectNoFaults(await openOverview(), {
      name: "overview-full",
      async isShown(page) {
        await chart(page).waitFor();
        await page.getByRole("heading", { name: "Queue of all projects" }).waitFor();
      },
    });
  });

  pageTest("shows the totals of the interface", async () => {
    let answer: Promise<Response> | undefined;
    const { page, problems, close } = await openPage(`${site.url}/app/p/${site.project}`, {
      cookie: site.cookie,
      prepare: async (blank) => {
        answer = blank.waitForResponse(/\/stats\?/);
      },
    });
    const body: unknown = await (await answer)?.json();
    await chart(page).waitFor();
    const total = (name: string) => Number(valueAt(body, `data.totals.${name}`));
    expect(total("sent")).toBeGreaterThan(0);
    await expectSoon(
      () => figuresOf(page),
      [
        total("sent"),
        total("delivered"),
        total("opened"),
        total("clicked"),
        total("bounced") + total("complained"),
      ],
    );
    expect(listAt(body, "data.points").length).toBe(30);
    const zone = await page.evaluate("Intl.DateTimeFormat().resolvedOptions().timeZone");
    expect(stringAt(body, "data.timeZone")).toBe(String(zone));
    expect(problems).toEqual([]);
    await close();
  });

  pageTest("changes the range by keyboard, with its state in the URL", async () => {
    const { page, problems, close } = await openOverview();
    await chart(page).waitFor();
    await page.getByRole("radio", { name: "30 days" }).focus();
    const week = await statsOf(page, () => page.keyboard.press("ArrowLeft"));
    await expectSoon(() => params(page), { range: "7d" });
    expect(listAt(week, "data.points").length).toBe(7);
    const day = await statsOf(page, () => page.keyboard.press("ArrowLeft"));
    await expectSoon(() => params(page), { range: "24h" });
    expect(stringAt(day, "data.interval")).toBe("HOUR");
    expect(listAt(day, "data.points").length).toBe(24);
    await page.goBack();
    await expectSoon(() => params(page), { range: "7d" });
    await page.getByRole("button", { name: "Custom" }).press("Enter");
    await page.getByLabel("From", { exact: true }).fill("2026-01-01");
    await page.getByLabel("To", { exact: true }).fill("2026-01-10");
    const days = await statsOf(page, () => page.keyboard.press("Enter"));
    await expectSoon(() => params(page), { since: "2026-01-01", until: "2026-01-10" });
    expect(listAt(days, "data.points").length).toBe(10);
    expect(problems).toEqual([]);
    await close();
  });

  pageTest("shows the points as a table, without the series that are switched off", async () => {
    const opened = await openOverview("?range=7d");
    const { page } = opened;
    await chart(page).waitFor();
    await page.getByText("Show as table").click();
    const table = page.getByRole("region", { name: "as a table" });
    await table.waitFor();
    await expectSoon(() => table.locator("tbody tr").count(), 7);
    const columns = await table.locator("tbody tr td:nth-of-type(1)").allTextContents();
    const sum = columns.reduce((sum, text) => sum + Number(text.replaceAll(",", "")), 0);
    expect(sum).toBe((await figuresOf(page))[0] ?? NaN);
    await page.getByRole("button", { name: "Opened", exact: true }).click();
    await table.getByText("Opened").waitFor({ state: "detached" });
    await expectSoon(() => params(page), { range: "7d", view: "table", hide: "opened" });
    await expectNoFaults(opened, {
      name: "overview-table",
      layouts: ["light", "phone-dark"],
      isShown: () => table.locator("tbody tr").first().waitFor(),
    });
  });

  pageTest("one tooltip shows all series, and dragging narrows the range to days", async () => {
    const opened = await openOverview("?range=90d");
    const { page, problems, close } = opened;
    const over = page.locator(".chart-canvas .u-over");
    await over.waitFor();
    const box = await over.boundingBox();
    if (box === null) throw new Error("the chart has no size");
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width / 4, y);
    await page.locator(".chart-tip dd").first().waitFor();
    await expectSoon(() => page.locator(".chart-tip dd").count(), FIGURES.length);
    await opened.screenshot("overview-tooltip");
    expect(await opened.findings()).toEqual([]);
    const narrow = await statsOf(page, async () => {
      await page.mouse.down();
      await page.mouse.move(box.x + box.width / 2, y, { steps: 4 });
      await page.mouse.up();
    });
    expect(Object.keys(params(page))).toEqual(["since", "until"]);
    expect(listAt(narrow, "data.points").length).toBeWithin(15, 35);
    await page.goBack();
    await expectSoon(() => params(page), { range: "90d" });
    await page.locator(".chart-canvas").focus();
    await page.keyboard.press("ArrowLeft");
    await page.getByText("(so far)").waitFor();
    expect(problems).toEqual([]);
    await close();
  });

  pageTest("the chart follows the width of the window", async () => {
    const { page, problems, close } = await openOverview();
    await chart(page).waitFor();
    const widthOf = async () => (await chart(page).boundingBox())?.width ?? 0;
    const before = await widthOf();
    expect(before).toBeGreaterThan(500);
    await page.setViewportSize({ width: 900, height: 800 });
    await waitUntilRead(async () => (await widthOf()) < before - 100);
    expect(problems).toEqual([]);
    await close();
  });

  pageTest("a project without mails shows how to send the first one", async () => {
    const { page, problems, close } = await openOverview("", "light", empty);
    await page.getByRole("heading", { name: "Send a mail" }).waitFor();
    await expectSoon(() => page.locator(".figure-count").count(), 0);
    expect(problems).toEqual([]);
    await close();
  });

  pageTest(
    "a project without mails shows its steps, and samples with the domain of the project",
    async () => {
      const opened = await openOverview("", "light", empty);
      const { page } = opened;
      const steps = page.locator(".first-steps > li");
      await steps.nth(0).getByText("Not required here").waitFor();
      await steps.nth(1).getByText("Created", { exact: true }).waitFor();
      await opened.close();
      await empty.call("POST", "/domains", { domain: "pending.example" });
      await expectNoFaults(await openOverview("", "light", empty), {
        name: "overview-steps",
        async isShown(page) {
          await page.getByText("The DKIM record of pending.example was not found").waitFor();
          await page.getByText("hello@pending.example").waitFor();
        },
      });
      const emails = await openPage(`${empty.url}/app/p/${empty.project}/emails`, {
        cookie: empty.cookie,
      });
      await emails.page.getByText("hello@pending.example").waitFor();
      await emails.close();
      const again = await openOverview("", "light", empty);
      await again.page.getByRole("link", { name: "Open the domain" }).click();
      await again.page.getByRole("heading", { level: 1, name: "pending.example" }).waitFor();
      await again.close();
    },
  );

  pageTest("a refused period shows why, and the range can be changed", async () => {
    const { page, close } = await openOverview("?since=2020-01-01&until=2026-01-01");
    await page.getByText("731 days").waitFor();
    await page.getByText("7 days", { exact: true }).click();
    await chart(page).waitFor();
    await close();
  });
});
