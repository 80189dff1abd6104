/** The ways into the dashboard against a real server: set-up, sign-in link, password, sessions. */

import { afterAll, beforeAll, describe, expect } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { BROWSER_LIMIT_MS, hasChromium, openPage } from "../support/browser.ts";
import { invite } from "./people.ts";
import { type DashboardProject, newProject, sharedServer } from "../support/dashboard-server.ts";
import { type Running, startMailstead } from "../support/cli.ts";
import { stringAt } from "../support/json.ts";
import { expectSoon } from "../support/eventually.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

const PASSWORD = "the harbour is quiet at night";

let server: DashboardProject;

beforePages(async () => {
  server = await newProject();
});

const heading = (page: Page, name: string) =>
  page.getByRole("heading", { level: 1, name }).waitFor();

describe.skipIf(!hasChromium)("mailstead serve", () => {
  let folder: string;
  let running: Running;
  let setUpUrl: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "mailstead-entry-test-"));
    const words = ["serve", "--json", "--data", join(folder, "data"), "--port", "0"];
    const environment = { MAILSTEAD_REQUIRE_VERIFIED_DOMAIN: "false" };
    running = await startMailstead(words, (greeting) => greeting.endsWith("}\n"), { environment });
    const info: unknown = JSON.parse(running.greeting);
    setUpUrl = stringAt(info, "setUpUrl");
  }, BROWSER_LIMIT_MS);
  afterAll(async () => {
    await running.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  pageTest("the printed link creates the owner, who signs out and in again", async () => {
    const { page, problems, close, findings, screenshot } = await openPage(setUpUrl);
    await heading(page, "Set up Mailstead");
    await page.getByLabel("Your name").fill("Ada Lovelace");
    await page.getByLabel("Email address").fill("ada@example.com");
    await page.getByRole("textbox", { name: "Password" }).fill(PASSWORD);
    await page.getByRole("button", { name: "Create the account" }).click();
    await heading(page, "Name your project");
    await page.getByText("Recipients see it below marketing mail").waitFor();
    await screenshot("welcome");
    expect(await findings()).toEqual([]);
    await page.getByLabel("Project name").fill("Harbour Books");
    await page.keyboard.press("Enter");
    await heading(page, "How mail leaves");
    await page.getByText("This server catches mail").waitFor();
    expect(await findings()).toEqual([]);
    await page.getByRole("button", { name: "Continue" }).click();
    await heading(page, "Your domain");
    await expectSoon(() => page.getByLabel("Domain", { exact: true }).inputValue(), "example.com");
    await page.getByRole("button", { name: "Skip this step" }).click();
    await heading(page, "Send yourself a mail");
    await screenshot("welcome-mail");
    await page.getByRole("button", { name: "Send the mail" }).click();
    await page.getByText("The mail to ada@example.com is queued.").waitFor();
    await page.getByRole("link", { name: "Watch its delivery" }).click();
    await heading(page, "Hello from Mailstead");
    await screenshot("welcome-record");

    const base = setUpUrl.slice(0, setUpUrl.indexOf("/app/"));
    await page.goto(`${base}/app/account`);
    await page.getByRole("button", { name: "Account: Ada Lovelace" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await heading(page, "Sign in");
    await page.goto(`${base}/app/account`);
    await heading(page, "Sign in");
    await page.getByLabel("Email address").fill("ada@example.com");
    await page.getByRole("textbox", { name: "Password" }).fill(PASSWORD);
    await page.keyboard.press("Enter");
    await heading(page, "Account");
    expect(problems).toEqual([]);
    await close();
  });

  pageTest("the link works once, and says so", async () => {
    const { page, close } = await openPage(setUpUrl);
    await heading(page, "Mailstead is set up");
    await page.getByRole("button", { name: "Sign in" }).click();
    await heading(page, "Sign in");
    await page.getByLabel("Email address").fill("ada@example.com");
    await page.getByRole("textbox", { name: "Password" }).fill("a wrong password");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").waitFor();
    await expectSoon(() => page.getByLabel("Email address").inputValue(), "ada@example.com");
    await close();
  });
});

describe.skipIf(!hasChromium)("mailstead dev", () => {
  pageTest("a session opens the pages of its project", async () => {
    // The first project of the server is the one that `/app` opens.
    const { url, cookie, project } = await sharedServer();
    const opened = await openPage(`${url}/app`, { cookie });
    await heading(opened.page, "Inbox");
    expect(new URL(opened.page.url()).pathname).toBe(`/app/p/${project}/inboxes`);
    expect(opened.problems).toEqual([]);
    await opened.close();
  });

  pageTest("the account page lists the session and changes the name", async () => {
    const cookie = (await invite(server, "Petra Person", "VIEWER")) ?? "";
    const opened = await openPage(`${server.url}/app/account`, { cookie });
    const { page } = opened;
    await page.getByText("This browser").waitFor();
    await page.getByLabel("Name", { exact: true }).fill("Grace Hopper");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved").waitFor();
    await page.getByRole("button", { name: "Account: Grace Hopper" }).waitFor();
    expect(await opened.findings()).toEqual([]);
    expect(opened.problems).toEqual([]);
    await opened.close();
  });

  pageTest("a link that was used says what to do", async () => {
    const { page, close } = await openPage(stringAt(server.info, "dashboard"));
    await heading(page, "This link does not work");
    await page.getByRole("link", { name: "Sign in with a password" }).click();
    await heading(page, "Sign in");
    await close();
  });

  pageTest(
    "a server that stops and returns leaves a banner, and nothing typed is lost",
    async () => {
      const { page, close } = await openPage(`${server.url}/app/account`, {
        cookie: server.cookie,
      });
      await heading(page, "Account");
      await page.route("**/app/api/**", (route) => route.abort());
      await page.getByLabel("Name", { exact: true }).fill("Typed before");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("The page shows the last known state.").waitFor();
      await page.unroute("**/app/api/**");
      await page.getByRole("button", { name: "Try again" }).first().click();
      await page.getByText("The page shows the last known state.").waitFor({ state: "hidden" });
      await expectSoon(() => page.getByLabel("Name", { exact: true }).inputValue(), "Typed before");
      await close();
    },
  );
});
