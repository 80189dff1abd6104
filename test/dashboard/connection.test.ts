/** A page whose server does not answer: what it shows meanwhile, and how it goes on afterwards. */

import { describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { openPage } from "../support/browser.ts";
import { type DashboardProject, newProject } from "../support/dashboard-server.ts";
import { expectSoon } from "../support/eventually.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

let server: DashboardProject;

beforePages(async () => {
  server = await newProject();
});

/** The error in place of a page or of a part of it. */
const unreachable = (page: Page) =>
  page.getByRole("alert").filter({ hasText: "The server cannot be reached." });
const banner = (page: Page) =>
  page.getByText("The server cannot be reached. The page shows the last known state.");
const heading = (page: Page, name: string) => page.getByRole("heading", { level: 1, name });

describe("while the server cannot be reached", () => {
  pageTest(
    "parts that are not loaded yet show the error in their place, and a banner appears",
    async () => {
      const opened = await openPage(`${server.url}/app/p/${server.project}/segments`, {
        cookie: server.cookie,
        isFirstVisit: true,
      });
      const { page, close } = opened;
      const setOffline = (isOffline: boolean) => page.context().setOffline(isOffline);
      try {
        await heading(page, "Segments").waitFor();
        await page.evaluate("window.isSameDocument = true");

        // A part of the frame shows the error beside the page.
        await setOffline(true);
        await page.keyboard.press("?");
        await unreachable(page).waitFor();
        await heading(page, "Segments").waitFor();
        await setOffline(false);
        await unreachable(page).getByRole("button", { name: "Try again" }).click();
        await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
        await page.keyboard.press("Escape");

        // A page shows it in the frame.
        await banner(page).waitFor({ state: "hidden" });
        await setOffline(true);
        await page.getByRole("link", { name: "Webhooks" }).click();
        await unreachable(page).waitFor();
        await page.getByRole("link", { name: "Segments" }).waitFor();
        await setOffline(false);
        await unreachable(page).getByRole("button", { name: "Try again" }).click();
        await heading(page, "Webhooks").waitFor();

        // The browser goes offline without a request of the page, whose script is loaded.
        await banner(page).waitFor({ state: "hidden" });
        const script = page.waitForResponse(/templates-page/);
        await page.getByRole("link", { name: "Templates" }).hover();
        await script;
        await setOffline(true);
        await banner(page).waitFor();
        await page.getByRole("link", { name: "Templates" }).click();
        await heading(page, "Templates").waitFor();
        await unreachable(page).getByRole("button", { name: "Try again" }).waitFor();
        await setOffline(false);
        await banner(page).waitFor({ state: "hidden" });
        await unreachable(page).waitFor({ state: "hidden" });
        await page.getByText("No templates yet").waitFor();
        expect(await page.evaluate("window.isSameDocument")).toBe(true);
      } finally {
        await setOffline(false);
        await close();
      }
    },
  );

  pageTest("a live stream that ends shows the banner only if a request fails too", async () => {
    let isStopped = false;
    const streams: string[] = [];
    const opened = await openPage(`${server.url}/app/p/${server.project}/contacts`, {
      cookie: server.cookie,
      prepare: async (page) => {
        await page.route("**/app/api/live*", (route) => {
          streams.push("opened");
          return isStopped
            ? route.abort()
            : route.fulfill({ contentType: "text/event-stream", body: "retry: 50\n\n" });
        });
      },
    });
    const { page, close } = opened;
    await heading(page, "Contacts").waitFor();
    await expectSoon(() => streams.length > 3, true);
    expect(await banner(page).count()).toBe(0);
    isStopped = true;
    await page.route("**/app/api/state", (route) => route.abort());
    await banner(page).waitFor();
    await page.unroute("**/app/api/state");
    await banner(page).waitFor({ state: "hidden" });
    await close();
  });
});
