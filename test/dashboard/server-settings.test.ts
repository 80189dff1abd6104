/** The settings of the server: the relay with its test, and all settings with their sources. */

import { describe, expect } from "bun:test";
import type { InstallationSetting } from "../../src/modules/settings/model.ts";
import { type Layout, openPage } from "../support/browser.ts";
import { expectSoon } from "../support/eventually.ts";
import { beforePages, pageTest } from "../support/page-test.ts";
import { startScript } from "../support/smtp-script.ts";
import { type PeopledProject, newProjectWithPeople } from "./people.ts";

let server: PeopledProject;

beforePages(async () => {
  server = await newProjectWithPeople();
});

const open = (path = "", layout: Layout = "light") =>
  openPage(`${server.url}/app/admin/settings${path}`, { cookie: server.people.owner, layout });

describe("the page of the server's settings", () => {
  pageTest("says where each value comes from, and finds settings by their words", async () => {
    const { page, problems, close } = await open();
    await page.getByRole("heading", { name: "Server settings" }).waitFor();
    const row = (name: string) => page.locator(".setting-row", { hasText: name });
    // The shared server is started with --dns.
    await page.getByText(/^Not default/).click();
    await row("Given by --dns").getByText("Change --dns and restart the server.").waitFor();
    await page.getByRole("searchbox", { name: "Search settings" }).fill("days bodies");
    await expectSoon(() => page.locator(".setting-row").count(), 1);
    await row("Retain bodies").getByText("90", { exact: true }).waitFor();
    await page.getByRole("searchbox", { name: "Search settings" }).fill("https address");
    await row("HTTPS").getByText("Give --https or MAILSTEAD_HTTPS to the server").waitFor();
    expect(problems).toEqual([]);
    await close();
  });

  pageTest("changes a setting in place, and resets it", async () => {
    const { page, problems, close } = await open("?q=quota-jobs");
    const row = page.locator(".setting-row", { hasText: "Quota jobs" });
    await row.getByRole("button", { name: "Change Quota jobs" }).click();
    await row.getByRole("textbox", { name: "Quota jobs" }).fill("many");
    await row.getByRole("button", { name: "Save" }).click();
    await row.getByText(/must be a whole number from 0 to/).waitFor();
    await row.getByRole("textbox", { name: "Quota jobs" }).fill("25");
    await row.getByRole("button", { name: "Save" }).click();
    await row.getByText("25", { exact: true }).waitFor();
    await row.getByText("Used after the next restart").waitFor();
    await row.getByText(/^Set here .* by /).waitFor();
    await row.getByRole("button", { name: "Change Quota jobs" }).click();
    await row.getByRole("button", { name: "Reset to the default" }).click();
    await row.getByText("Default", { exact: true }).waitFor();
    expect(problems.filter((problem) => !problem.includes("422"))).toEqual([]);
    await close();
  });

  pageTest(
    "shows what another owner has set meanwhile, and replaces it when asked again",
    async () => {
      const { page, problems, close } = await open("?q=quota-webhook-calls");
      const row = page.locator(".setting-row", { hasText: "Quota webhook calls" });
      await row.getByRole("button", { name: "Change Quota webhook calls" }).click();
      await server.call("PUT", "/system/settings/quota-webhook-calls", { value: "33" });
      await row.getByRole("textbox", { name: "Quota webhook calls" }).fill("55");
      await row.getByRole("button", { name: "Save" }).click();
      await row.getByText("Somebody else has changed this meanwhile.").waitFor();
      await row.getByText("The value is now 33.").waitFor();
      await row.getByRole("button", { name: "Save" }).click();
      await row.getByText("55", { exact: true }).waitFor();
      expect(problems.filter((problem) => !problem.includes("412"))).toEqual([]);
      await close();
    },
  );

  pageTest("tests a relay before it is saved, and marks the line that failed", async () => {
    const wrong = { code: 535, text: "5.7.8 authentication failed" };
    const relay = await startScript({ script: [{ auth: wrong }, {}] });
    const { page, problems, screenshot, close } = await open();
    const card = page.getByRole("region", { name: "Transport and relay" });
    await page.route(/\/system\/settings$/, async (route) => {
      const response = await route.fetch();
      const body: { data: { settings: InstallationSetting[] } } = await response.json();
      // The transport of `mailstead dev` is fixed.
      const transport = body.data.settings.find(({ name }) => name === "transport");
      if (transport) transport.source = { kind: "DEFAULT", name: null, path: null };
      await route.fulfill({ json: body });
    });
    await page.reload();
    await card.getByRole("radiogroup").getByText("Relay", { exact: true }).click();
    await card.getByLabel("Server").fill(`smtp://ada:harbour@127.0.0.1:${relay.port}?tls=none`);
    await expectSoon(() => card.getByLabel("Port").inputValue(), String(relay.port));
    await expectSoon(() => card.getByLabel("User").inputValue(), "ada");
    await card.getByRole("button", { name: "Test" }).click();
    await card.getByText(/What to do:/).waitFor();
    await card.getByText(/Check the user and the password/).waitFor();
    expect(await card.locator('li[data-tone="failed"]').innerText()).toContain("535");
    await screenshot("server-settings-failed");
    await card.getByRole("button", { name: "Save" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Save without a test?").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await card.getByRole("button", { name: "Test" }).click();
    await card.getByText("The relay works.").waitFor();
    const switched = page.waitForRequest(
      (request) => request.method() === "PUT" && request.url().endsWith("/transport"),
    );
    await page.route(/\/system\/settings\/transport$/, (route) =>
      route.fulfill({ json: { success: true, data: {} } }),
    );
    await card.getByRole("button", { name: "Save" }).click();
    expect((await switched).postDataJSON()).toEqual({ value: "relay" });
    await card.getByText(`127.0.0.1:${relay.port}`).waitFor();
    await card.getByText(/user ada, password •••••/).waitFor();
    expect(await page.content()).not.toContain("harbour");
    await page.unroute(/\/system\/settings$/);
    await server.call("DELETE", "/system/settings/relay-url");
    expect(problems).toEqual([]);
    await relay.close();
    await close();
  });

  pageTest("tells others whom to ask", async () => {
    const { page, problems, close } = await openPage(`${server.url}/app/admin/settings`, {
      cookie: server.people.admin,
    });
    await page.getByText("This page is for owners of the installation").waitFor();
    expect(problems).toEqual([]);
    await close();
  });
});
