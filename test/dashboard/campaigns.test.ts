/** The pages of campaigns: the list, the report of one, its recipients, its actions and roles. */

import { describe, expect } from "bun:test";
import { readFileSync } from "node:fs";
import type { Locator, Page } from "playwright-core";
import { listAt, stringAt, valueAt } from "../support/json.ts";
import { expectSoon } from "../support/eventually.ts";
import { type DemoServer, sharedDemo } from "./demo-server.ts";
import { expectNoFaults } from "./layouts.ts";
import { failingList } from "./people.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

let server: DemoServer;
/** Ids of campaigns by their status. */
let ids: Record<"SENT" | "SENDING" | "PAUSED" | "SCHEDULED" | "DRAFT", string>;

beforePages(async () => {
  server = await sharedDemo();
  const idOf = async (status: string, name = "") => {
    const filter = name === "" ? "" : `&name=${encodeURIComponent(name)}`;
    const [first] = await server.items(`/campaigns/summaries?status=${status}${filter}&limit=1`);
    return stringAt(first, "id");
  };
  ids = {
    SENT: await idOf("SENT", "Newsletter October"),
    SENDING: await idOf("SENDING"),
    PAUSED: await idOf("PAUSED"),
    SCHEDULED: await idOf("SCHEDULED"),
    DRAFT: await idOf("DRAFT"),
  };
});

const statusOf = async (id: string) =>
  stringAt((await server.call("GET", `/campaigns/${id}`)).body, "data.status");
const statsOf = async (id: string) =>
  valueAt((await server.call("GET", `/campaigns/${id}/stats`)).body, "data");
const number = new Intl.NumberFormat("en-US");
const params = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);

/** Expects the figures of a report to be those of the campaign in the address. */
async function expectNumbers(page: Page): Promise<void> {
  const stats = await statsOf(new URL(page.url()).pathname.split("/").at(-1) ?? "");
  const figures = page.getByRole("region", { name: "Numbers" }).locator(".figure-count");
  await figures.first().waitFor();
  await expectSoon(
    () => figures.allTextContents(),
    ["sent", "delivered", "opened", "clicked", "bounced", "complained", "unsubscribed"].map(
      (name) => number.format(Number(valueAt(stats, name))),
    ),
  );
}

/** The rates of a campaign in the order of the table. */
function ratesOf(summary: unknown): number[] {
  const count = (name: string) => Number(valueAt(summary, name));
  const share = (part: number, total: number) => (total === 0 ? 0 : part / total);
  const sent = count("sent");
  const left = sent + count("bounced") - count("bouncedLater");
  return [
    share(count("delivered"), sent),
    share(count("opened"), sent),
    share(count("clicked"), sent),
    share(count("bounced"), left),
    share(count("unsubscribed"), sent),
  ];
}
const percents = new Intl.NumberFormat("en-US", { style: "percent", maximumFractionDigits: 1 });
const rateTexts = (summary: unknown) => ratesOf(summary).map((rate) => percents.format(rate));
const pointsText = (points: number) =>
  points === 0 ? "The same" : `${points > 0 ? "+" : ""}${points} points`;
/** The texts of the last five cells of a row. */
const rowTexts = async (row: Locator) => (await row.locator("td").allTextContents()).slice(-5);

describe("the pages of campaigns", () => {
  pageTest("every layout is accessible, quiet and fits the window", async () => {
    for (const [name, path, ready] of [
      ["campaigns", "/campaigns", "text=Newsletter October"],
      ["campaign", `/campaigns/${ids.SENT}`, "text=Beside earlier campaigns"],
      ["campaign-paused", `/campaigns/${ids.PAUSED}`, "text=Show the bounces"],
      ["campaign-recipients", `/campaigns/${ids.SENT}?tab=recipients`, ".table-primary"],
    ] as const) {
      await expectNoFaults(await server.open(path), {
        name,
        isShown: (page) => page.locator(ready).first().waitFor(),
      });
    }
  });

  pageTest(
    "by keyboard: a sent campaign is found in the list, and its report has the numbers of the server",
    async () => {
      const opened = await server.open("/campaigns");
      const { page, problems } = opened;
      await page.getByRole("link", { name: "Newsletter October" }).waitFor();
      await page.keyboard.press("/");
      await page.keyboard.type("newsletter october status:sent");
      await page.keyboard.press("Enter");
      await page.getByText("1 campaign", { exact: true }).waitFor();
      await expectSoon(() => params(page), { q: "newsletter october", status: "sent" });
      await page.keyboard.press("Escape");
      await page.getByRole("link", { name: "Newsletter October" }).press("Enter");
      await page.getByRole("heading", { level: 1, name: "Newsletter October" }).waitFor();
      await expectNumbers(page);
      await page
        .getByRole("region", { name: "Rates of the campaigns" })
        .getByRole("link")
        .first()
        .click();
      await page
        .getByRole("heading", { level: 1, name: "Newsletter October" })
        .waitFor({ state: "detached" });
      await expectNumbers(page);
      expect(problems).toEqual([]);
      await opened.close();
    },
  );

  pageTest(
    "the overview shows running and paused campaigns from their summaries alone",
    async () => {
      const requests: string[] = [];
      const opened = await server.open("", {
        prepare: async (page) => {
          page.on("request", (request) => requests.push(new URL(request.url()).pathname));
        },
      });
      const { page, problems } = opened;
      const [running] = await server.items("/campaigns/summaries?status=SENDING&limit=1");
      const region = page.getByRole("region", { name: "Running campaigns" });
      await region.getByRole("link", { name: stringAt(running, "name") }).waitFor();
      const total = number.format(Number(valueAt(running, "totalRecipients")));
      await region.getByText(new RegExp(`of ${total} `)).waitFor();
      const [paused] = await server.items("/campaigns/summaries?status=PAUSED&limit=1");
      await page.getByText(`Campaign ${stringAt(paused, "name")} is paused`).waitFor();
      expect(requests.filter((path) => path.startsWith("/campaigns"))).not.toBeEmpty();
      expect(new Set(requests.filter((path) => path.startsWith("/campaigns")))).toEqual(
        new Set(["/campaigns/summaries"]),
      );
      expect(problems).toEqual([]);
      await opened.close();
    },
  );

  pageTest(
    "a campaign is compared with the five that were sent before it, and the first with none",
    async () => {
      const [own] = await server.items(
        `/campaigns/summaries?status=SENT&name=${encodeURIComponent("Newsletter October")}&limit=1`,
      );
      const earlier = await server.items(
        `/campaigns/summaries?status=SENT&before=${ids.SENT}&limit=5`,
      );
      expect(earlier.length).toBe(5);
      const opened = await server.open(`/campaigns/${ids.SENT}`);
      const { page, problems } = opened;
      const table = page.getByRole("region", { name: "Rates of the campaigns" });
      await table.locator("tbody tr").nth(6).waitFor();
      expect(await table.locator("thead th").allTextContents()).toEqual([
        "Campaign",
        "Date",
        "Sent",
        "Delivered",
        "Opened",
        "Clicked",
        "Bounced",
        "Unsubscribed",
      ]);
      expect(await rowTexts(table.locator("tbody tr").nth(0))).toEqual(rateTexts(own));
      expect(await rowTexts(table.locator("tbody tr").nth(2))).toEqual(rateTexts(earlier[0]));
      expect(await rowTexts(table.locator("tbody tr").nth(6))).toEqual(rateTexts(earlier[4]));
      expect(await rowTexts(table.locator("tbody tr").nth(1))).toEqual(
        ratesOf(own).map((rate, i) => {
          const mean =
            earlier.reduce<number>((sum, other) => sum + (ratesOf(other)[i] ?? 0), 0) / 5;
          return pointsText(Math.round((rate - mean) * 1000) / 10);
        }),
      );
      const all = await server.items("/campaigns/summaries?status=SENT&limit=100");
      await page.goto(page.url().replace(ids.SENT, stringAt(all.at(-1), "id")));
      await page.getByText("No campaign was sent before this one.").waitFor();
      expect(problems).toEqual([]);
      await opened.close();
    },
  );

  pageTest(
    "by mouse: a link leads to those who clicked it, and the recipients are saved as CSV",
    async () => {
      const opened = await server.open(`/campaigns/${ids.SENT}`);
      const { page, problems } = opened;
      const [link] = listAt(await statsOf(ids.SENT), "links");
      const url = stringAt(link, "url");
      const clicked = Number(valueAt(link, "uniqueClicks"));
      await page
        .getByRole("region", { name: "Links with their clicks" })
        .getByRole("link")
        .first()
        .click();
      const table = page.getByRole("region", { name: "Recipients" });
      await table.locator("tbody tr[data-row]").first().waitFor();
      await expectSoon(() => params(page), { tab: "recipients", show: "clicked", link: url });
      await expectSoon(
        () => table.locator("table").getAttribute("aria-rowcount"),
        String(clicked + 1),
      );
      const saved = page.waitForEvent("download");
      await page.getByRole("button", { name: "Export CSV" }).click();
      const lines = readFileSync((await (await saved).path()) ?? "", "utf8")
        .trim()
        .split("\r\n");
      expect(lines.length).toBe(clicked + 1);
      expect(lines.slice(1).filter((line) => !line.includes(url))).toEqual([]);
      await page.getByRole("button", { name: "Remove the filter of the link" }).click();
      await page.getByRole("button", { name: /^Bounced/ }).click();
      await table
        .getByText(/The mailbox|The server|Neither SPF/)
        .first()
        .waitFor();
      await expectSoon(() => params(page), { tab: "recipients", show: "bounced" });
      expect(problems).toEqual([]);
      await opened.close();
    },
  );

  pageTest("the chart shows the chosen part of the time, also as a table", async () => {
    const opened = await server.open(`/campaigns/${ids.SENT}?view=table`);
    const { page, problems } = opened;
    const table = page.getByRole("region", { name: "as a table" });
    await table.waitFor();
    await expectSoon(() => table.locator("tbody tr").count(), 48);
    await page.getByText("All", { exact: true }).click();
    await page.waitForURL(/range=all/);
    const stats = await statsOf(ids.SENT);
    const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
    for (const [i, [list, key]] of [
      ["sentByHour", "sent"],
      ["timeline", "opens"],
      ["timeline", "clicks"],
    ].entries()) {
      const counted = listAt(stats, list ?? "").map((entry) => Number(valueAt(entry, key ?? "")));
      await expectSoon(async () => {
        const cells = await table.locator(`tbody tr td:nth-of-type(${i + 1})`).allTextContents();
        return sum(cells.map((text) => Number(text.replaceAll(",", ""))));
      }, sum(counted));
    }
    await page.getByText("Chart", { exact: true }).click();
    const over = page.locator(".chart-canvas .u-over");
    await over.waitFor();
    await opened.screenshot("campaign-chart");
    const box = await over.boundingBox();
    if (box === null) throw new Error("the chart has no size");
    await page.mouse.move(box.x + 5, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 4, box.y + 20, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL(/since=/);
    expect(Object.keys(params(page)).toSorted()).toEqual(["since", "until"]);
    expect(problems).toEqual([]);
    await opened.close();
  });

  pageTest("a campaign is paused with undo, and every open page follows", async () => {
    const [first, second] = await Promise.all([
      server.open(`/campaigns/${ids.SENDING}`),
      server.open(`/campaigns?status=paused`),
    ]);
    await second.page.getByText("1 campaign", { exact: true }).waitFor();
    await first.page.getByRole("progressbar", { name: "Mails that are done" }).waitFor();
    await first.page.getByRole("button", { name: "Pause" }).click();
    await first.page.getByText("Somebody paused this campaign").waitFor();
    await second.page.getByText("2 campaigns", { exact: true }).waitFor();
    await expectSoon(() => statusOf(ids.SENDING), "PAUSED");
    await first.page.getByRole("button", { name: "Undo" }).click();
    await first.page.getByRole("button", { name: "Pause" }).waitFor();
    await second.page.getByText("1 campaign", { exact: true }).waitFor();
    await expectSoon(() => statusOf(ids.SENDING), "SENDING");
    expect([...first.problems, ...second.problems]).toEqual([]);
    await Promise.all([first.close(), second.close()]);
  });

  pageTest("a scheduled campaign goes back to a draft, and Undo restores its time", async () => {
    const opened = await server.open(`/campaigns/${ids.SCHEDULED}`);
    const { page, problems } = opened;
    const time = async () =>
      valueAt((await server.call("GET", `/campaigns/${ids.SCHEDULED}`)).body, "data.scheduledAt");
    const before = await time();
    await page.getByText("Will get it").waitFor();
    await page.getByRole("button", { name: "Back to draft" }).press("Enter");
    await page.getByText("Draft", { exact: true }).waitFor();
    expect([await statusOf(ids.SCHEDULED), await time()]).toEqual(["DRAFT", null]);
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("button", { name: "Back to draft" }).waitFor();
    expect([await statusOf(ids.SCHEDULED), await time()]).toEqual(["SCHEDULED", before]);
    expect(problems).toEqual([]);
    await opened.close();
  });

  pageTest("an automatic pause says why; resuming and cancelling ask first", async () => {
    const opened = await server.open(`/campaigns/${ids.PAUSED}`);
    const { page, problems } = opened;
    await page.getByText(/^Paused: \d+\.\d% of the mails bounced, more than 10\.0%$/).waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    const question = page.getByRole("dialog", { name: /^Resume / });
    await question.waitFor();
    await expectSoon(() => statusOf(ids.PAUSED), "PAUSED");
    expect(await opened.findings()).toEqual([]);
    await question.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Cancel campaign" }).click();
    await page
      .getByRole("dialog", { name: /^Cancel / })
      .getByRole("button", { name: "Cancel the campaign" })
      .click();
    await page.getByText("This campaign was cancelled").waitFor();
    await expectSoon(() => statusOf(ids.PAUSED), "CANCELLED");
    for (const name of ["Resume", "Pause", "Cancel campaign"]) {
      await expectSoon(() => page.getByRole("button", { name, exact: true }).count(), 0);
    }
    expect(problems).toEqual([]);
    await opened.close();
  });

  pageTest("viewers read everything and change nothing", async () => {
    const opened = await server.open(`/campaigns/${ids.SENDING}`, { role: "VIEWER" });
    const { page, problems } = opened;
    await page.getByRole("progressbar", { name: "Mails that are done" }).waitFor();
    await expectSoon(() => page.locator(".page-actions button").count(), 0);
    expect(problems).toEqual([]);
    await opened.close();
    for (const action of ["pause", "resume", "cancel", "unschedule"]) {
      const { status } = await server.call("POST", `/campaigns/${ids.SENDING}/${action}`, {
        role: "VIEWER",
      });
      expect([action, status]).toEqual([action, 403]);
    }
  });

  pageTest(
    "shows a list and a report that cannot be read, and a campaign that does not exist",
    async () => {
      const broken = await server.open("/campaigns", {
        prepare: failingList("/campaigns/summaries"),
      });
      await broken.page.getByText("The list is not available.").waitFor();
      await broken.page.unroute("**/campaigns/summaries?*");
      await broken.page.getByRole("button", { name: "Try again" }).click();
      await broken.page.getByRole("link", { name: "Newsletter October" }).waitFor();
      await broken.close();
      const missing = await server.open("/campaigns/nothing");
      await missing.page.getByRole("alert").first().waitFor();
      await missing.page.getByRole("link", { name: "Campaigns" }).first().click();
      await missing.page.getByRole("heading", { level: 1, name: "Campaigns" }).waitFor();
      await missing.page.getByRole("textbox").first().fill("no such campaign");
      await missing.page.keyboard.press("Enter");
      await missing.page.getByRole("button", { name: "Clear filters" }).click();
      await missing.page.getByRole("link", { name: "Newsletter October" }).waitFor();
      await missing.close();
    },
  );
});
