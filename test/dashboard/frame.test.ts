/** The frame of the dashboard: palette, shortcuts, menus, themes, and the way to the sign-in page. */

import { describe, expect } from "bun:test";
import { openPage } from "../support/browser.ts";
import { type DashboardProject, newProject } from "../support/dashboard-server.ts";
import { expectSoon } from "../support/eventually.ts";
import { pageTest, beforePages } from "../support/page-test.ts";
import { listAt, stringAt, valueAt } from "../support/json.ts";
import { invite, PASSWORD } from "./people.ts";

let first: DashboardProject;
let second: DashboardProject;
/** The session of a person who is a member of both projects. */
let cookie = "";

beforePages(async () => {
  first = await newProject();
  second = await newProject();
  await second.call("PATCH", `/projects/${second.project}`, { name: "Breakwater" });
  cookie = (await invite(first, "Frida Frame", "VIEWER")) ?? "";
  await invite(second, "Frida Frame", "VIEWER", cookie);
});

const open = () => openPage(`${first.url}/app/p/${first.project}`, { cookie });
const SCHEME = "document.documentElement.getAttribute('data-mantine-color-scheme')";

describe("the frame", () => {
  pageTest("no page that the menu of a viewer opens is refused", async () => {
    const { page, problems, close } = await open();
    const refused: string[] = [];
    page.on("response", (response) => {
      if (response.status() === 403) refused.push(response.url());
    });
    const items = page.getByRole("navigation", { name: "Pages" }).getByRole("link");
    await items.first().waitFor();
    const names = await items.allInnerTexts();
    expect(names).not.toContain("API keys");
    for (const name of names) {
      await items.filter({ hasText: name }).click();
      await page.getByRole("heading", { level: 1, name }).waitFor();
      await page.waitForLoadState("networkidle");
      expect([name, await page.getByText(/This page is for/).count()]).toEqual([name, 0]);
    }
    expect(refused).toEqual([]);
    expect(problems).toEqual([]);
    await close();
  });

  pageTest("the content keeps the focus if another page replaces the one that loads", async () => {
    const sender = { subject: "Spring", from: "news@acme.example", audienceType: "ALL" };
    const body = { name: "Spring letter", body: "<p>Hello</p>", ...sender };
    const draft = stringAt(await first.call("POST", "/campaigns", body), "data.id");
    const released = Promise.withResolvers<void>();
    const { page, problems, close } = await openPage(
      `${first.url}/app/p/${first.project}/campaigns`,
      { cookie: first.cookie },
    );
    await page.route(`**/campaigns/${draft}`, async (route) => {
      await released.promise;
      await route.continue();
    });
    await page.getByRole("link", { name: "Spring letter" }).press("Enter");
    await page.getByRole("heading", { level: 1, name: "Campaign", exact: true }).waitFor();
    await page.locator("main .page:focus").waitFor();
    // The new page gets the focus again when a dialog that has led to it has closed.
    await page.evaluate("new Promise((resolve) => setTimeout(resolve, 300))");
    released.resolve();
    await page.getByRole("textbox", { name: "Name of the campaign" }).waitFor();
    await page.locator("main .page:focus").waitFor();
    expect(problems).toEqual([]);
    await close();
  });

  pageTest(
    "by keyboard: the link to the content, the palette, shortcuts and their list",
    async () => {
      const { page, problems, close } = await open();
      const heading = (name: string) => page.getByRole("heading", { level: 1, name }).waitFor();
      await heading("Overview");
      await page.keyboard.press("Tab");
      await page.locator("a:focus", { hasText: "Skip to the content" }).waitFor();
      await page.keyboard.press("Enter");
      // The part that scrolls, so that the arrow keys do.
      await page.locator("main .page:focus").waitFor();

      const search = page.getByPlaceholder("Search pages, contacts, projects and actions");
      await page.keyboard.press("Control+k");
      await search.waitFor();
      await page.keyboard.press("Escape");
      await search.waitFor({ state: "hidden" });
      await page.keyboard.press("Control+k");
      await search.fill("account");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await heading("Account");

      await page.keyboard.press("g");
      await page.keyboard.press("e");
      await heading("Emails");
      await page.keyboard.press("g");
      await page.keyboard.press("o");
      await heading("Overview");

      await page.keyboard.press("?");
      const list = page.getByRole("dialog", { name: "Keyboard shortcuts" });
      await list.getByLabel("Shortcuts of single keys").click();
      await page.keyboard.press("Escape");
      await list.waitFor({ state: "hidden" });
      await page.keyboard.press("?");
      await page.keyboard.press("Control+k");
      await search.waitFor();
      expect(await list.count()).toBe(0);
      expect(problems).toEqual([]);
      await close();
    },
  );

  pageTest(
    "by mouse: the theme, the drawer of phones with its layers, and the page without a session",
    async () => {
      const { page, problems, close } = await open();
      await expectSoon(() => page.evaluate(SCHEME), "light");
      await page.getByRole("button", { name: /^Account:/ }).click();
      await page.getByRole("menuitem", { name: "Dark" }).click();
      await expectSoon(() => page.evaluate(SCHEME), "dark");
      // The theme is set before the first paint.
      await page.reload({ waitUntil: "commit" });
      await page.locator("body").waitFor({ state: "attached" });
      await expectSoon(() => page.evaluate(SCHEME), "dark");

      await page.setViewportSize({ width: 390, height: 844 });
      await page.getByRole("button", { name: "Open the menu" }).click();
      const menu = page.getByRole("dialog", { name: "Menu" });
      await menu.getByRole("link", { name: "Overview" }).waitFor();
      // Esc closes the menu of projects, and then the drawer.
      const projects = menu.getByRole("button", { name: /^Project: / });
      const choice = page.getByRole("menuitem", { name: "Breakwater" });
      await projects.click();
      await choice.waitFor();
      await page.keyboard.press("Escape");
      await choice.waitFor({ state: "detached" });
      await projects.waitFor();
      await page.keyboard.press("Escape");
      await menu.waitFor({ state: "hidden" });

      await page.getByRole("button", { name: "Open the menu" }).click();
      await projects.click();
      await choice.click();
      await menu.waitFor({ state: "hidden" });
      expect(new URL(page.url()).pathname).toBe(`/app/p/${second.project}`);

      // Afterwards, requests of the overview that are under way are answered with 401.
      expect(problems).toEqual([]);
      await page.context().clearCookies();
      // A browser of this machine would be signed in.
      await page.setExtraHTTPHeaders({ "x-forwarded-for": "192.0.2.1" });
      await page.goto(`${first.url}/app/p/${first.project}?tab=x`);
      await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
      const { pathname, searchParams } = new URL(page.url());
      const next = `/p/${first.project}?tab=x`;
      expect([pathname, searchParams.get("next")]).toEqual(["/app/login", next]);
      await close();
    },
  );
});

pageTest("the user of an existing account signs in to accept an invitation", async () => {
  const third = await newProject();
  const email = "frida@acme.example";
  const invited = await third.call("POST", "/team/invitations", { email, role: "EDITOR" });
  const { page, problems, close } = await openPage(stringAt(invited, "data.link"));
  const password = page.getByLabel("Password of your account");
  const accept = page.getByRole("button", { name: "Sign in and accept the invitation" });
  await password.fill("not the password");
  await accept.click();
  await page.getByText("The address or the password is wrong.").waitFor();
  await password.fill(PASSWORD);
  await accept.click();
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  const state = await page.evaluate("fetch('/app/api/state').then((answer) => answer.json())");
  const projects = listAt(state, "data.projects").map((project) => valueAt(project, "id"));
  expect(projects).toContain(third.project);
  expect(problems).toEqual([expect.stringContaining("401")]);
  await close();
});
