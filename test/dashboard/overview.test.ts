/** The overview: its numbers, ranges, chart and table, and what needs attention. */

import { afterAll, beforeEach, describe, expect } from "bun:test";
import type { Page, Response } from "playwright-core";
import { hasChromium, LAYOUTS, type OpenedPage, openPage } from "../support/browser.ts";
import { expectSoon, waitUntilRead } from "../support/eventually.ts";
import { listAt, stringAt, valueAt } from "../support/json.ts";
import { sharedDemo } from "./demo-server.ts";
import { goTo } from "./go-to.ts";
import { pretendRelay } from "./relay.ts";
import { pageTest, beforePages } from "../support/page-test.ts";
import { type DashboardProject, newProject } from "../support/dashboard-server.ts";

type Site = { url: string; cookie: string; project: string };
let site: Site;
let empty: DashboardProject;
/** The tab in which the overview of the demonstration project is shown. */
let opened: OpenedPage;
let page: Page;
/** The first answer of GET /stats. */
let firstStats: Promise<Response>;

beforePages(async () => {
  const { url, project, cookies } = await sharedDemo();
  site = { url, project, cookie: cookies.OWNER };
  empty = await newProject();
  opened = await openPage(`${url}/app/p/${project}`, {
    cookie: cookies.OWNER,
    prepare: async (blank) => {
      firstStats = blank.waitForResponse(/\/stats\?/);
    },
  });
  ({ page } = opened);
});
beforeEach(() => {
  if (hasChromium) opened.problems.length = 0;
});
afterAll(async () => {
  if (hasChromium) await opened.close();
});

const open = (query = "") => goTo(page, `/p/${site.project}${query}`);

const FIGURES = ["sent", "delivered", "opened", "clicked", "bounced"];
const params = () => Object.fromEntries(new URL(page.url()).searchParams);
/** The figures as numbers; the browser of the tests writes 1,234. */
async function figures(): Promise<number[]> {
  const texts = await page.locator(".figure-count").allTextContents();
  return texts.map((text) => Number(text.replaceAll(",", "")));
}
const chart = () => page.locator(".chart-canvas canvas");

/** Runs a step and returns the body of the answer to GET /stats that it causes. */
async function statsOf(step: () => Promise<unknown>): Promise<unknown> {
  const [request] = await Promise.all([page.waitForRequest(/\/stats\?/), step()]);
  const body: unknown = await (await request.response())?.json();
  return body;
}

describe("the overview", () => {
  pageTest("shows the totals of the interface", async () => {
    const body: unknown = await (await firstStats).json();
    await chart().waitFor();
    const total = (name: string) => Number(valueAt(body, `data.totals.${name}`));
    expect(total("sent")).toBeGreaterThan(0);
    await expectSoon(
      () => figures(),
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
    expect(opened.problems).toEqual([]);
  });

  pageTest("changes the range by keyboard, with its state in the URL", async () => {
    await open();
    await chart().waitFor();
    await page.getByRole("radio", { name: "30 days" }).focus();
    const week = await statsOf(() => page.keyboard.press("ArrowLeft"));
    await expectSoon(() => params(), { range: "7d" });
    expect(listAt(week, "data.points").length).toBe(7);
    const day = await statsOf(() => page.keyboard.press("ArrowLeft"));
    await expectSoon(() => params(), { range: "24h" });
    expect(stringAt(day, "data.interval")).toBe("HOUR");
    expect(listAt(day, "data.points").length).toBe(24);
    await page.goBack();
    await expectSoon(() => params(), { range: "7d" });
    await page.getByRole("button", { name: "Custom" }).press("Enter");
    await page.getByLabel("From", { exact: true }).fill("2026-01-01");
    await page.getByLabel("To", { exact: true }).fill("2026-01-10");
    const days = await statsOf(() => page.keyboard.press("Enter"));
    await expectSoon(() => params(), { since: "2026-01-01", until: "2026-01-10" });
    expect(listAt(days, "data.points").length).toBe(10);
    expect(opened.problems).toEqual([]);
  });

  pageTest("a click on a figure draws it, and the table has the points of all", async () => {
    await open("?range=7d");
    await chart().waitFor();
    await page.getByText("Show as table").click();
    const table = page.getByRole("region", { name: "as a table" });
    await table.waitFor();
    await expectSoon(() => table.locator("tbody tr").count(), 7);
    const columns = await table.locator("tbody tr td:nth-of-type(1)").allTextContents();
    const sum = columns.reduce((sum, text) => sum + Number(text.replaceAll(",", "")), 0);
    expect(sum).toBe((await figures())[0] ?? NaN);
    await expectSoon(() => table.locator("thead th").count(), 1 + FIGURES.length);
    await page.getByText("Chart", { exact: true }).click();
    await page.getByText("Sent by day").waitFor();
    const opens = page.locator("[data-figure=opened]");
    await opens.press("Enter");
    await page.getByText("Opened by day").waitFor();
    await expectSoon(() => params(), { range: "7d", metric: "opened" });
    await expectSoon(() => opens.getAttribute("aria-pressed"), "true");
    // The rate is compared, because the number mostly tells how much was sent.
    await opens.getByText(/points, compared with [\d.]+% in the 7 days before$/).waitFor();
    expect(await opened.findings()).toEqual([]);
    await page.goBack();
    await page.getByText("Sent by day").waitFor();
    await expectSoon(() => params(), { range: "7d" });
  });

  pageTest("a tooltip shows the point, and dragging narrows the range to days", async () => {
    await open("?range=90d");
    const over = page.locator(".chart-canvas .u-over");
    await over.waitFor();
    // The chart of the range before is replaced.
    await page.getByText("compared with the 90 days before").waitFor();
    await page.locator('.overview-numbers[aria-busy="false"]').waitFor();
    const box = await over.boundingBox();
    if (box === null) throw new Error("the chart has no size");
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width / 4, y);
    await page.locator(".chart-tip dd").first().waitFor();
    await expectSoon(() => page.locator(".chart-tip dd").count(), 1);
    const narrow = await statsOf(async () => {
      await page.mouse.down();
      await page.mouse.move(box.x + box.width / 2, y, { steps: 4 });
      await page.mouse.up();
    });
    expect(Object.keys(params())).toEqual(["since", "until"]);
    expect(listAt(narrow, "data.points").length).toBeWithin(15, 35);
    await page.goBack();
    await expectSoon(() => params(), { range: "90d" });
    await page.locator(".chart-canvas").focus();
    await page.keyboard.press("ArrowLeft");
    await page.getByText("(so far)").waitFor();
    expect(opened.problems).toEqual([]);
  });

  pageTest("the chart follows the width of the window", async () => {
    await open();
    await chart().waitFor();
    const widthOf = async () => (await chart().boundingBox())?.width ?? 0;
    const before = await widthOf();
    expect(before).toBeGreaterThan(500);
    await page.setViewportSize({ width: 900, height: 800 });
    await waitUntilRead(async () => (await widthOf()) < before - 100);
    await page.setViewportSize(LAYOUTS.light.viewport);
    expect(opened.problems).toEqual([]);
  });

  pageTest(
    "with a relay, pages say that it reports no deliveries, and how it treats mail",
    async () => {
      const { cookie, project, url } = site;
      const first = await openPage(`${url}/app/p/${project}`, { cookie, prepare: pretendRelay });
      const delivered = first.page.locator("[data-figure=delivered]");
      await delivered.getByText("Your relay does not report deliveries").waitFor();
      await expectSoon(() => delivered.locator(".figure-count").allTextContents(), ["–"]);
      await first.page.getByRole("button", { name: /^Opened/ }).waitFor();
      expect(await first.page.getByRole("button", { name: /^Delivered/ }).count()).toBe(0);
      await goTo(first.page, `/p/${project}/campaigns`);
      await first.page.getByText("Newsletter October").click();
      await first.page.getByText("Your relay does not report deliveries").waitFor();
      await goTo(first.page, `/p/${project}/domains`);
      await first.page.locator("[data-row] a").first().click();
      await first.page.getByRole("heading", { name: "Your relay: Amazon SES" }).waitFor();
      await first.page.getByText("so it signs mail itself: set up Easy DKIM").waitFor();
      expect(first.problems).toEqual([]);
      await first.close();
    },
  );

  pageTest("a refused period shows why, and the range can be changed", async () => {
    await open("?since=2020-01-01&until=2026-01-01");
    await page.getByText("731 days").waitFor();
    await page.getByText("7 days", { exact: true }).click();
    await chart().waitFor();
  });

  pageTest(
    "a project without mails shows its steps, and samples with the domain of the project",
    async () => {
      const first = await openPage(`${empty.url}/app/p/${empty.project}`, { cookie: empty.cookie });
      await first.page.getByRole("heading", { name: "Send a mail" }).waitFor();
      const steps = first.page.locator(".first-steps > li");
      await steps.nth(0).getByText("Not required here").waitFor();
      await steps.nth(1).getByText("Created", { exact: true }).waitFor();
      await expectSoon(() => first.page.locator(".figure-count").count(), 0);
      await empty.call("POST", "/domains", { domain: "pending.example" });
      await first.page.reload();
      await first.page.getByText("The DKIM record of pending.example was not found").waitFor();
      await first.page.getByText("hello@pending.example").waitFor();
      await goTo(first.page, `/p/${empty.project}/emails`);
      await first.page.getByRole("heading", { level: 1, name: "Emails" }).waitFor();
      await first.page.getByText("hello@pending.example").waitFor();
      await first.page.goBack();
      await first.page.getByRole("link", { name: "Open the domain" }).click();
      await first.page.getByRole("heading", { level: 1, name: "pending.example" }).waitFor();
      expect(first.problems).toEqual([]);
      await first.close();
    },
  );
});
