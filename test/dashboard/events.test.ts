/** The page of events: live, filtered, an event with hostile data, and its faults. */

import { describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { expectNoFaults } from "./layouts.ts";
import { failingList, openAs, type PeopledProject, newProjectWithPeople } from "./people.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

let server: PeopledProject;

beforePages(async () => {
  server = await newProjectWithPeople();
});

const rows = (page: Page) => page.locator("[data-row]");
const track = (event: string, email: string, data: object = {}) =>
  server.call("POST", "/v1/track", { event, email, data });

describe("the page of events", () => {
  pageTest("is empty at first, then follows what happens without moving rows", async () => {
    const opened = await openAs(server, "/events", { person: "viewer", isLive: true });
    const { page, problems } = opened;
    await page.getByText("No events yet").waitFor();
    await opened.screenshot("events-empty");
    expect(await opened.findings()).toEqual([]);
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
    expect(problems).toEqual([]);
    await opened.close();
  });

  pageTest("an event that is linked opens, however old it is; its data does nothing", async () => {
    const hostile = { "<b>key</b>": "<img src=x onerror=alert(1)>", right: "\u202eabc" };
    await track("hostile", "eve@acme.example", hostile);
    await track("later", "eve@acme.example");
    const list = await openAs(server, "/events?contact=eve@acme.example");
    await rows(list.page).filter({ hasText: "hostile" }).getByRole("link").click();
    await list.page.getByText('"<img src=x onerror=alert(1)>"').waitFor();
    const id = new URL(list.page.url()).searchParams.get("event");
    await list.close();
    const opened = await openAs(server, `/events?name=later&event=${id}`);
    await opened.page.getByText("<b>key</b>").waitFor();
    await expectNoFaults(opened, {
      name: "event",
      isShown: (page) => page.getByText("<b>key</b>").waitFor(),
    });
  });

  pageTest(
    "every layout is accessible, quiet and fits the window; without matches; broken",
    async () => {
      for (let i = 0; i < 5; i++) await track(`page.viewed.${i}`, "bea@acme.example", { i });
      const opened = await openAs(server, "/events");
      await expectNoFaults(opened, {
        name: "events",
        isShown: (page) => rows(page).first().waitFor(),
      });
      const mail = {
        to: "ada@acme.example",
        from: "shop@acme.example",
        subject: "Your order",
        body: "Thanks",
      };
      await server.call("POST", "/v1/send", mail);
      const sent = await openAs(server, "/events?name=email.sent", { isLive: true });
      await rows(sent.page).first().getByRole("link").click();
      await sent.page.getByRole("dialog").getByRole("link", { name: "Your order" }).click();
      await sent.page.getByRole("heading", { name: "Your order", level: 1 }).waitFor();
      expect(sent.problems).toEqual([]);
      await sent.close();
      const none = await openAs(server, "/events?name=never");
      await none.page.getByText("No rows match these filters.").waitFor();
      await none.page.getByRole("button", { name: "Clear filters" }).click();
      await rows(none.page).first().waitFor();
      await none.close();
      const broken = await openAs(server, "/events", { prepare: failingList("/events") });
      await broken.page.getByText("The list is not available.").waitFor();
      await broken.page.unroute("**/events?*");
      await broken.page.getByRole("button", { name: "Try again" }).click();
      await rows(broken.page).first().waitFor();
      await broken.close();
    },
  );
});
