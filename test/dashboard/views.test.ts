/** Saved views: saving, choosing, sharing, renaming, deleting, and the command palette. */

import { describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { expectSoon } from "../support/eventually.ts";
import { listAt, stringAt } from "../support/json.ts";
import { expectNoFaults } from "./layouts.ts";
import { openAs, type PeopledProject, newProjectWithPeople } from "./people.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

let server: PeopledProject;

beforePages(async () => {
  server = await newProjectWithPeople();
  for (const email of ["ada@example.com", "grace@example.com"]) {
    await server.call("POST", "/suppressions", { email, reason: "MANUAL" });
  }
  await server.call("POST", "/suppressions", { email: "bob@example.com", reason: "COMPLAINT" });
  await server.call("POST", "/segments", {
    name: "Readers of the letter",
    type: "STATIC",
  });
  await server.call("POST", "/webhooks", {
    url: "https://hooks.shop.example/mail",
    events: ["email.sent"],
  });
});

const rows = (page: Page) => page.locator("[data-row]");
const params = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);
const dialog = (page: Page, name: string) => page.getByRole("dialog", { name });
const views = (page: Page) => page.getByRole("button", { name: /^Saved view/ });
const item = (page: Page, name: string | RegExp) => page.getByRole("menuitem", { name });
const stored = async () =>
  listAt(await server.call("GET", "/views"), "data.items").map((view) => stringAt(view, "name"));

async function search(page: Page, text: string): Promise<void> {
  await page.keyboard.press("/");
  await page.keyboard.type(text);
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
}

async function save(page: Page, name: string, isShared = false): Promise<void> {
  await views(page).click();
  await item(page, "Save this search…").click();
  const form = dialog(page, "Save this search");
  await form.getByLabel("Name").fill(name);
  if (isShared) await form.getByLabel("Share with the project").click({ force: true });
  await form.getByRole("button", { name: "Save the view" }).click();
}

describe("saved views", () => {
  pageTest(
    "an editor saves a search, chooses it, shares it, renames it, deletes it and undoes that",
    async () => {
      const { page, problems, close } = await openAs(server, "/suppressions", {
        person: "editor",
      });
      await rows(page).nth(2).waitFor();
      await views(page).click();
      await page.getByText("No saved views yet.").waitFor();
      await item(page, "Save this search…").click();
      await page.getByText("The list shows all of its rows.").waitFor();
      await page.keyboard.press("Escape");
      await dialog(page, "Save this search").waitFor({ state: "detached" });
      await search(page, "reason:complaint");
      await page.getByText("1 address", { exact: true }).waitFor();
      await save(page, "Complaints");
      await page.getByRole("button", { name: "Saved view: Complaints" }).waitFor();

      await page.goto(page.url().split("?")[0] ?? "");
      await rows(page).nth(2).waitFor();
      await views(page).click();
      await item(page, "Complaints").click();
      await page.getByText("1 address", { exact: true }).waitFor();
      expect(params(page)).toEqual({ reason: "complaint" });

      await page.goto(`${page.url().split("?")[0]}?reason=manual`);
      await page.getByText("2 addresses", { exact: true }).waitFor();
      await save(page, "Complaints");
      const form = dialog(page, "Save this search");
      await form.getByText('A view with the name "Complaints" exists on this page.').waitFor();
      await form.getByRole("button", { name: "Cancel" }).click();
      await form.waitFor({ state: "detached" });

      await views(page).click();
      await item(page, "Manage views…").click();
      const manage = dialog(page, "Saved views");
      await manage.getByRole("button", { name: "Actions of Complaints" }).click();
      await item(page, "Share with the project").click();
      await manage.getByText("Shared · reason: complaint").waitFor();
      await expectSoon(stored, ["Complaints"]);
      await manage.getByRole("button", { name: "Actions of Complaints" }).click();
      await item(page, "Rename").click();
      await manage.getByLabel("New name of Complaints").fill("Spam reports");
      await page.keyboard.press("Enter");
      await manage.getByText("Spam reports", { exact: true }).waitFor();
      await manage.getByRole("button", { name: "Actions of Spam reports" }).click();
      await item(page, "Delete").click();
      await manage.getByText("There are no saved views.").waitFor();
      await page.getByRole("button", { name: "Undo" }).click();
      await manage.getByText("Spam reports", { exact: true }).waitFor();
      await expectSoon(stored, ["Spam reports"]);
      expect(problems.filter((problem) => !problem.includes("status of 409"))).toEqual([]);
      await close();
    },
  );

  pageTest(
    "a viewer uses a shared view and has own ones, and an admin deletes it after a question",
    async () => {
      const viewer = await openAs(server, "/suppressions?reason=manual", {
        person: "viewer",
      });
      await rows(viewer.page).nth(1).waitFor();
      await views(viewer.page).click();
      await viewer.page.getByText("Shared with the project").waitFor();
      await item(viewer.page, /Spam reports/).click();
      await viewer.page.getByText("1 address", { exact: true }).waitFor();
      await search(viewer.page, "bob");
      await views(viewer.page).click();
      await item(viewer.page, "Save this search…").click();
      const form = dialog(viewer.page, "Save this search");
      await form.getByText('"bob", reason: complaint').waitFor();
      expect(await form.getByLabel("Share with the project").count()).toBe(0);
      await form.getByLabel("Name").fill("Bob");
      await viewer.page.keyboard.press("Enter");
      await viewer.page.getByRole("button", { name: "Saved view: Bob" }).waitFor();
      await views(viewer.page).click();
      await item(viewer.page, "Manage views…").click();
      const own = dialog(viewer.page, "Saved views");
      await own.getByRole("button", { name: "Actions of Bob" }).waitFor();
      expect(await own.getByRole("button", { name: "Actions of Spam reports" }).count()).toBe(0);
      expect(viewer.problems).toEqual([]);
      await viewer.close();

      const { page, problems, close } = await openAs(server, "/suppressions");
      await rows(page).nth(2).waitFor();
      await views(page).click();
      await item(page, "Manage views…").click();
      const manage = dialog(page, "Saved views");
      expect(await manage.getByRole("listitem").count()).toBe(1);
      await manage.getByText("Shared by Eva Editor · reason: complaint").waitFor();
      await manage.getByRole("button", { name: "Actions of Spam reports" }).click();
      await item(page, "Delete…").click();
      const question = dialog(page, "Delete this view?");
      await question.getByRole("button", { name: "Delete the view" }).click();
      await manage.getByText("There are no saved views.").waitFor();
      expect(await stored()).toEqual([]);
      expect(problems).toEqual([]);
      await close();
    },
  );

  pageTest(
    "every layout of the list, its menu and its dialog is accessible, quiet and fits the window",
    async () => {
      for (const [name, query] of [
        ["Complaints of this year", "reason=complaint"],
        ["A name that is as long as a person may want it to be, and longer", "q=example"],
      ]) {
        const view = { page: "suppressions", name, query, isShared: true };
        await server.call("POST", "/views", view);
      }
      const path = "/suppressions?reason=complaint";
      await expectNoFaults(await openAs(server, path), {
        name: "views-menu",
        layouts: ["light", "dark", "phone"],
        async isShown(page) {
          await rows(page).first().waitFor();
          if ((await item(page, "Manage views…").count()) === 0) await views(page).click();
          await item(page, "Manage views…").waitFor();
        },
      });
      const wide = { page: "emails", name: "Bounced in the last ninety days, by all" };
      const query = "status=bounced&range=90d";
      await server.call("POST", "/views", { ...wide, query, isShared: true });
      await expectNoFaults(await openAs(server, `/emails?${query}`), {
        name: "views-emails",
        layouts: ["light", "phone"],
        async isShown(page) {
          await page.getByRole("button", { name: `Saved view: ${wide.name}` }).waitFor();
          await page.getByText("No rows match these filters.").waitFor();
        },
      });
      await expectNoFaults(await openAs(server, path), {
        name: "views-manage",
        layouts: ["light", "phone-dark"],
        async isShown(page) {
          await rows(page).first().waitFor();
          if ((await dialog(page, "Saved views").count()) === 0) {
            await views(page).click();
            await item(page, "Manage views…").click();
          }
          await dialog(page, "Saved views").getByText("Complaints of this year").waitFor();
        },
      });
    },
  );
});

describe("the command palette", () => {
  const PLACE = "Search pages, contacts, projects and actions";

  async function find(page: Page, text: string): Promise<void> {
    await page.keyboard.press("ControlOrMeta+k");
    await page.getByPlaceholder(PLACE).fill(text);
  }
  const found = (page: Page, name: string) =>
    page.locator("[data-action]").filter({ hasText: name });

  pageTest(
    "opens a view, a segment and a webhook by a part of the name, and an action by role",
    async () => {
      const view = { page: "emails", name: "Bounced lately", query: "status=bounced" };
      await server.call("POST", "/views", { ...view, isShared: true });
      const { page, problems, close } = await openAs(server, "/suppressions");
      await rows(page).nth(2).waitFor();
      await find(page, "ounced la");
      await found(page, "Bounced lately").click();
      await page.getByRole("heading", { level: 1, name: "Emails" }).waitFor();
      expect(params(page)).toEqual({ status: "bounced" });
      await find(page, "the lett");
      await found(page, "Readers of the letter").click();
      await page.getByRole("heading", { level: 1, name: "Readers of the letter" }).waitFor();
      await find(page, "hooks.sh");
      await found(page, "https://hooks.shop.example/mail").click();
      await page.getByRole("heading", { level: 1, name: /hooks\.shop\.example/ }).waitFor();
      await find(page, "suppress an");
      await found(page, "Suppress an address").click();
      const add = dialog(page, "Suppress an address");
      await add.getByRole("button", { name: "Cancel" }).click();
      await add.waitFor({ state: "detached" });
      await find(page, "suppress an");
      await found(page, "Suppress an address").click();
      await add.waitFor();
      await page.reload();
      await rows(page).nth(2).waitFor();
      expect(await add.count()).toBe(0);
      expect(problems).toEqual([]);
      await close();

      const viewer = await openAs(server, "/suppressions", { person: "viewer" });
      await rows(viewer.page).nth(2).waitFor();
      await find(viewer.page, "suppress");
      await found(viewer.page, "Suppressions").first().waitFor();
      expect(await found(viewer.page, "Suppress an address").count()).toBe(0);
      await viewer.close();
    },
  );
});
