/** The page of events: live, filtered, and an event with hostile data. */

import { describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { send } from "./email-server.ts";
import { goTo } from "./go-to.ts";
import { newProjectWithPeople, openAs, type PeopledProject } from "./people.ts";
import { expectSoon } from "../support/eventually.ts";
import { listAt, stringAt } from "../support/json.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

let server: PeopledProject;

beforePages(async () => {
  server = await newProjectWithPeople();
});

const rows = (page: Page) => page.locator("[data-row]");
const track = (event: string, email: string, data: object = {}) =>
  server.call("POST", "/v1/track", { event, email, data });

describe("the page of events", () => {
  pageTest(
    "follows what happens without moving rows, and shows the data of an event, which does nothing",
    async () => {
      const { page, problems, overflowPx, close } = await openAs(server, "/events", {
        person: "viewer",
        isLive: true,
      });
      await page.getByText("No events yet").waitFor();
      await track("order.paid", "ada@acme.example");
      await rows(page).filter({ hasText: "order.paid" }).waitFor();
      await track("order.refunded", "ada@acme.example", { total: 12, items: [{ sku: "book-1" }] });
      await track("order.closed", "ada@acme.example");
      await page.getByRole("button", { name: "2 new" }).click();
      await rows(page).first().getByText("order.closed").waitFor();
      await rows(page).filter({ hasText: "order.refunded" }).getByRole("link").click();
      const drawer = page.getByRole("dialog", { name: "Event" });
      await drawer.getByText("total").waitFor();
      await drawer.locator("summary").filter({ hasText: "0" }).click();
      await drawer.getByText('"book-1"').waitFor();
      await page.keyboard.press("k");
      await drawer.getByRole("heading", { name: "order.closed" }).waitFor();
      await drawer.getByRole("button", { name: "All “order.closed”" }).click();
      await page.getByText("1 event", { exact: true }).waitFor();
      expect(new URL(page.url()).searchParams.get("name")).toBe("order.closed");

      const hostile = { "<b>bold</b>": "<img src=x onerror=alert(1)>", right: "\u202eabc" };
      await track("hostile", "eve@acme.example", hostile);
      const event = listAt(await server.call("GET", "/events?event=hostile"), "data.items")[0];
      const [mail] = await send(server, [{ to: "ada@acme.example", subject: "Order", body: "Hi" }]);
      const sent = async () => stringAt(await server.call("GET", `/emails/${mail}`), "data.status");
      await expectSoon(sent, "SENT");
      // An event that is linked opens, although the list does not have it.
      await goTo(page, `/p/${server.project}/events?name=never&event=${stringAt(event, "id")}`);
      await drawer.getByText("<b>bold</b>").waitFor();
      await drawer.getByText('"<img src=x onerror=alert(1)>"').waitFor();
      expect(await overflowPx()).toBe(0);
      await page.keyboard.press("Escape");
      await drawer.waitFor({ state: "detached" });
      await page.getByText("No rows match these filters.").waitFor();
      await page.getByRole("button", { name: "Clear filters" }).click();
      await rows(page).filter({ hasText: "email.sent" }).getByRole("link").click();
      await drawer.getByRole("link", { name: "Order" }).click();
      await page.getByRole("heading", { name: "Order", level: 1 }).waitFor();
      expect(problems).toEqual([]);
      await close();
    },
  );
});
