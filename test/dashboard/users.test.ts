/** The pages of owners: the users of the installation, and its audit log. */

import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { faultsOf, NO_FAULTS, type OpenedPage, openPage } from "../support/browser.ts";
import { expectSoon } from "../support/eventually.ts";
import { stringAt } from "../support/json.ts";
import { beforePages, pageTest } from "../support/page-test.ts";
import { newProjectWithPeople, type PeopledProject, type Person } from "./people.ts";

let server: PeopledProject;
let project: string;

beforePages(async () => {
  server = await newProjectWithPeople();
  project = stringAt(await server.call("GET", `/projects/${server.project}`), "data.name");
});

const open = (path: string, person: Person = "owner") =>
  openPage(`${server.url}/app${path}`, { cookie: server.people[person] });
const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
const params = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);

/** Checks the page and saves it. All layouts are those of `scripts/pages.ts`. */
async function check(opened: OpenedPage, name: string): Promise<void> {
  expect([name, await faultsOf(opened)]).toEqual([name, NO_FAULTS]);
  await opened.screenshot(name);
}

pageTest("an owner adds a user, makes an owner of the user, and disables the user", async () => {
  const opened = await open("/admin/users");
  const { page, problems } = opened;
  await page.getByText(/^\d+ users$/).waitFor();
  await page.keyboard.press("c");
  const dialog = page.getByRole("dialog", { name: "Add a user" });
  await dialog.getByLabel("Email address").fill("grace@acme.example");
  await dialog.getByLabel("Name").fill("Grace Hopper");
  await dialog.getByRole("combobox", { name: "Project" }).click();
  await page.getByRole("option", { name: project, exact: true }).click();
  await dialog.getByRole("combobox", { name: "Role in the project" }).click();
  await page.getByRole("option", { name: "Editor" }).click();
  await dialog.getByRole("button", { name: "Add the user" }).click();
  const link = page.getByRole("textbox", { name: "Sign-in link" });
  await link.waitFor();
  expect(await link.inputValue()).toMatch(/\/app\/link#[0-9A-Za-z]{43}$/);
  await check(opened, "user-link");
  await press(page, "Done");

  await page.getByRole("dialog").waitFor({ state: "hidden" });
  await page.locator("[data-row]", { hasText: "Grace Hopper" }).waitFor();
  await check(opened, "users");
  await page.keyboard.press("/");
  await page.keyboard.type("hopper");
  await page.keyboard.press("Enter");
  await page.getByText("1 user", { exact: true }).waitFor();
  await page.locator("[data-row]", { hasText: "Grace Hopper" }).click();
  const drawer = page.locator(".drawer");
  await drawer.getByText(`Editor of ${project}`).waitFor();
  await expectSoon(() => Object.keys(params(page)), ["q", "user"]);
  await check(opened, "user");

  await press(page, "Make an owner");
  await page.getByRole("dialog", { name: "Make Grace Hopper an owner?" }).waitFor();
  await page
    .getByRole("dialog", { name: /^Make/ })
    .getByRole("button", { name: "Make an owner" })
    .click();
  await drawer.getByText("Owner of the installation").waitFor();
  await press(page, "Disable");
  await press(page, "Disable the user");
  await drawer.getByText("Disabled", { exact: true }).waitFor();
  expect(await drawer.getByRole("button", { name: "Make a sign-in link" }).count()).toBe(0);
  await press(page, "Enable");
  await press(page, "Enable the user");
  await press(page, "Make a sign-in link");
  await page.getByRole("textbox", { name: "Sign-in link" }).waitFor();
  expect(problems).toEqual([]);
  await opened.close();
});

pageTest(
  "the log of the installation says in sentences what was changed, and is exported",
  async () => {
    // Other projects of this server have templates as well.
    const names = { before: `Welcome to ${project}`, after: `Hello from ${project}` };
    const fields = { type: "TRANSACTIONAL", subject: "s", body: "<p>b</p>" };
    const template = { name: names.before, ...fields };
    const made = await server.call("POST", "/templates", template);
    const id = stringAt(made, "data.id");
    const path = `/templates/${id}`;
    await server.call("PATCH", path, { from: "shop@acme.example" });
    await server.call("PATCH", path, { name: names.after, subject: "Good day" });
    const opened = await open("/admin/audit");
    const { page, problems } = opened;
    const row = (text: string) => page.locator("[data-row]", { hasText: text });
    await row(`changed sender of template ${names.before}: none → shop@acme.example`).waitFor();
    await row(`changed template ${names.after}: name: ${names.before} → ${names.after}`).waitFor();
    await check(opened, "audit");

    await page.keyboard.press("/");
    await page
      .getByPlaceholder("Search: actor, action, object")
      .and(page.locator(":focus"))
      .waitFor();
    await page.keyboard.type(`type:template object:${id}`);
    await page.keyboard.press("Enter");
    await page.getByText("3 changes", { exact: true }).waitFor();
    await press(page, "Export");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: "NDJSON, for programs" }).click(),
    ]);
    const lines = readFileSync(await download.path(), "utf8")
      .trimEnd()
      .split("\n");
    expect(lines).toHaveLength(3);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({
      action: "updateTemplate",
      objectName: names.after,
      project: { name: project },
    });
    expect(problems).toEqual([]);
    await opened.close();
  },
);

pageTest("others are told that the pages are for owners", async () => {
  for (const path of ["/admin/users", "/admin/audit"]) {
    const { page, problems, close } = await open(path, "admin");
    await page.getByText("This page is for owners of the installation").waitFor();
    expect([path, problems]).toEqual([path, []]);
    await close();
  }
});
