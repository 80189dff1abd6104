/** Forms: a dialog stays open while its request runs, and unsaved changes are not lost unasked. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import {
  BROWSER_LIMIT_MS,
  type Dashboard,
  hasChromium,
  openPage,
  startBrowser,
  startDashboard,
} from "../support/browser.ts";
import { stringAt } from "../support/json.ts";

let browser: Browser;
let server: Dashboard;

beforeAll(async () => {
  if (!hasChromium) return;
  [browser, server] = await Promise.all([startBrowser(), startDashboard()]);
}, BROWSER_LIMIT_MS);
afterAll(async () => {
  if (!hasChromium) return;
  await Promise.all([browser.close(), server.stop()]);
});

const open = (path: string) =>
  openPage(browser, `${server.url}/app/p/${server.project}${path}`, { cookie: server.cookie });

const REFUSED = {
  status: 503,
  json: { success: false, error: { code: "X", message: "The server is busy.", requestId: "r" } },
};

describe.skipIf(!hasChromium)("a dialog", () => {
  test(
    "with a form stays open while its request runs, and shows the failure",
    async () => {
      const { page, close } = await open("/suppressions");
      const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
      await page.route("**/suppressions", async (route) => {
        if (route.request().method() !== "POST") return route.continue();
        await answered;
        return route.fulfill(REFUSED);
      });
      await page.getByRole("button", { name: "Suppress an address" }).first().click();
      const dialog = page.getByRole("dialog", { name: "Suppress an address" });
      await dialog.getByLabel("Email address").fill("ada@example.com");
      await page.keyboard.press("Enter");
      await dialog.locator("button[data-loading]").waitFor();
      await page.keyboard.press("Escape");
      await dialog.getByRole("button", { name: "Close" }).click();
      expect(await dialog.getByRole("button", { name: "Cancel" }).isDisabled()).toBe(true);
      answer();
      await dialog.getByText("The server is busy.").waitFor();
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "hidden" });
      await close();
    },
    BROWSER_LIMIT_MS,
  );

  test(
    "that asks before a deletion stays open while it runs, and shows the failure",
    async () => {
      const created = await server.call("POST", "/contacts", { email: "kept@example.com" });
      const { page, close } = await open(`/contacts/${stringAt(created, "id")}`);
      const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
      await page.route("**/contacts/*", async (route) => {
        if (route.request().method() !== "DELETE") return route.continue();
        await answered;
        return route.fulfill(REFUSED);
      });
      await page.getByRole("button", { name: "Delete", exact: true }).click();
      const dialog = page.getByRole("dialog", { name: "Delete this contact?" });
      await dialog.getByRole("button", { name: "Delete the contact" }).click();
      await dialog.locator("button[data-loading]").waitFor();
      await page.keyboard.press("Escape");
      answer();
      await dialog.getByText("The server is busy.").waitFor();
      await close();
    },
    BROWSER_LIMIT_MS,
  );
});
