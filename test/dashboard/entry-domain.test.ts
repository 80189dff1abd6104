/** The last steps of the set-up while the DNS does not have the record of the domain yet. */

import { afterAll, describe, expect } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { faultsOf, hasChromium, NO_FAULTS, type OpenedPage, openPage } from "../support/browser.ts";
import { type Running, startMailstead } from "../support/cli.ts";
import { expectSoon } from "../support/eventually.ts";
import { stringAt } from "../support/json.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

const EMAIL = "ada@shop.example";
const RELAY = ["--transport", "relay", "--relay-url", "smtp://127.0.0.1:9?tls=none"];

const folder = mkdtempSync(join(tmpdir(), "mailstead-entry-domain-"));
const servers: Running[] = [];
beforePages(async () => {});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  rmSync(folder, { recursive: true, force: true });
});

const heading = (page: Page, name: string) =>
  page.getByRole("heading", { level: 1, name }).waitFor();
const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();

/** Starts a server and opens the set-up after its second step. */
async function setUp(words: readonly string[] = []): Promise<OpenedPage> {
  const data = join(folder, `data-${servers.length}`);
  const server = await startMailstead(
    ["serve", "--json", "--data", data, "--port", "0", ...words],
    (greeting) => greeting.endsWith("}\n"),
  );
  servers.push(server);
  const opened = await openPage(stringAt(JSON.parse(server.greeting), "setUpUrl"));
  const { page } = opened;
  await page.getByLabel("Your name").fill("Ada Lovelace");
  await page.getByLabel("Email address").fill(EMAIL);
  await page.getByRole("textbox", { name: "Password" }).fill("the harbour is quiet at night");
  await press(page, "Create the account");
  await page.getByLabel("Project name").fill("Harbour Books");
  await press(page, "Create the project");
  await heading(page, "How mail leaves");
  await press(page, "Continue");
  await heading(page, "Your domain");
  return opened;
}

async function addDomain(page: Page): Promise<void> {
  await press(page, "Add the domain");
  await page.getByText("Add this record at the provider").waitFor();
}

describe.skipIf(!hasChromium)("a domain without its DNS record", () => {
  pageTest(
    "sends the first mail of a server that catches mail, with the prefilled values",
    async () => {
      const opened = await setUp();
      const { page } = opened;
      await addDomain(page);
      await press(page, "Continue");
      await heading(page, "Send yourself a mail");
      await expectSoon(() => page.getByLabel("From").inputValue(), "hello@shop.example");
      await page.getByText("it accepts mail to your own address only").waitFor();
      expect(await faultsOf(opened)).toEqual(NO_FAULTS);
      await opened.screenshot("first-mail-captured");
      await press(page, "Send the mail");
      await page.getByRole("link", { name: "Watch its delivery" }).click();
      await heading(page, "Hello from Mailstead");
      await page.getByText("Sent", { exact: true }).first().waitFor();
      expect(await faultsOf(opened)).toEqual(NO_FAULTS);
      await opened.close();
    },
  );

  pageTest(
    "is named with its record before a mail is sent, where mail leaves the server",
    async () => {
      const opened = await setUp(RELAY);
      const { page } = opened;
      await addDomain(page);
      await press(page, "Continue");
      await heading(page, "Send yourself a mail");
      await page.getByText("You can send from shop.example as soon as this record").waitFor();
      await page.getByText(/\._domainkey\.shop\.example$/).waitFor();
      await expectSoon(() => page.getByRole("button", { name: "Send the mail" }).count(), 0);
      await opened.screenshot("first-mail-domain");
      expect(await faultsOf(opened)).toEqual(NO_FAULTS);
      await page.getByRole("link", { name: "Open the page of shop.example" }).click();
      await heading(page, "shop.example");
      await opened.close();
    },
  );

  pageTest("is shown again after a reload of its step, and Back returns to it", async () => {
    const opened = await setUp(RELAY);
    const { page } = opened;
    await addDomain(page);
    await page.reload();
    await heading(page, "Your domain");
    await page.getByText("Add this record at the provider").waitFor();
    await press(page, "Continue");
    await heading(page, "Send yourself a mail");
    await page.reload();
    await heading(page, "Send yourself a mail");
    await page.goBack();
    await heading(page, "Your domain");
    await opened.close();
  });

  pageTest("is asked for where mail leaves the server and no domain was added", async () => {
    const opened = await setUp(RELAY);
    const { page } = opened;
    await press(page, "Skip this step");
    await page.getByText("this project has no domain yet").waitFor();
    expect(await page.getByRole("link", { name: "Add a domain", exact: true }).count()).toBe(1);
    await opened.screenshot("first-mail-no-domain");
    expect(await faultsOf(opened)).toEqual(NO_FAULTS);
    await page.getByRole("link", { name: "Go to the dashboard" }).click();
    await heading(page, "Overview");
    await opened.close();
  });
});
