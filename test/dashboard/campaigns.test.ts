/**
 * The pages of campaigns in the demonstration project: the way from the overview to the list, to the
 * report of one, to its recipients and to a file of them; its actions and roles.
 */

import { afterAll, beforeEach, describe, expect } from "bun:test";
import { readFileSync } from "node:fs";
import type { Locator, Page } from "playwright-core";
import { hasChromium, type OpenedPage } from "../support/browser.ts";
import { openData } from "../support/dashboard-server.ts";
import { listAt, stringAt, valueAt } from "../support/json.ts";
import { expectSoon } from "../support/eventually.ts";
import { type DemoServer, sharedDemo } from "./demo-server.ts";
import { goTo } from "./go-to.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

let server: DemoServer;
/** The tab of an editor, in which all pages are shown. It begins with the overview. */
let opened: OpenedPage;
let page: Page;
/** The paths of the requests of the overview. */
let firstRequests: string[] = [];
/** Ids of campaigns by their status. */
let ids: Record<"SENT" | "SENDING" | "PAUSED" | "SCHEDULED", string>;

beforePages(async () => {
  server = await sharedDemo();
  const idOf = async (status: string, name = "") => {
    const filter = name === "" ? "" : `&name=${encodeURIComponent(name)}`;
    const [first] = await server.items(`/campaigns/summaries?status=${status}${filter}&limit=1`);
    return stringAt(first, "id");
  };
  ids = {
    SENT: await idOf("SENT", NAME),
    SENDING: await idOf("SENDING"),
    PAUSED: await idOf("PAUSED"),
    SCHEDULED: await idOf("SCHEDULED"),
  };
  opened = await server.open("", {
    prepare: async (blank) => {
      blank.on("request", (request) => firstRequests.push(new URL(request.url()).pathname));
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

const NAME = "Newsletter October";
const open = (path: string) => goTo(page, `/p/${server.project}/campaigns${path}`);
const heading = (name: string) => page.getByRole("heading", { level: 1, name });

const statusOf = async (id: string) =>
  stringAt((await server.call("GET", `/campaigns/${id}`)).body, "data.status");
const statsOf = async (id: string) =>
  valueAt((await server.call("GET", `/campaigns/${id}/stats`)).body, "data");
const number = new Intl.NumberFormat("en-US");
const params = () => Object.fromEntries(new URL(page.url()).searchParams);

/** Expects the figures of a report to be those of the campaign in the address. */
async function expectNumbers(): Promise<void> {
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
  pageTest(
    "the overview shows running and paused campaigns from their summaries alone",
    async () => {
      const [running] = await server.items("/campaigns/summaries?status=SENDING&limit=1");
      const region = page.getByRole("region", { name: "Running campaigns" });
      await region.getByRole("link", { name: stringAt(running, "name") }).waitFor();
      const total = number.format(Number(valueAt(running, "totalRecipients")));
      await region.getByText(new RegExp(`of ${total} `)).waitFor();
      const [paused] = await server.items("/campaigns/summaries?status=PAUSED&limit=1");
      await page.getByText(`Campaign ${stringAt(paused, "name")} is paused`).waitFor();
      const asked = firstRequests.filter((path) => path.startsWith("/campaigns"));
      expect(new Set(asked)).toEqual(new Set(["/campaigns/summaries"]));
      expect(opened.problems).toEqual([]);
    },
  );

  pageTest(
    "by keyboard: a sent campaign is found, and its report has the numbers of the server",
    async () => {
      await page.getByRole("link", { name: "Campaigns", exact: true }).press("Enter");
      await page.getByRole("link", { name: NAME }).waitFor();
      await page.keyboard.press("/");
      await page.keyboard.type("newsletter october status:sent");
      await page.keyboard.press("Enter");
      await page.getByText("1 campaign", { exact: true }).waitFor();
      await expectSoon(() => params(), { q: "newsletter october", status: "sent" });
      await page.keyboard.press("Escape");
      await page.getByRole("link", { name: NAME }).press("Enter");
      await heading(NAME).waitFor();
      await expectNumbers();
      expect(opened.problems).toEqual([]);
    },
  );

  pageTest(
    "a campaign is compared with the five that were sent before it, and the first with none",
    async () => {
      const name = encodeURIComponent(NAME);
      const [own] = await server.items(`/campaigns/summaries?status=SENT&name=${name}&limit=1`);
      const before = `/campaigns/summaries?status=SENT&before=${ids.SENT}&limit=5`;
      const earlier = await server.items(before);
      expect(earlier.length).toBe(5);
      await open(`/${ids.SENT}`);
      const table = page.getByRole("region", { name: "Rates of the campaigns" });
      await table.locator("tbody tr").nth(6).waitFor();
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
      await table.getByRole("link").first().click();
      await heading(NAME).waitFor({ state: "detached" });
      await expectNumbers();
      const all = await server.items("/campaigns/summaries?status=SENT&limit=100");
      await open(`/${stringAt(all.at(-1), "id")}`);
      await page.getByText("No campaign was sent before this one.").waitFor();
      expect(opened.problems).toEqual([]);
    },
  );

  pageTest(
    "by mouse: the figures lead to the bounces with their reasons, and a link to its clicks as CSV",
    async () => {
      await open(`/${ids.SENT}`);
      const stats = await statsOf(ids.SENT);
      const [link] = listAt(stats, "links");
      const url = stringAt(link, "url");
      const table = page.getByRole("region", { name: "Recipients" });
      const rowCount = async () =>
        Number(await table.locator("table").getAttribute("aria-rowcount")) - 1;

      const bounced = Number(valueAt(stats, "bounced"));
      const figure = page
        .getByRole("region", { name: "Numbers" })
        .locator(".figure", { hasText: "Bounced" });
      await figure.getByRole("link").click();
      await expectSoon(rowCount, bounced);
      await expectSoon(() => params(), { tab: "recipients", show: "bounced" });
      // The meaning stands before the reply of the server.
      await table
        .getByText(/\S 5\d\d[ -]/)
        .first()
        .waitFor();
      await table.locator("tbody tr[data-row]").first().getByRole("link").click();
      await page.locator(".outcome").waitFor();
      await page.goBack();
      await expectSoon(rowCount, bounced);
      await page.getByRole("button", { name: /^Clicked/ }).click();
      await expectSoon(rowCount, Number(valueAt(stats, "clicked")));

      await page.getByRole("link", { name: "Report", exact: true }).click();
      const links = page.getByRole("region", { name: "Links with their clicks" });
      await links.getByRole("link").first().click();
      const clicked = Number(valueAt(link, "uniqueClicks"));
      expect(clicked).toBeGreaterThan(0);
      await expectSoon(() => params(), { tab: "recipients", show: "clicked", link: url });
      await expectSoon(rowCount, clicked);
      const saved = page.waitForEvent("download");
      await page.getByRole("button", { name: "Export CSV" }).click();
      const file = await (await saved).path();
      const [head = "", ...lines] = readFileSync(file, "utf8").trim().split("\r\n");
      expect(head).toStartWith("email,");
      expect(lines.length).toBe(clicked);
      expect(lines.filter((line) => !line.includes(url))).toEqual([]);
      const shown = await table.locator("tbody tr[data-row] a").allTextContents();
      expect(lines.map((line) => line.split(",")[0])).toEqual(expect.arrayContaining(shown));
      await page.getByRole("button", { name: "Remove the filter of the link" }).click();
      await expectSoon(() => params(), { tab: "recipients", show: "clicked" });
      expect(opened.problems).toEqual([]);
    },
  );

  pageTest("the chart shows the chosen part of the time, also as a table", async () => {
    await open(`/${ids.SENT}?view=table`);
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
    const box = await over.boundingBox();
    if (box === null) throw new Error("the chart has no size");
    await page.mouse.move(box.x + 5, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 4, box.y + 20, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL(/since=/);
    expect(Object.keys(params()).toSorted()).toEqual(["since", "until"]);
    expect(opened.problems).toEqual([]);
  });

  pageTest("a campaign is paused with undo; a viewer follows and may change nothing", async () => {
    // The tab of another user has a window of its own, so both are painted.
    const viewed = await server.open("/campaigns?status=paused", { role: "VIEWER" });
    await viewed.page.getByText("1 campaign", { exact: true }).waitFor();
    await open(`/${ids.SENDING}`);
    await page.getByRole("progressbar", { name: "Mails that are done" }).waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByText("Somebody paused this campaign").waitFor();
    await viewed.page.getByText("2 campaigns", { exact: true }).waitFor();
    await expectSoon(() => statusOf(ids.SENDING), "PAUSED");
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("button", { name: "Pause" }).waitFor();
    await viewed.page.getByText("1 campaign", { exact: true }).waitFor();
    await expectSoon(() => statusOf(ids.SENDING), "SENDING");
    await goTo(viewed.page, `/p/${server.project}/campaigns/${ids.SENDING}`);
    await viewed.page.getByRole("progressbar", { name: "Mails that are done" }).waitFor();
    await expectSoon(() => viewed.page.locator(".page-actions button").count(), 0);
    expect([...opened.problems, ...viewed.problems]).toEqual([]);
    await viewed.close();
  });

  pageTest("a scheduled campaign goes back to a draft, and Undo restores its time", async () => {
    await open(`/${ids.SCHEDULED}`);
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
    expect(opened.problems).toEqual([]);
  });

  pageTest("an automatic pause says why; resuming and cancelling ask first", async () => {
    using db = openData(server);
    const stored = db
      .query<[string, string, number | null], [string]>(
        "SELECT status, status_reason, finished_at FROM campaigns WHERE id = ?",
      )
      .values(ids.PAUSED)[0];
    await open(`/${ids.PAUSED}`);
    await page.getByText(/^Paused: \d+\.\d% of the mails bounced, more than 10\.0%$/).waitFor();
    // The cause is looked at before anything is sent.
    const actions = page.locator(".page-actions .mantine-Button-root");
    await expectSoon(
      () => actions.allInnerTexts(),
      ["Show the bounces", "Resume", "Cancel campaign"],
    );
    await actions.first().click();
    await expectSoon(() => params(), { tab: "recipients", show: "bounced" });
    await page.goBack();
    await page.getByRole("button", { name: "Resume" }).click();
    const question = page.getByRole("dialog", { name: /^Resume / });
    await question.waitFor();
    await expectSoon(() => statusOf(ids.PAUSED), "PAUSED");
    await question.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Cancel campaign" }).click();
    const cancellation = page.getByRole("dialog", { name: /^Cancel / });
    await cancellation.getByRole("button", { name: "Keep the campaign" }).waitFor();
    await cancellation.getByRole("button", { name: "Cancel the campaign" }).click();
    await page.getByText("This campaign was cancelled").waitFor();
    await expectSoon(() => statusOf(ids.PAUSED), "CANCELLED");
    for (const name of ["Resume", "Pause", "Cancel campaign"]) {
      await expectSoon(() => page.getByRole("button", { name, exact: true }).count(), 0);
    }
    // The interface cannot undo this, and other files use the same project.
    const restore =
      "UPDATE campaigns SET status = ?, status_reason = ?, finished_at = ? WHERE id = ?";
    db.run(restore, [...(stored ?? []), ids.PAUSED]);
    expect(opened.problems).toEqual([]);
  });
});
