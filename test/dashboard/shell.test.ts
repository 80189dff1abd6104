/** The frame of the dashboard and the pages before sign-in, in every layout. */

import { afterAll, beforeAll, describe, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import {
  BROWSER_LIMIT_MS,
  hasChromium,
  openPage,
  startBrowser,
  startDashboard,
} from "../support/browser.ts";
import { answerState, EMPTY_STATE, PROJECT, SIGNED_OUT } from "./answers.ts";
import { expectNoFaults } from "./layouts.ts";

let browser: Browser;
let server: Awaited<ReturnType<typeof startDashboard>>;

beforeAll(async () => {
  if (!hasChromium) return;
  [browser, server] = await Promise.all([startBrowser(), startDashboard()]);
}, BROWSER_LIMIT_MS);
afterAll(async () => {
  if (!hasChromium) return;
  await Promise.all([browser.close(), server.stop()]);
});

const PAGES = [
  { name: "overview", path: `/p/${PROJECT.id}`, heading: "Overview", state: undefined },
  { name: "account", path: "/account", heading: "Account", state: undefined },
  { name: "login", path: "/login", heading: "Sign in", state: SIGNED_OUT },
  { name: "setup", path: "/setup#token", heading: "Set up Mailstead", state: EMPTY_STATE },
  { name: "reset", path: "/reset#token", heading: "Choose a new password", state: SIGNED_OUT },
  { name: "not-found", path: "/nowhere", heading: "This page does not exist", state: undefined },
];

describe.skipIf(!hasChromium)("every page is accessible, quiet and fits the window", () => {
  for (const { name, path, heading, state } of PAGES) {
    test(
      name,
      async () => {
        const opened = await openPage(browser, `${server.url}/app${path}`, {
          prepare: async (page: Page) => {
            await page.setExtraHTTPHeaders({ authorization: `Bearer ${server.secretKey}` });
            await answerState(page, state);
          },
        });
        await expectNoFaults(opened, {
          name,
          async isShown(page) {
            await page.getByRole("heading", { level: 1, name: heading }).waitFor();
            await page.evaluate("document.fonts.ready");
          },
        });
      },
      BROWSER_LIMIT_MS,
    );
  }
});
