/** The pages of templates, and the names that the command palette finds. */

import { describe, expect } from "bun:test";
import { stringAt } from "../support/json.ts";
import { expectSoon } from "../support/eventually.ts";
import { failingList, openAs, type PeopledProject, newProjectWithPeople } from "./people.ts";
import { expectNoFaults } from "./layouts.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

const BODY = `<html><body><h1>Hello {{ name ?? friend }}</h1><p>Order {{ order }}</p>
<script>document.title = "attacked"</script>
<form action="https://other.example/"><button>Send</button></form></body></html>`;

let server: PeopledProject;
let id: string;

const create = async (path: string, body: object, idPath = "data.id") =>
  stringAt(await server.call("POST", path, body), idPath);

beforePages(async () => {
  server = await newProjectWithPeople();
  id = await create("/templates", {
    name: "Receipt",
    description: "After each order",
    subject: "Your order {{ order }}",
    body: BODY,
    type: "TRANSACTIONAL",
  });
  await create("/templates", {
    name: "Broken",
    subject: "x",
    body: "{% for i in (1..9000000) %}x{% endfor %}",
    type: "MARKETING",
  });
  await create(
    "/contacts",
    { email: "ada@example.com", data: { name: "Ada <3", order: 1001 } },
    "id",
  );
  await create("/workflows", {
    name: "After an order",
    steps: [
      { id: "start", type: "TRIGGER", config: { eventName: "order.paid" } },
      { id: "mail", type: "SEND_EMAIL", config: { templateId: id } },
    ],
    transitions: [{ from: "start", to: "mail" }],
  });
});
describe("the pages of templates", () => {
  pageTest("every layout is accessible, quiet and fits the window", async () => {
    for (const [name, path, ready] of [
      ["templates", "/templates", "Receipt"],
      ["template", `/templates/${id}`, "Shown for"],
      ["template-variables", `/templates/${id}?tab=variables`, "Required"],
      ["template-source", `/templates/${id}?tab=source`, "<script>"],
    ] as const) {
      await expectNoFaults(await openAs(server, path), {
        name,
        isShown: (page) => page.getByText(ready).first().waitFor(),
      });
    }
  });

  pageTest(
    "a template is shown for a chosen contact, as HTML in a sandbox and as text",
    async () => {
      const opened = await openAs(server, "/templates", { person: "viewer" });
      const { page, problems } = opened;
      await page.getByRole("link", { name: "Receipt" }).click();
      await page.getByRole("heading", { level: 1, name: "Receipt" }).waitFor();
      const frame = page.frameLocator("iframe");
      await frame.getByRole("heading", { name: "Hello friend" }).waitFor();
      await page.getByRole("combobox", { name: "Shown for" }).fill("ada");
      await page.getByRole("option", { name: "ada@example.com" }).click();
      await frame.getByRole("heading", { name: "Hello Ada <3" }).waitFor();
      await page.getByText("Your order 1001", { exact: true }).waitFor();
      const { searchParams } = new URL(page.url());
      expect([...searchParams.keys()]).toEqual(["as"]);
      await expectSoon(
        () => page.locator("iframe").getAttribute("sandbox"),
        "allow-popups allow-popups-to-escape-sandbox",
      );
      await page.getByRole("switch", { name: "Text part" }).click();
      await frame.getByText("Order 1001").waitFor();
      await expectSoon(() => frame.getByRole("heading").count(), 0);
      expect(await page.title()).toContain("Receipt");
      await page.reload();
      await frame.getByRole("heading", { name: "Hello Ada <3" }).waitFor();
      await expectSoon(
        () => page.getByRole("combobox", { name: "Shown for" }).inputValue(),
        "ada@example.com",
      );
      expect(problems).toEqual([]);
      await opened.close();
    },
  );

  pageTest("the tabs have the variables, the source and the workflows that send it", async () => {
    const opened = await openAs(server, `/templates/${id}`);
    const { page, problems } = opened;
    await page.getByRole("link", { name: "Variables" }).click();
    const rows = page.locator(".template-table tbody tr");
    await rows.first().waitFor();
    expect((await rows.allInnerTexts()).map((text) => text.split(/\s+/).slice(0, 2))).toEqual([
      ["order", "Required"],
      ["name", "Optional"],
    ]);
    await page.getByRole("link", { name: "Source" }).click();
    await page.getByText('<form action="https://other.example/">').waitFor();
    await page.getByRole("link", { name: "Where it is used" }).click();
    await page.getByRole("link", { name: "After an order" }).click();
    await page.getByRole("heading", { level: 1, name: "After an order" }).waitFor();
    expect(new URL(page.url()).pathname).toContain("/workflows/");
    await page.goBack();
    await page.getByRole("link", { name: "Show the emails made from it" }).click();
    await page.getByRole("heading", { level: 1, name: "Emails" }).waitFor();
    expect(new URL(page.url()).searchParams.get("template")).toBe(id);
    expect(problems).toEqual([]);
    await opened.close();
  });

  pageTest(
    "shows why a template cannot be rendered, a list that cannot be read, and a missing template",
    async () => {
      const opened = await openAs(server, "/templates?q=broken");
      await opened.page.getByRole("link", { name: "Broken" }).click();
      const reason = opened.page.getByRole("alert");
      await reason.waitFor();
      expect(await reason.innerText()).toMatch(/^body: .+/);
      // The request id is shown for failures of the server only.
      expect(await reason.innerText()).not.toContain("Request id");
      await expectSoon(() => opened.page.locator("iframe").count(), 0);
      await opened.close();
      const failing = await openAs(server, "/templates", {
        prepare: failingList("/templates"),
      });
      await failing.page.getByText("The list is not available.").waitFor();
      await failing.close();
      const missing = await openAs(server, "/templates/nothing");
      await missing.page.getByRole("alert").first().waitFor();
      await missing.close();
    },
  );

  pageTest(
    "the command palette finds campaigns and templates by a part of their name",
    async () => {
      const opened = await openAs(server, "/templates");
      const { page, problems } = opened;
      await page.getByRole("link", { name: "Receipt" }).waitFor();
      await page.keyboard.press("ControlOrMeta+k");
      const search = page.getByPlaceholder("Search pages, contacts, projects and actions");
      await search.fill("ecei");
      await page.getByRole("button", { name: "Receipt" }).waitFor();
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name: "Receipt" }).waitFor();
      expect(new URL(page.url()).pathname).toEndWith(`/templates/${id}`);
      expect(problems).toEqual([]);
      await opened.close();
    },
  );
});
