/** The frame of the dashboard by keyboard: palette, shortcuts, menus, themes, and what is lost. */

import { describe, expect } from "bun:test";
import { type Layout, type OpenedPage, openPage } from "../support/browser.ts";
import { type DashboardProject, newProject } from "../support/dashboard-server.ts";
import { expectSoon } from "../support/eventually.ts";
import { answerState, PROJECT, SIGNED_OUT } from "./answers.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

let server: DashboardProject;

beforePages(async () => {
  server = await newProject();
});

type Options = { path?: string; layout?: Layout; state?: object };

/** Opens a page of the project, runs the test, and expects that the page logged nothing. */
async function withPage(run: (opened: OpenedPage) => Promise<void>, options: Options = {}) {
  const { path = `/p/${PROJECT.id}`, layout = "light", state } = options;
  const opened = await openPage(`${server.url}/app${path}`, {
    layout,
    prepare: async (page) => {
      await page.setExtraHTTPHeaders({ authorization: `Bearer ${server.secretKey}` });
      await answerState(page, state);
    },
  });
  await opened.page.getByRole("heading", { level: 1 }).waitFor();
  await run(opened);
  expect(opened.problems).toEqual([]);
  await opened.close();
}

const schemeOf = "document.documentElement.getAttribute('data-mantine-color-scheme')";

describe("the frame", () => {
  pageTest("the command palette opens by Ctrl K, finds a page and closes by Esc", () =>
    withPage(async ({ page, findings, screenshot }) => {
      await page.keyboard.press("Control+k");
      const search = page.getByPlaceholder("Search pages, contacts, projects and actions");
      await search.waitFor();
      await screenshot("palette");
      expect(await findings()).toEqual([]);
      await page.keyboard.press("Escape");
      await search.waitFor({ state: "hidden" });
      await page.keyboard.press("Control+k");
      await search.fill("account");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name: "Account" }).waitFor();
    }),
  );

  pageTest("? lists the shortcuts, which can be switched off", () =>
    withPage(async ({ page, findings }) => {
      await page.keyboard.press("?");
      const list = page.getByRole("dialog", { name: "Keyboard shortcuts" });
      await list.waitFor();
      expect(await findings()).toEqual([]);
      await list.getByLabel("Shortcuts of single keys").click();
      await page.keyboard.press("Escape");
      await list.waitFor({ state: "hidden" });
      await page.keyboard.press("?");
      await expectSoon(() => list.count(), 0);
    }),
  );

  pageTest("g o opens the overview from another page of the project", () =>
    withPage(
      async ({ page }) => {
        await page.keyboard.press("g");
        await page.keyboard.press("o");
        await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
      },
      { path: `/p/${PROJECT.id}/emails` },
    ),
  );

  pageTest("the theme is chosen in the menu of the user and set before the first paint", () =>
    withPage(async ({ page, findings, screenshot }) => {
      await expectSoon(() => page.evaluate(schemeOf), "light");
      await page.getByRole("button", { name: /^Account:/ }).click();
      await page.getByRole("menuitem", { name: "Dark" }).click();
      await expectSoon(() => page.evaluate(schemeOf), "dark");
      await page.waitForTimeout(200);
      await screenshot("user-menu");
      expect(await findings()).toEqual([]);
      await page.reload({ waitUntil: "commit" });
      await page.locator("body").waitFor({ state: "attached" });
      await expectSoon(() => page.evaluate(schemeOf), "dark");
      await page.getByRole("heading", { level: 1 }).waitFor();
    }),
  );

  pageTest("the first Tab reaches a link to the content", () =>
    withPage(async ({ page }) => {
      await page.keyboard.press("Tab");
      await page.locator("a:focus", { hasText: "Skip to the content" }).waitFor();
      await page.keyboard.press("Enter");
      await page.locator("main:focus").waitFor();
    }),
  );

  pageTest("on phones the side bar is a drawer", () =>
    withPage(
      async ({ page, findings, screenshot }) => {
        await page.getByRole("button", { name: "Open the menu" }).click();
        const menu = page.getByRole("dialog", { name: "Menu" });
        await menu.getByRole("link", { name: "Overview" }).waitFor();
        await page.waitForTimeout(200);
        await screenshot("menu");
        expect(await findings()).toEqual([]);
        await menu.getByRole("button", { name: "Project: Harbour Books" }).click();
        await page.getByRole("menuitem", { name: /Lighthouse/ }).click();
        await menu.waitFor({ state: "hidden" });
        expect(new URL(page.url()).pathname).toBe("/app/p/prj_2");
      },
      { layout: "phone" },
    ),
  );

  pageTest("without a session the sign-in page opens, and knows where to return", () =>
    withPage(
      async ({ page }) => {
        const { pathname, searchParams } = new URL(page.url());
        expect([pathname, searchParams.get("next")]).toEqual([
          "/app/login",
          `/p/${PROJECT.id}?tab=x`,
        ]);
      },
      { path: `/p/${PROJECT.id}?tab=x`, state: SIGNED_OUT },
    ),
  );

  const refusal = (statusCode: number, code: string) => ({
    status: statusCode,
    json: { success: false, error: { code, statusCode, message: "Refused.", requestId: "1" } },
  });
  /** The browser logs each refused request. */
  const isExpected = (problem: string) => /status of 40[13]/.test(problem);

  pageTest("an action that needs the password again asks for it, and then runs", async () => {
    const opened = await openPage(`${server.url}/app/account`, { prepare: answerState });
    const { page } = opened;
    await page.getByRole("button", { name: "End" }).waitFor();
    const calls: string[] = [];
    await page.route("**/app/api/confirm", (route) => {
      calls.push("confirm");
      return route.fulfill({ status: 204 });
    });
    await page.route("**/app/api/account/sessions/*", (route) => {
      calls.push("end");
      return route.fulfill(
        calls.includes("confirm") ? { status: 204 } : refusal(403, "CONFIRMATION_REQUIRED"),
      );
    });
    await page.getByRole("button", { name: "End" }).click();
    const dialog = page.getByRole("dialog", { name: "Enter your password" });
    await dialog.getByRole("textbox", { name: "Password" }).fill("the harbour is quiet");
    expect(await opened.findings()).toEqual([]);
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "hidden" });
    expect(calls).toEqual(["end", "confirm", "end"]);
    expect(opened.problems.filter((problem) => !isExpected(problem))).toEqual([]);
    await opened.close();
  });
});
