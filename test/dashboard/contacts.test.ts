/** The list of contacts: search, columns, export, 50,000 rows, and its states. */

import { describe, expect } from "bun:test";
import { openData } from "../support/dashboard-server.ts";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { openPage } from "../support/browser.ts";
import { expectSoon } from "../support/eventually.ts";
import { expectNoFaults } from "./layouts.ts";
import {
  failingList,
  openAs,
  PASSWORD,
  ageSessions,
  type PeopledProject,
  statusOf,
  newProjectWithPeople,
} from "./people.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

let server: PeopledProject;

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
  server = await newProjectWithPeople();
  for (const contact of CONTACTS) await server.call("POST", "/contacts", contact);
  await server.call("POST", "/contacts", { email: "gone@acme.example", subscribed: false });
});

const rows = (page: Page) => page.locator("[data-row]");
const params = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);
const heads = (page: Page) => page.locator("thead th").allTextContents();

describe("the list of contacts", () => {
  pageTest("every layout is accessible, quiet and fits the window, with any data", async () => {
    await expectNoFaults(await openAs(server, "/contacts"), {
      name: "contacts",
      isShown: (page) => rows(page).nth(5).waitFor(),
    });
  });

  pageTest("searches by words and subscription, with its state in the URL", async () => {
    const { page, problems, close } = await openAs(server, "/contacts");
    await page.getByText("6 contacts").waitFor();
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
    await page.goto(`${page.url()}nowhere`);
    await page.getByText("must be true or false").waitFor();
    expect(problems.filter((text) => !text.includes("status of 422"))).toEqual([]);
    await close();
  });

  pageTest("has the columns that a user chose, also after it is loaded again", async () => {
    const { page, problems, close } = await openAs(server, "/contacts");
    await rows(page).first().waitFor();
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
    await rows(page).first().waitFor();
    await page.getByRole("columnheader", { name: "orders" }).waitFor();
    await expectSoon(() => heads(page), chosen);
    expect(problems).toEqual([]);
    await close();
  });

  pageTest("a contact is found by a part of its address in the command palette", async () => {
    const { page, problems, close } = await openAs(server, "/keys");
    await page.getByRole("heading", { level: 1, name: "API keys" }).waitFor();
    await page.keyboard.press("Control+K");
    await page.getByRole("textbox", { name: /Search pages, contacts/ }).waitFor();
    await page.keyboard.type("GRACE@ac");
    await page.getByRole("button", { name: "grace@acme.example" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "grace@acme.example" }).waitFor();
    expect(problems).toEqual([]);
    await close();
  });

  pageTest(
    "an editor adds a contact and saves the rows of a search after the password; a viewer may not",
    async () => {
      ageSessions(server);
      const { page, problems, close } = await openAs(server, "/contacts?subscribed=no", {
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
      expect(head).toBe("email,subscribed,name,plan,json:<b>key</b>,orders");
      expect(lines.map((line) => line.split(",").slice(0, 2))).toEqual([
        ["gone@acme.example", "false"],
      ]);
      await question.waitFor({ state: "detached" });
      await page.keyboard.press("c");
      await page.getByLabel("Email address").fill("Ada@example.com ");
      await page.keyboard.press("Enter");
      // The address has a contact, which opens.
      await page.getByRole("heading", { level: 1, name: "ada@example.com" }).waitFor();
      expect(problems.filter((text) => !text.includes("status of 403"))).toEqual([]);
      await close();

      const viewer = await openAs(server, "/contacts", { person: "viewer" });
      await rows(viewer.page).first().waitFor();
      await expectSoon(() => viewer.page.getByRole("button", { name: /Export|Add/ }).count(), 0);
      await viewer.close();
      expect(await statusOf(server, "viewer", ["GET", "/contacts/export"])).toBe(403);
      const forced = { email: "forced@example.com" };
      expect(await statusOf(server, "viewer", ["POST", "/contacts", forced])).toBe(403);
    },
  );

  pageTest("keeps new contacts behind a button until they are asked for", async () => {
    const path = "/contacts?q=@live.example";
    const { page, problems, close } = await openPage(
      `${server.url}/app/p/${server.project}${path}`,
      { cookie: server.people.admin },
    );
    const add = (name: string) =>
      server.call("POST", "/contacts", { email: `${name}@live.example` });
    await page.getByText("No rows match").waitFor();
    await add("one");
    // An empty list shows the first contact at once.
    await rows(page).getByText("one@live.example").waitFor();
    await add("two");
    await page.getByRole("button", { name: "1 new" }).click();
    await rows(page).getByText("two@live.example").waitFor();
    await page.getByText("2 contacts").waitFor();
    expect(problems).toEqual([]);
    await close();
  });

  pageTest("shows a list that cannot be read, one without matches, and an empty one", async () => {
    const { page, close } = await openAs(server, "/contacts", {
      prepare: failingList("/contacts"),
    });
    await page.getByText("The list is not available.").waitFor();
    await page.unroute("**/contacts?*");
    await page.getByRole("button", { name: "Try again" }).click();
    await rows(page).first().waitFor();
    await page.goto(`${page.url()}?q=nowhere`);
    await page.getByRole("button", { name: "Clear filters" }).click();
    await page.getByText("8 contacts").waitFor();
    await close();

    const empty = { items: [], nextCursor: null, hasMore: false, total: 0 };
    const opened = await openAs(server, "/contacts", {
      prepare: async (target) => {
        await target.route("**/contacts?*", (route) => route.fulfill({ json: empty }));
      },
    });
    await expectNoFaults(opened, {
      name: "contacts-empty",
      layouts: ["light", "phone-dark"],
      isShown: (target) => target.getByText("No contacts yet").waitFor(),
    });
  });

  pageTest("scrolls through 50,000 contacts with few rows in the document", async () => {
    fill(50_000);
    const { page, problems, close } = await openAs(server, "/contacts?q=@many.example");
    await page.getByText("50,000 contacts").waitFor();
    await rows(page).first().waitFor();
    // Each scroll to the end loads the next hundred.
    while ((await page.locator('[data-row="1999"]').count()) === 0) {
      await page.evaluate("document.querySelector('.table-scroll').scrollTo(0, 1e9)");
    }
    expect(await rows(page).count()).toBeLessThanOrEqual(60);
    await expectSoon(() => page.locator("table").getAttribute("aria-rowcount"), "50001");
    expect(problems).toEqual([]);
    await close();
  });
});

/** Adds contacts to the project directly. */
function fill(count: number): void {
  using db = openData(server);
  db.run(
    `WITH RECURSIVE number (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < ${count})
     INSERT INTO contacts (id, project_seq, email, is_subscribed, data, created_at, updated_at)
     SELECT 'many-' || i, (SELECT seq FROM projects WHERE id = ?), 'c' || i || '@many.example', 1,
            '{"plan":"pro"}', 1767348000000, 1767348000000 FROM number`,
    [server.project],
  );
}
