/** Saved views: saving, choosing, sharing, renaming and deleting. */

import { describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { expectSoon } from "../support/eventually.ts";
import { listAt, stringAt } from "../support/json.ts";
import { openAs, type PeopledProject, newProjectWithPeople } from "./people.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

let server: PeopledProject;
const LONG_NAME = "Reports of spam, with a name that is as long as a person may want it to be";

beforePages(async () => {
  server = await newProjectWithPeople();
  for (const email of ["ada@example.com", "grace@example.com"]) {
    await server.call("POST", "/suppressions", { email, reason: "MANUAL" });
  }
  await server.call("POST", "/suppressions", { email: "bob@example.com", reason: "COMPLAINT" });
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

/** Shows the list without filters, by its link. */
async function openList(page: Page): Promise<void> {
  await page.getByRole("link", { name: "Suppressions", exact: true }).first().click();
  await rows(page).nth(2).waitFor();
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

      await openList(page);
      await views(page).click();
      await item(page, "Complaints").click();
      await page.getByText("1 address", { exact: true }).waitFor();
      expect(params(page)).toEqual({ reason: "complaint" });

      await openList(page);
      await search(page, "reason:manual");
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
      await manage.getByLabel("New name of Complaints").fill(LONG_NAME);
      await page.keyboard.press("Enter");
      await manage.getByText(LONG_NAME, { exact: true }).waitFor();
      await manage.getByRole("button", { name: `Actions of ${LONG_NAME}` }).click();
      await item(page, "Delete").click();
      await manage.getByText("There are no saved views.").waitFor();
      await page.getByRole("button", { name: "Undo" }).click();
      await manage.getByText(LONG_NAME, { exact: true }).waitFor();
      await expectSoon(stored, [LONG_NAME]);
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
      await item(viewer.page, LONG_NAME).click();
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
      expect(await own.getByRole("button", { name: `Actions of ${LONG_NAME}` }).count()).toBe(0);
      expect(viewer.problems).toEqual([]);
      await viewer.close();

      const { page, problems, findings, overflowPx, close } = await openAs(
        server,
        "/suppressions?reason=complaint",
        { layout: "phone" },
      );
      await page.getByRole("button", { name: `Saved view: ${LONG_NAME}` }).click();
      await item(page, LONG_NAME).waitFor();
      expect(await overflowPx()).toBe(0);
      // The table of all pages does not have this dialog, because it changes the project.
      expect(await findings()).toEqual([]);
      await item(page, "Manage views…").click();
      const manage = dialog(page, "Saved views");
      expect(await manage.getByRole("listitem").count()).toBe(1);
      await manage.getByText("Shared by Eva Editor · reason: complaint").waitFor();
      expect(await overflowPx()).toBe(0);
      await manage.getByRole("button", { name: `Actions of ${LONG_NAME}` }).click();
      await item(page, "Delete…").click();
      const question = dialog(page, "Delete this view?");
      await question.getByRole("button", { name: "Delete the view" }).click();
      await manage.getByText("There are no saved views.").waitFor();
      expect(await stored()).toEqual([]);
      expect(problems).toEqual([]);
      await close();
    },
  );
});
