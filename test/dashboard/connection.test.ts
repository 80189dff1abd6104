/** A page whose server does not answer: what it shows meanwhile, and how it goes on afterwards. */

import { describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { type OpenedPage, openPage } from "../support/browser.ts";
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

/** Opens a page of the project; the browser is online again afterwards. */
async function withPage(
  path: string,
  run: (opened: OpenedPage) => Promise<void>,
  isFirstVisit = false,
) {
  const opened = await openPage(`${server.url}/app/p/${server.project}${path}`, {
    cookie: server.cookie,
    isFirstVisit,
  });
  try {
    await opened.page.getByRole("heading", { level: 1 }).waitFor();
    await opened.page.evaluate("window.isSameDocument = true");
    await run(opened);
    expect(await opened.page.evaluate("window.isSameDocument")).toBe(true);
  } finally {
    await opened.page.context().setOffline(false);
    await opened.close();
  }
}

describe("while the server cannot be reached", () => {
  pageTest(
    "a page whose script is not loaded yet shows the error in the frame, and opens when it is back",
    () =>
      withPage(
        "/segments",
        async ({ page, screenshot, findings }) => {
          await page.context().setOffline(true);
          await page.getByRole("link", { name: "Webhooks" }).click();
          await unreachable(page).waitFor();
          await page.getByRole("link", { name: "Segments" }).waitFor();
          await screenshot("offline-page");
          expect(await findings()).toEqual([]);
          await page.context().setOffline(false);
          await unreachable(page).getByRole("button", { name: "Try again" }).click();
          await heading(page, "Webhooks").waitFor();
        },
        true,
      ),
  );

  pageTest("a part of the frame that is not loaded yet shows the error beside the page", () =>
    withPage("/segments", async ({ page }) => {
      await page.context().setOffline(true);
      await page.keyboard.press("?");
      await unreachable(page).waitFor();
      await heading(page, "Segments").waitFor();
      await page.context().setOffline(false);
      await unreachable(page).getByRole("button", { name: "Try again" }).click();
      await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    }),
  );

  pageTest(
    "a banner appears without a request of the page, and the next page says why it has no data",
    () =>
      withPage("/contacts", async ({ page, screenshot }) => {
        await page.getByRole("link", { name: "Segments" }).hover();
        await page.context().setOffline(true);
        await banner(page).waitFor();
        await page.getByRole("link", { name: "Segments" }).click();
        await heading(page, "Segments").waitFor();
        await unreachable(page).getByRole("button", { name: "Try again" }).waitFor();
        await screenshot("offline-list");
        await page.context().setOffline(false);
        await banner(page).waitFor({ state: "hidden" });
        await unreachable(page).waitFor({ state: "hidden" });
        await page.getByText("No segments yet").waitFor();
      }),
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
