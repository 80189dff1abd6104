/** The list of emails: filters by keyboard, new mails, and export. */

import { describe, expect } from "bun:test";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expectSoon } from "../support/eventually.ts";
import { openEmails, send, type Server } from "./email-server.ts";
import { expectNoFaults } from "./layouts.ts";
import { pageTest, beforePages } from "../support/page-test.ts";
import { newProject } from "../support/dashboard-server.ts";

let server: Server;

const MAILS = Array.from({ length: 30 }, (_, i) => ({
  to: i % 3 === 0 ? `ada${i}@acme.example` : `grace${i}@example.com`,
  subject: `Order ${1_000 + i}`,
  body: `<p>Thank you for order ${i}.</p>`,
}));

beforePages(async () => {
  server = await newProject();
  await send(server, MAILS);
});

const rows = (page: Page) => page.locator(".email-table [data-row]");
/** Waits until the link of the row with this recipient has the focus. */
const focused = (page: Page, to: string) =>
  page.locator("[data-primary]:focus", { hasText: to }).waitFor();
const params = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);

describe("the list of emails", () => {
  pageTest("every layout is accessible, quiet and fits the window", async () => {
    await expectNoFaults(await openEmails(server, "/emails"), {
      name: "emails",
      isShown: (page) => rows(page).first().waitFor(),
    });
  });

  pageTest("filters by keyboard, with its state in the URL", async () => {
    const { page, problems, close } = await openEmails(server, "/emails");
    await rows(page).first().waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("to:@acme.example");
    await page.keyboard.press("Enter");
    await page.getByText("10 emails").waitFor();
    await expectSoon(() => params(page), { to: "@acme.example" });
    await page.keyboard.type("1009");
    await page.keyboard.press("Enter");
    await page.getByText("1 email", { exact: true }).waitFor();
    await expectSoon(() => params(page), { to: "@acme.example", subject: "1009" });
    await page.keyboard.press("Backspace");
    await page.getByText("10 emails").waitFor();
    await page.goBack();
    await page.getByText("1 email", { exact: true }).waitFor();
    await page.goto(`${page.url()}&status=bounced`);
    await page.getByRole("button", { name: "Clear filters" }).click();
    await page.getByText("30 emails").waitFor();
    await expectSoon(() => params(page), {});
    expect(problems).toEqual([]);
    await close();
  });

  pageTest("limits the time range by a choice and by days", async () => {
    const { page, problems, close } = await openEmails(server, "/emails");
    await page.getByRole("button", { name: "All time" }).click();
    await page.getByRole("button", { name: "Last 7 days" }).click();
    await page.getByText("30 emails").waitFor();
    await expectSoon(() => params(page), { range: "7d" });
    await page.getByRole("button", { name: "Last 7 days" }).click();
    await page.getByLabel("To", { exact: true }).fill("2020-01-31");
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByRole("button", { name: "Clear filters" }).waitFor();
    await expectSoon(() => params(page), { until: "2020-01-31" });
    expect(problems).toEqual([]);
    await close();
  });

  pageTest(
    "opens, moves, selects and closes by keyboard, and returns the focus to the row",
    async () => {
      const { page, problems, close } = await openEmails(server, "/emails");
      await rows(page).first().waitFor();
      await page.keyboard.press("j");
      await page.keyboard.press("x");
      await page.getByText("1 selected").waitFor();
      await page.keyboard.press("j");
      await focused(page, "grace28@example.com");
      await page.keyboard.press("Enter");
      const drawer = page.getByRole("dialog");
      await drawer.getByRole("heading", { name: "Order 1028" }).waitFor();
      await page.keyboard.press("j");
      await drawer.getByRole("heading", { name: "Order 1027" }).waitFor();
      await page.keyboard.press("k");
      await page.keyboard.press("k");
      await drawer.getByRole("heading", { name: "Order 1029" }).waitFor();
      await page.keyboard.press("Escape");
      await drawer.waitFor({ state: "detached" });
      await expectSoon(() => params(page), {});
      await focused(page, "grace29@example.com");
      expect(problems).toEqual([]);
      await close();
    },
  );

  pageTest("keeps new mails behind a button until they are asked for", async () => {
    const path = "/emails?to=@live.example";
    const { page, problems, close } = await openEmails(server, path);
    const mail = (i: number) => ({ to: `n${i}@live.example`, subject: `New ${i}`, body: "<p>" });
    await page.getByText("No rows match").waitFor();
    await send(server, [mail(1)]);
    // An empty list shows the first mail at once.
    await page.getByText("New 1").waitFor();
    await send(server, [mail(2), mail(3)]);
    await page.getByRole("button", { name: "2 new" }).waitFor();
    await expectSoon(() => rows(page).count(), 1);
    await page.getByRole("button", { name: "2 new" }).click();
    await page.getByText("New 3").waitFor();
    await expectSoon(() => rows(page).count(), 3);
    expect(problems).toEqual([]);
    await close();
  });

  pageTest("saves exactly the filtered emails as CSV", async () => {
    const { page, problems, close } = await openEmails(server, "/emails?to=@acme.example");
    await page.getByText("10 emails").waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export CSV" }).click(),
    ]);
    const lines = readFileSync(await download.path(), "utf8")
      .trimEnd()
      .split("\r\n");
    expect(lines[0]).toStartWith("id,to,from,subject,status,source");
    expect(lines.slice(1).filter((line) => line.includes("@acme.example,"))).toHaveLength(10);
    expect(lines).toHaveLength(11);
    expect(problems).toEqual([]);
    await close();
  });
});
