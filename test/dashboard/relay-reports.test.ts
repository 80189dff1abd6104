/** The pages of relay reports: a provider is added, reports, is refused and is deleted; other roles. */

import { describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { LAYOUT_NAMES, NO_FAULTS, type OpenedPage, faultsOf } from "../support/browser.ts";
import { expectSoon } from "../support/eventually.ts";
import { stringAt } from "../support/json.ts";
import { deliver, imapServer } from "../support/mailbox-servers.ts";
import { openAs, type PeopledProject, statusOf, newProjectWithPeople } from "./people.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

let server: PeopledProject;

beforePages(async () => {
  server = await newProjectWithPeople();
});

const rows = (page: Page) => page.locator("[data-row]");
const dialog = (page: Page, name: string) => page.getByRole("dialog", { name });
const press = (page: Page, name: string) => page.getByRole("button", { name }).click();
const drawer = (page: Page) => dialog(page, "Source");

const WRONG_ORIGIN_URL = "https://mail.example.com/v1/relay-reports/rr_another";
const SVIX_SECRET = `whsec_${Buffer.from("a secret of 24 octets...").toString("base64")}`;

/** A delivery of Postmark of a mail that the project did not send. */
const DELIVERY = {
  RecordType: "Delivery",
  ServerID: 23,
  MessageStream: "outbound",
  MessageID: "883953f4-6105-42a2-a16a-77a8eac79483",
  Metadata: { "mailstead-id": "0198a2b4-0000-7000-8000-000000000000" },
  Recipient: "ada@acme.example",
  DeliveredAt: "2026-03-02T10:00:00Z",
  Details: "250 ok",
};

async function report(url: string): Promise<number> {
  const headers = { "content-type": "application/json" };
  return (await fetch(url, { method: "POST", headers, body: JSON.stringify(DELIVERY) })).status;
}

/** The problems without the refusal of a faulty field, which the browser logs. */
const unexpected = (problems: readonly string[]) =>
  problems.filter((problem) => !problem.includes("status of 422"));

/** Checks what is shown in each layout. */
async function checkLayouts(opened: OpenedPage, name: string): Promise<void> {
  for (const layout of LAYOUT_NAMES) {
    await opened.setLayout(layout);
    const faults = await faultsOf(opened);
    await opened.screenshot(name);
    expect([layout, { ...faults, problems: unexpected(faults.problems) }]).toEqual([
      layout,
      NO_FAULTS,
    ]);
  }
  await opened.setLayout("light");
}

/** By keyboard, a provider with a key is added. The URL is shown once, copied and tested. */
async function addResend(opened: OpenedPage): Promise<string> {
  const { page } = opened;
  await page.keyboard.press("c");
  const form = dialog(page, "Add a relay provider");
  await form.getByRole("combobox", { name: "Provider" }).click();
  await page.getByRole("option", { name: "Resend" }).click();
  await form.getByLabel("Name").fill("Order mails");
  await page.keyboard.press("Enter");
  const shown = dialog(page, "Enter this URL at the provider");
  const url = await shown.getByLabel("The new URL").inputValue();
  expect(url).toMatch(/\/v1\/relay-reports\/rr_\w{43}$/);
  await shown.getByText("Webhooks → Add webhook").waitFor();
  // Before it was copied, only the button closes the dialog.
  await page.keyboard.press("Escape");
  await press(page, "Copy the URL");
  await page.getByRole("button", { name: "Copied" }).waitFor();
  await expectSoon(() => page.evaluate("navigator.clipboard.readText()"), url);

  await shown.getByLabel("Signing secret").fill("secret");
  await page.keyboard.press("Enter");
  await page.getByText("This must be a signing secret such as whsec_….").waitFor();
  await shown.getByLabel("Signing secret").and(page.locator(":focus")).waitFor();
  await checkLayouts(opened, "relay-reports-new");
  await shown.getByLabel("Signing secret").fill(SVIX_SECRET);
  await press(page, "Set the secret");
  await shown.getByText("The next report is checked with it.").waitFor();
  await shown.getByRole("button", { name: "Replace the secret" }).waitFor();
  await press(page, "Test the URL");
  await shown.getByText("The URL leads to this source.").waitFor();
  await press(page, "I have it");
  await shown.waitFor({ state: "detached" });
  return url;
}

describe("the page of relay reports", () => {
  pageTest(
    "a provider is added, its URL is tested, and it is deleted after a question",
    async () => {
      const opened = await openAs(server, "/relay-reports");
      const { page, problems } = opened;
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await page.getByText("No relay reports yet").waitFor();
      await checkLayouts(opened, "relay-reports-empty");
      const url = await addResend(opened);
      const row = rows(page).filter({ hasText: "Order mails" });
      await row.getByText("No report yet").waitFor();

      await row.getByRole("link").click();
      await drawer(page).getByText("Webhooks → Add webhook").waitFor();
      expect(new URL(page.url()).searchParams.get("source")).toMatch(/^[0-9a-f-]{36}$/);
      await drawer(page).getByLabel("URL").fill(WRONG_ORIGIN_URL);
      await press(page, "Test the URL");
      await drawer(page).getByText("This must be the URL of this source.").waitFor();
      await drawer(page).getByLabel("URL").fill(url);
      await page.keyboard.press("Enter");
      await drawer(page).getByText("The URL leads to this source.").waitFor();
      await drawer(page)
        .getByText("This must be the URL of this source.")
        .waitFor({ state: "detached" });

      // A report without a signature is refused, and the page says why.
      expect(await report(url)).toBe(401);
      await page.reload();
      await drawer(page).getByText("Last one refused").waitFor();
      await checkLayouts(opened, "relay-reports-refused");

      await press(page, "Delete the source");
      const question = dialog(page, "Delete Order mails?");
      await question.getByRole("button", { name: "Cancel" }).click();
      await question.waitFor({ state: "detached" });
      await press(page, "Delete the source");
      await question.getByRole("button", { name: "Delete the source" }).click();
      await page.getByText("No relay reports yet").waitFor();
      await drawer(page).waitFor({ state: "detached" });
      expect(await report(url)).toBe(404);
      expect(unexpected(problems)).toEqual([]);
      await opened.close();
    },
  );

  pageTest(
    "a report is counted without a reload, and keys are asked for where there are any",
    async () => {
      const added = await server.call("POST", "/report-sources", { provider: "POSTMARK" });
      await server.call("POST", "/report-sources", { provider: "SENDGRID" });
      const opened = await openAs(server, "/relay-reports");
      const { page, problems } = opened;
      const row = rows(page).filter({ hasText: "Postmark" });
      await row.getByText("No report yet").waitFor();
      await rows(page).filter({ hasText: "SendGrid" }).getByText("Key missing").waitFor();

      expect(await report(stringAt(added, "data.url"))).toBe(200);
      // The page reads everything again when its tab is shown.
      await page.evaluate(`document.dispatchEvent(new Event("visibilitychange"))`);
      await row.getByText("Active").waitFor();
      await expectSoon(
        () =>
          row
            .locator("td")
            .allInnerTexts()
            .then((texts) => texts.slice(2, 5)),
        ["1", "0", "1"],
      );
      await row.getByRole("link").click();
      await drawer(page).getByText("signs nothing").waitFor();
      expect(await drawer(page).getByRole("textbox").count()).toBe(1);
      await page.keyboard.press("k");
      await drawer(page).getByLabel("Verification key").waitFor();
      await page.keyboard.press("Escape");
      await drawer(page).waitFor({ state: "detached" });
      await checkLayouts(opened, "relay-reports-list");
      expect(problems).toEqual([]);
      await opened.close();
    },
  );

  pageTest("a mailbox is added, read, tested and deleted; a wrong password is shown", async () => {
    const mailbox = await imapServer();
    const { state, port } = mailbox;
    deliver(state, "Subject: hi\r\n\r\nhello\r\n");
    const opened = await openAs(server, "/relay-reports/mailboxes");
    const { page } = opened;
    const drawn = dialog(page, "Mailbox");
    await page.getByText("No mailboxes yet").waitFor();

    await page.keyboard.press("c");
    const form = dialog(page, "Add a mailbox");
    await form.getByLabel("Server").fill("127.0.0.1");
    await form.getByLabel("Port").fill("25");
    await form.getByRole("combobox", { name: "Encryption" }).click();
    await page.getByRole("option", { name: "None" }).click();
    await form.getByText("The password can be read on the way").waitFor();
    await form.getByLabel("User name").fill(state.username);
    await form.getByLabel("Password", { exact: true }).fill("wrong");
    await form.getByLabel("Name", { exact: true }).fill("Bounces");
    await page.keyboard.press("Enter");
    await form.getByText("must be one of 993, 143, 995, 110").waitFor();
    await checkLayouts(opened, "mailboxes-new");
    await form.getByLabel("Port").fill(String(port));
    await page.keyboard.press("Enter");

    await drawn.getByText("Cannot be read").waitFor();
    await drawn.getByText("The server refused the login").waitFor();
    await checkLayouts(opened, "mailboxes-failed");
    await drawn.getByLabel("New password").fill(state.password);
    await page.keyboard.press("Enter");
    await drawn.getByText("The password is replaced.").waitFor();
    await press(page, "Test the login");
    await drawn.getByText("The login works. 1 message is there.").waitFor();
    await drawn.getByText("1 read, 0 counted, 1 other mail").waitFor();
    await drawn.getByText("Active").waitFor();
    await page.keyboard.press("Escape");
    await drawn.waitFor({ state: "detached" });
    await checkLayouts(opened, "mailboxes-list");

    await rows(page).filter({ hasText: "Bounces" }).getByRole("link").click();
    await press(page, "Delete the mailbox");
    const question = dialog(page, "Delete Bounces?");
    await question.getByRole("button", { name: "Delete the mailbox" }).click();
    await page.getByText("No mailboxes yet").waitFor();
    expect(unexpected(opened.problems)).toEqual([]);
    await Promise.all([opened.close(), mailbox.close()]);
  });

  pageTest("editors are offered none, and the server refuses them", async () => {
    const { page, problems, close } = await openAs(server, "/relay-reports", { person: "editor" });
    await page.getByText("This page is for admins").waitFor();
    expect(await page.getByRole("button", { name: "Add a provider" }).count()).toBe(0);
    expect(await page.getByRole("link", { name: "Relay reports" }).count()).toBe(0);
    // The page did not even ask.
    expect(problems).toEqual([]);
    await close();
    const body = { provider: "SES" };
    expect(await statusOf(server, "editor", ["GET", "/report-sources"])).toBe(403);
    expect(await statusOf(server, "editor", ["POST", "/report-sources", body])).toBe(403);
    expect(await statusOf(server, "admin", ["GET", "/report-sources"])).toBe(200);
  });
});
