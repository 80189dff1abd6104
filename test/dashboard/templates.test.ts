/** The pages of templates: the mail for a contact, its variables, its source and its uses. */

import { describe, expect } from "bun:test";
import { stringAt } from "../support/json.ts";
import { expectSoon } from "../support/eventually.ts";
import { newProjectWithPeople, openAs, type PeopledProject } from "./people.ts";
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
  pageTest(
    "a template is shown for a chosen contact, with its variables and uses, or says why not",
    async () => {
      const opened = await openAs(server, "/templates", { person: "viewer" });
      const { page, problems } = opened;
      await page.getByRole("link", { name: "Broken" }).click();
      const reason = page.getByRole("alert").filter({ hasText: /^body: ./ });
      await reason.waitFor();
      // The request id is shown for failures of the server only.
      expect(await reason.innerText()).not.toContain("Request id");
      expect(await page.locator("iframe").count()).toBe(0);
      await page.goBack();
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
      expect(problems.filter((text) => !text.includes("status of 422"))).toEqual([]);
      await opened.close();
    },
  );
});
