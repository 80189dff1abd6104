/** The list of emails by keyboard and mouse, and an email in the drawer and as a page. */

import { describe, expect } from "bun:test";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { type DashboardProject, newProject } from "../support/dashboard-server.ts";
import { expectSoon } from "../support/eventually.ts";
import { stringAt } from "../support/json.ts";
import { beforePages, pageTest } from "../support/page-test.ts";
import { openEmails, send } from "./email-server.ts";

let server: DashboardProject;

const BODY = `<h1>Thank you</h1>
<p>Your order is on its way. <a href="http://shop.example/order">See the order</a></p>
<img src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=">`;

const MAILS = Array.from({ length: 12 }, (_, i) => ({
  to: i % 3 === 0 ? `ada${i}@acme.example` : `grace${i}@example.com`,
  subject: `Order ${1_000 + i}`,
  body: BODY,
}));

beforePages(async () => {
  server = await newProject();
  await send(server, MAILS);
});

/** The tabs with the content of an email, and a text that each of them shows. */
const CONTENT_TABS = [
  ["Preview", "Dark (simulated)"],
  ["Text", "Your order is on its way."],
  ["Source", "Content-Transfer-Encoding:"],
  ["Headers", "Message-ID"],
  ["Checks", "1 of 1 images have no alternative text."],
] as const;

const rows = (page: Page) => page.locator(".email-table [data-row]");
/** Waits until the link of the row with this recipient has the focus. */
const focused = (page: Page, to: string) =>
  page.locator("[data-primary]:focus", { hasText: to }).waitFor();
const params = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);

/** Types terms into the search, which has the focus. */
async function search(page: Page, terms: string): Promise<void> {
  await page.keyboard.type(terms);
  await page.keyboard.press("Enter");
}

async function openTab(page: Page, name: string, text: string): Promise<void> {
  await page.getByRole("link", { name, exact: true }).click();
  await page.getByText(text).first().waitFor();
}

describe("the list of emails", () => {
  pageTest(
    "shows how to send the first email, that one at once, and later ones when asked",
    async () => {
      const empty = await newProject();
      const { page, problems, close } = await openEmails(empty, "/emails");
      await page.getByText("No emails yet").waitFor();
      await page.getByRole("button", { name: "SMTP" }).click();
      await page.getByText(/Port +\d+/).waitFor();
      await send(empty, MAILS.slice(0, 1));
      await page.getByText("Order 1000").waitFor();
      await send(empty, MAILS.slice(1, 3));
      await page.getByRole("button", { name: "2 new" }).waitFor();
      await expectSoon(() => rows(page).count(), 1);
      await page.getByRole("button", { name: "2 new" }).click();
      await page.getByText("Order 1002").waitFor();
      await expectSoon(() => rows(page).count(), 3);
      expect(problems).toEqual([]);
      await close();
    },
  );

  pageTest(
    "filters by keyboard, with its state in the URL, and exports what it shows",
    async () => {
      const { page, problems, close } = await openEmails(server, "/emails");
      await rows(page).first().waitFor();
      await page.keyboard.press("/");
      await search(page, "to:@acme.example");
      await page.getByText("4 emails").waitFor();
      await expectSoon(() => params(page), { to: "@acme.example" });
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Export CSV" }).click(),
      ]);
      const lines = readFileSync(await download.path(), "utf8")
        .trimEnd()
        .split("\r\n");
      expect(lines[0]).toStartWith("\uFEFFid,to,from,subject,status,source");
      expect(lines.slice(1).filter((line) => line.includes("@acme.example,"))).toHaveLength(4);
      expect(lines).toHaveLength(5);

      await page.keyboard.press("/");
      await search(page, "1009");
      await page.getByText("1 email", { exact: true }).waitFor();
      await expectSoon(() => params(page), { to: "@acme.example", subject: "1009" });
      await page.keyboard.press("Backspace");
      await page.getByText("4 emails").waitFor();
      await page.goBack();
      await page.getByText("1 email", { exact: true }).waitFor();

      // The list cannot be read, and is read again when asked.
      const error = { code: "X", message: "The list is not available.", requestId: "r-1" };
      await page.route("**/emails?*", (route) =>
        route.fulfill({ status: 500, json: { success: false, error } }),
      );
      await search(page, "status:bounced");
      await page.getByText("The list is not available.").waitFor();
      await page.getByText("r-1").waitFor();
      await page.unroute("**/emails?*");
      await page.getByRole("button", { name: "Try again" }).click();
      await page.getByRole("button", { name: "Clear filters" }).click();
      await page.getByText("12 emails").waitFor();
      await expectSoon(() => params(page), {});

      await page.getByRole("button", { name: "All time" }).click();
      await page.getByRole("button", { name: "Last 7 days" }).click();
      await page.getByText("12 emails").waitFor();
      await expectSoon(() => params(page), { range: "7d" });
      await page.getByRole("button", { name: "Last 7 days" }).click();
      await page.getByLabel("To", { exact: true }).fill("2020-01-31");
      await page.getByRole("button", { name: "Apply" }).click();
      await page.getByRole("button", { name: "Clear filters" }).waitFor();
      await expectSoon(() => params(page), { until: "2020-01-31" });
      expect(problems.filter((text) => !text.includes("status of 500"))).toEqual([]);
      await close();
    },
  );

  pageTest(
    "opens, moves, selects and closes by keyboard, and returns the focus to the row",
    async () => {
      const { page, problems, close } = await openEmails(server, "/emails");
      await rows(page).first().waitFor();
      await page.keyboard.press("j");
      await page.keyboard.press("x");
      await page.getByText("1 selected").waitFor();
      await page.keyboard.press("j");
      await focused(page, "grace10@example.com");
      await page.keyboard.press("Enter");
      const drawer = page.getByRole("dialog");
      await drawer.getByRole("heading", { name: "Order 1010" }).waitFor();
      await page.keyboard.press("j");
      await drawer.getByRole("heading", { name: "Order 1009" }).waitFor();
      await page.keyboard.press("k");
      await drawer.getByRole("heading", { name: "Order 1010" }).waitFor();
      await page.keyboard.press("k");
      await drawer.getByRole("heading", { name: "Order 1011" }).waitFor();
      await page.keyboard.press("Escape");
      await drawer.waitFor({ state: "detached" });
      await expectSoon(() => params(page), {});
      await focused(page, "grace11@example.com");
      expect(problems).toEqual([]);
      await close();
    },
  );
});

describe("an email", () => {
  pageTest(
    "has a preview in other widths and colours, tabs, an address, and a record without its content",
    async () => {
      const [mail = ""] = await send(server, [
        { to: "linus@example.com", subject: "Order 2000", body: BODY },
      ]);
      const { page, problems, close } = await openEmails(server, `/emails?email=${mail}`);
      const body = page.frameLocator("iframe").locator("html");
      await body.waitFor();
      // The choices of the preview add nothing to the history.
      const entries = await page.evaluate("history.length");
      await page.getByText("Phone", { exact: true }).click();
      expect((await page.locator("iframe").boundingBox())?.width).toBe(375);
      await page.getByRole("switch", { name: "Dark (simulated)" }).press("Space");
      await page.frameLocator('iframe[src*="dark=true"]').getByText("Thank you").waitFor();
      expect(await body.evaluate("getComputedStyle(document.documentElement).filter")).toContain(
        "invert",
      );
      expect(await page.evaluate("history.length")).toBe(entries);

      for (const [name, text] of CONTENT_TABS) await openTab(page, name, text);
      await openTab(page, "Raw", "The bytes that were captured.");
      await openTab(page, "Transcript", "Attempt 1");
      await openTab(page, "Timeline", "Accepted and queued");
      await page.getByRole("link", { name: "Open as a page" }).click();
      await page.getByRole("heading", { level: 1, name: "Order 2000" }).waitFor();
      expect(new URL(page.url()).pathname).toEndWith(`/emails/${mail}`);

      // The content is removed with the contact. Loaded again, the page has the same tab.
      const { contactId } = await readEmail(mail);
      await server.call("DELETE", `/contacts/${contactId}`);
      await page.reload();
      await page.getByText("Accepted and queued").waitFor();
      for (const [name] of CONTENT_TABS) {
        await openTab(page, name, "The content is no longer stored");
      }
      await openTab(page, "Transcript", "Attempt 1");
      expect(problems.filter((text) => !text.includes("status of 404"))).toEqual([]);
      await close();
    },
  );
});

describe("a mail that has ended", () => {
  pageTest("is sent again after a question, and Esc closes one layer at a time", async () => {
    const [mail = ""] = await send(server, [
      { to: "linus@example.com", subject: "Order 3000", body: BODY },
    ]);
    const { page, problems, findings, close } = await openEmails(server, `/emails?email=${mail}`);
    const drawer = page.getByRole("dialog", { name: "Email" });
    const question = page.getByRole("dialog", { name: "Send this mail again?" });
    const again = drawer.getByRole("button", { name: "Send again" });
    await again.click();
    await question.getByText("linus@example.com").waitFor();
    await page.keyboard.press("Escape");
    await question.waitFor({ state: "detached" });
    await drawer.getByRole("heading", { name: "Order 3000" }).waitFor();
    expect(await findings()).toEqual([]);
    await again.click();
    await question.getByRole("button", { name: "Send the mail" }).click();
    await question.waitFor({ state: "detached" });
    await expectSoon(async () => {
      const { email = mail } = params(page);
      return email === mail
        ? ""
        : stringAt(await server.call("GET", `/emails/${email}`), "data.to");
    }, "linus@example.com");
    await drawer.getByRole("heading", { name: "Order 3000" }).waitFor();
    await page.keyboard.press("Escape");
    await drawer.waitFor({ state: "detached" });
    await page.getByRole("columnheader", { name: "Created" }).waitFor();
    expect(problems).toEqual([]);
    await close();
  });
});

async function readEmail(id: string): Promise<{ contactId: string }> {
  const answer = await server.call("GET", `/emails/${id}`);
  return { contactId: stringAt(answer, "data.contactId") };
}
