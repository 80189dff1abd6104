/** The list of emails without emails, and when it cannot be read. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { BROWSER_LIMIT_MS, hasChromium, startBrowser, startDashboard } from "../support/browser.ts";
import { openEmails, send, type Server } from "./email-server.ts";
import { expectNoFaults } from "./layouts.ts";

let browser: Browser;
let server: Server;

beforeAll(async () => {
  if (!hasChromium) return;
  [browser, server] = await Promise.all([startBrowser(), startDashboard()]);
}, BROWSER_LIMIT_MS);
afterAll(async () => {
  if (!hasChromium) return;
  await Promise.all([browser.close(), server.stop()]);
});

describe.skipIf(!hasChromium)("the list of emails of a new project", () => {
  test(
    "shows how to send the first email, in every layout",
    async () => {
      await expectNoFaults(await openEmails(browser, server, "/emails"), {
        name: "emails-empty",
        isShown: (page) => page.getByText("No emails yet").waitFor(),
      });
    },
    BROWSER_LIMIT_MS,
  );

  test(
    "shows an error with its request id, and tries again",
    async () => {
      const body = {
        success: false,
        error: { code: "X", message: "The list is not available.", requestId: "r-1" },
      };
      const { page, close } = await openEmails(browser, server, "/emails", {
        prepare: async (page) => {
          await page.route("**/app/api/live*", () => undefined);
          await page.route("**/emails?*", (route) => route.fulfill({ status: 500, json: body }));
        },
      });
      await page.getByText("The list is not available.").waitFor();
      await page.getByText("r-1").waitFor();
      await page.unroute("**/emails?*");
      await page.getByRole("button", { name: "Try again" }).click();
      await page.getByText("No emails yet").waitFor();
      await close();
    },
    BROWSER_LIMIT_MS,
  );

  test(
    "shows the first email as soon as it is sent",
    async () => {
      const { page, problems, close } = await openEmails(browser, server, "/emails");
      await page.getByText("No emails yet").waitFor();
      await page.getByRole("button", { name: "SMTP" }).click();
      await page.getByText(/Port +\d+/).waitFor();
      await send(server, [{ to: "ada@example.com", subject: "The first", body: "<p>Hello</p>" }]);
      await page.getByText("The first").waitFor();
      expect(problems).toEqual([]);
      await close();
    },
    BROWSER_LIMIT_MS,
  );
});
