/** The list of contacts: search, columns, export, many rows, and live messages. */

import { describe, expect } from "bun:test";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { openData } from "../support/dashboard-server.ts";
import { expectSoon } from "../support/eventually.ts";
import { valueAt } from "../support/json.ts";
import { beforePages, pageTest } from "../support/page-test.ts";
import { closeMessage } from "./messages.ts";
import {
  ageSessions,
  newProjectWithPeople,
  openAs,
  PASSWORD,
  type PeopledProject,
} from "./people.ts";

let project: PeopledProject;

const LONG_NAME = "A very long name ".repeat(600);
const CONTACTS = [
  { email: "ada@example.com", data: { name: "Ada", plan: "pro", orders: 3 } },
  { email: "grace@acme.example", data: { name: "<img src=x onerror=alert(1)>", plan: "free" } },
  { email: "layla@example.com", data: { name: "ليلى بنت محمد", plan: "pro" } },
  { email: "emoji@example.com", data: { name: "👩‍👩‍👧‍👦 Family 🎉", plan: "free" } },
  {
    email: "long@example.com",
    data: { name: LONG_NAME, plan: "pro", "<b>key</b>": { a: [1, 2] } },
  },
];

beforePages(async () => {
  project = await newProjectWithPeople();
  for (const contact of CONTACTS) await project.call("POST", "/contacts", contact);
  await project.call("POST", "/contacts", { email: "gone@acme.example", subscribed: false });
});

const rows = (page: Page) => page.locator("[data-row]");
const params = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);
/** The names of the columns, without the one of the checkboxes. */
const heads = async (page: Page) =>
  (await page.locator("thead th").allTextContents()).filter((text) => text !== "");

describe("the list of contacts", () => {
  pageTest(
    "shows any data in the columns that a user chose, and is searched and scrolled",
    async () => {
      const { page, problems, overflowPx, close } = await openAs(project, "/contacts");
      await page.getByText("6 contacts").waitFor();
      await rows(page).getByText("<img src=x onerror=alert(1)>").waitFor();
      expect(await overflowPx()).toBe(0);
      await expectSoon(() => heads(page), ["Address", "Subscription", "name", "plan", "Created"]);
      await page.getByRole("button", { name: "Columns" }).click();
      const picker = page.getByRole("dialog", { name: "Columns" });
      await picker.getByLabel("Find a field").fill("ORD");
      await picker.getByLabel("orders").check();
      await picker.getByLabel("Subscription").uncheck();
      const chosen = ["Address", "name", "plan", "Created", "orders"];
      await expectSoon(() => heads(page), chosen);
      await page.keyboard.press("Escape");
      await page.reload();
      await page.getByRole("columnheader", { name: "orders" }).waitFor();
      await expectSoon(() => heads(page), chosen);

      await page.keyboard.press("/");
      await page.keyboard.type("ACME");
      await page.keyboard.press("Enter");
      await page.getByText("2 contacts").waitFor();
      await page.keyboard.type("subscribed:no");
      await page.keyboard.press("Enter");
      await page.getByText("1 contact", { exact: true }).waitFor();
      await expectSoon(() => params(page), { q: "ACME", subscribed: "no" });
      await page.keyboard.press("Escape");
      await page.keyboard.press("Tab");
      await rows(page).getByRole("link", { name: "gone@acme.example" }).click();
      await page.getByRole("heading", { level: 1, name: "gone@acme.example" }).waitFor();
      await page.goBack();
      await page.getByText("1 contact", { exact: true }).waitFor();

      // Few rows of a long list are in the document.
      addContacts(500);
      await page.getByRole("link", { name: "Contacts", exact: true }).first().click();
      await page.keyboard.press("/");
      await page.keyboard.type("@many.example");
      await page.keyboard.press("Enter");
      await page.getByText("500 contacts").waitFor();
      await rows(page).first().waitFor();
      // Each scroll to the end loads the next hundred.
      await expectSoon(async () => {
        await page.evaluate("document.querySelector('.table-scroll').scrollTo(0, 1e9)");
        return page.locator('[data-row="499"]').count();
      }, 1);
      expect(await rows(page).count()).toBeLessThanOrEqual(60);
      expect(await page.locator("table").getAttribute("aria-rowcount")).toBe("501");
      expect(problems).toEqual([]);
      await close();
    },
  );

  pageTest(
    "an editor saves the rows of a search after the password, and adds a contact",
    async () => {
      ageSessions(project);
      const { page, problems, close } = await openAs(project, "/contacts?subscribed=no", {
        person: "editor",
      });
      await rows(page).first().waitFor();
      await page.getByRole("button", { name: "Export CSV" }).click();
      const question = page.getByRole("dialog", { name: "Enter your password" });
      await question.getByRole("textbox", { name: "Password" }).fill(PASSWORD);
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.keyboard.press("Enter"),
      ]);
      const [head, ...lines] = readFileSync(await download.path(), "utf8")
        .trimEnd()
        .split("\r\n");
      expect(head).toBe("\uFEFFemail,subscribed,name,plan,json:<b>key</b>,orders");
      expect(lines.map((line) => line.split(",").slice(0, 2))).toEqual([
        ["gone@acme.example", "false"],
      ]);
      await question.waitFor({ state: "detached" });
      await page.keyboard.press("c");
      await page.getByLabel("Email address").fill("Ada@example.com ");
      await page.keyboard.press("Enter");
      // The address has a contact, which opens.
      await page.getByRole("heading", { level: 1, name: "ada@example.com" }).waitFor();
      await page.goBack();
      await rows(page).first().waitFor();
      await page.keyboard.press("c");
      const dialog = page.getByRole("dialog", { name: "Add a contact" });
      await dialog.getByLabel("Email address").fill("new@example.com");
      await dialog.getByLabel("Name", { exact: true }).fill("Nina New");
      await dialog.getByRole("button", { name: "Add a field" }).click();
      await dialog.getByRole("combobox", { name: "Name of the field" }).fill("age");
      await dialog.getByLabel("Type of age").click();
      await page.getByRole("option", { name: "Number" }).click();
      await dialog.getByLabel("Value of age").fill("x");
      await dialog.getByLabel("Gets campaigns").uncheck();
      await dialog.getByRole("button", { name: "Add the contact" }).click();
      await dialog.getByText("Write a number").waitFor();
      await dialog.getByLabel("Value of age").fill("41");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name: "new@example.com" }).waitFor();
      const added = await project.call("GET", "/contacts?search=nina");
      expect(valueAt(added, "contacts.0.data")).toEqual({ name: "Nina New", age: 41 });
      expect(valueAt(added, "contacts.0.subscribed")).toBe(false);
      expect(problems.filter((text) => !text.includes("status of 403"))).toEqual([]);
      await close();
    },
  );

  pageTest("keeps new contacts behind a button, and offers a viewer no change", async () => {
    const { page, problems, close } = await openAs(project, "/contacts?q=@live.example", {
      person: "viewer",
      isLive: true,
    });
    const add = (name: string) =>
      project.call("POST", "/contacts", { email: `${name}@live.example` });
    await page.getByText("No rows match").waitFor();
    await add("one");
    // An empty list shows the first contact at once.
    await rows(page).getByText("one@live.example").waitFor();
    await add("two");
    await page.getByRole("button", { name: "1 new" }).click();
    await rows(page).getByText("two@live.example").waitFor();
    await page.getByText("2 contacts").waitFor();
    expect(await page.getByRole("button", { name: /Export|Add a/ }).count()).toBe(0);
    expect(problems).toEqual([]);
    await close();
  });
});

/** Adds contacts to the project directly. */
function addContacts(count: number): void {
  using db = openData(project);
  db.run(
    `WITH RECURSIVE number (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < ${count})
     INSERT INTO contacts (id, project_seq, email, is_subscribed, data, created_at, updated_at)
     SELECT 'many-' || i, (SELECT seq FROM projects WHERE id = ?), 'c' || i || '@many.example', 1,
            '{}', 1767348000000, 1767348000000 FROM number`,
    [project.project],
  );
}

/** The names of the rows, which are one capital letter and more. */
const lettersOf = (texts: readonly string[]): string =>
  texts.map((text) => /\b(?:ADA|BOB|CYD)\b/.exec(text)?.[0][0]).join("");

pageTest(
  "selected contacts, or all that match, are unsubscribed and deleted after a question",
  async () => {
    const own = await newProjectWithPeople();
    for (const [i, name] of ["ada", "bob", "cyd"].entries()) {
      const data = { name: name.toUpperCase(), city: i < 2 ? "Berlin" : "Rome", score: 2 - i };
      await own.call("POST", "/contacts", { email: `${name}@bulk.example`, data });
    }
    const { page, problems, close } = await openAs(own, "/contacts");
    await page.getByText("3 contacts").waitFor();
    await page.getByRole("columnheader", { name: "score" }).getByRole("button").click();
    await expectSoon(() => rows(page).allInnerTexts().then(lettersOf), "CBA");
    await page.keyboard.press("/");
    await page.keyboard.type("City:berlin");
    await page.keyboard.press("Enter");
    await page.getByText("2 contacts").waitFor();
    await expectSoon(() => params(page), { data: "city:berlin", sort: "data.score" });

    await page.getByLabel("Select all loaded rows").check();
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Add to a segment" }).click();
    const segments = page.getByRole("dialog", { name: "Add to a segment" });
    await segments.getByLabel("Segment", { exact: true }).click();
    await page.getByRole("option", { name: "A new segment" }).click();
    await segments.getByLabel("Name of the new segment").fill("Berliners");
    await page.keyboard.press("Enter");
    await closeMessage(page, "2 contacts added.");
    const segment = await own.call("GET", "/segments");
    expect(valueAt(segment, "data.items.0.memberCount")).toBe(2);

    await page.getByLabel("Select all loaded rows").check();
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Set a value" }).click();
    await page.getByRole("combobox", { name: "Name of the field" }).fill("city");
    await page.getByLabel("Value of city").fill("Hamburg");
    await page.getByRole("button", { name: "Change 2 contacts" }).click();
    await closeMessage(page, "2 contacts changed.");
    await page.getByText("No rows match").waitFor();
    await page.getByRole("button", { name: "Clear filters" }).click();
    await page.keyboard.press("/");
    await page.keyboard.type("bulk");
    await page.keyboard.press("Enter");
    await page.getByText("3 contacts").waitFor();
    await page.locator("[data-row]", { hasText: "bob@" }).getByRole("checkbox").check();
    await page.getByRole("button", { name: "Unsubscribe", exact: true }).click();
    await page.getByRole("button", { name: "Unsubscribe 1 contact" }).click();
    await closeMessage(page, "1 contact unsubscribed.");
    const bob = await own.call("GET", "/contacts?search=bob");
    expect(valueAt(bob, "contacts.0.subscribed")).toBe(false);
    await page.locator("[data-row]", { hasText: "bob@" }).getByRole("checkbox").check();
    await page.getByRole("button", { name: "Unsubscribe", exact: true }).click();
    await page.getByRole("button", { name: "Unsubscribe 1 contact" }).click();
    await closeMessage(page, "0 contacts unsubscribed. 1 contact was not subscribed before.");
    await page.locator("[data-row]", { hasText: "ada@" }).getByRole("checkbox").check();
    await page.getByRole("button", { name: "Select all 3" }).click();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("button", { name: "Delete 3 contacts" }).click();
    await page.getByText("3 contacts deleted.").waitFor();
    await expectSoon(async () => valueAt(await own.call("GET", "/contacts"), "total"), 0);
    await rows(page).first().waitFor({ state: "detached" });
    expect(problems).toEqual([]);
    await close();
  },
);
