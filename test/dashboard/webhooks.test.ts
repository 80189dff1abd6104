/** The pages of webhooks: a webhook is created, fails, is repaired, and what other roles see. */

import { afterAll, describe, expect } from "bun:test";
import type { Page, Route } from "playwright-core";
import { hasChromium } from "../support/browser.ts";
import { stringAt } from "../support/json.ts";
import { startWebServer, type WebServer } from "../support/web-server.ts";
import { expectSoon } from "../support/eventually.ts";
import { expectFaultless } from "./layouts.ts";
import { ageSessions, failingList, openAs, PASSWORD, type PeopledProject } from "./people.ts";
import { newProjectWithPeople, statusOf } from "./people.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

let server: PeopledProject;
let receiver: WebServer;

beforePages(async () => {
  [server, receiver] = await Promise.all([newProjectWithPeople(), startWebServer()]);
});
afterAll(async () => {
  if (!hasChromium) return;
  await receiver.close();
});

const rows = (page: Page) => page.locator("[data-row]");
const dialog = (page: Page, name: string) => page.getByRole("dialog", { name });

async function createWebhook(events: string[], path = "/hook"): Promise<string> {
  const url = `${receiver.origin}${path}`;
  return stringAt(await server.call("POST", "/webhooks", { url, events }), "data.id");
}

/**
 * Answers the deletion of an object only after the page has read everything again, as it does when
 * its tab is shown. If the page read the object too, the answer would be 404.
 */
async function answerLate(route: Route): Promise<void> {
  if (route.request().method() !== "DELETE") return route.continue();
  const response = await route.fetch();
  const page = route.request().frame().page();
  const refresh = page.waitForResponse(/\/app\/api\/state/);
  await page.evaluate(`document.dispatchEvent(new Event("visibilitychange"))`);
  await refresh;
  await route.fulfill({ response });
}

const track = (event: string, email = "ada@acme.example") =>
  server.call("POST", "/v1/track", { event, email, data: { total: 12 } });

describe("the pages of webhooks", () => {
  pageTest(
    "by keyboard: a webhook is created, shows its secret once, is tested and fails",
    async () => {
      const opened = await openAs(server, "/webhooks");
      const { page, problems } = opened;
      await page.getByText("No webhooks yet").waitFor();
      await opened.screenshot("webhooks-empty");
      expect(await opened.findings()).toEqual([]);
      await page.keyboard.press("c");
      await dialog(page, "Create a webhook").waitFor();
      await page.keyboard.type("nonsense");
      await page.getByLabel("Events").fill("order.*");
      await page.getByText("No event of this project has such a name yet.").waitFor();
      await page.keyboard.press("Tab");
      await page.keyboard.type("The shop");
      await page.keyboard.press("Enter");
      await page.getByLabel("Address").and(page.locator(":focus")).waitFor();
      await opened.screenshot("webhooks-create");
      expect(await opened.findings()).toEqual([]);
      await page.getByLabel("Address").fill(`${receiver.origin}/shop`);
      await page.keyboard.press("Enter");
      const shown = dialog(page, "Save this secret now");
      expect(await shown.getByLabel("The new secret").inputValue()).toStartWith("whsec_");
      await page.keyboard.press("Escape");
      await opened.screenshot("webhooks-secret");
      expect(await opened.findings()).toEqual([]);
      await shown.getByRole("button", { name: "I have it" }).press("Enter");
      await page.getByText("No deliveries yet").waitFor();
      receiver.answer = () => ({ status: 500, body: "Internal Server Error" });
      await page.getByRole("button", { name: "Send a test" }).press("Enter");
      await page.getByText("The test was not delivered.").waitFor();
      await page.getByText("The receiver answered 500.").waitFor();
      expect(problems.filter((problem) => !problem.includes("status of 422"))).toEqual([]);
      await opened.close();
    },
  );

  pageTest(
    "a failing webhook is repaired: the response is read, the delivery is sent again, live",
    async () => {
      receiver.answer = () => ({ status: 500, body: "<b>broken</b>" });
      const id = await createWebhook(["order.paid"], "/hook?source=mail");
      const opened = await openAs(server, `/webhooks/${id}`, { isLive: true });
      const { page, problems } = opened;
      await page.getByText("No deliveries yet").waitFor();
      await track("order.paid");
      await rows(page).filter({ hasText: "Answered 500" }).waitFor();
      await page.getByText("Deliveries are failing.").waitFor();
      await page.getByText("The latest try: Answered 500.").waitFor();
      await rows(page).first().getByRole("button").click();
      const drawer = dialog(page, "Delivery");
      await drawer.getByText("<b>broken</b>").waitFor();
      await drawer.getByText('"total": 12').waitFor();
      expect(new URL(page.url()).searchParams.get("delivery")).toMatch(/^[0-9a-f-]{36}$/);
      await drawer.getByRole("button", { name: "Headers" }).click();
      await drawer.getByText("POST /hook?source=mail HTTP/1.1").waitFor();
      receiver.answer = () => ({ status: 200, body: "thanks" });
      await drawer.getByRole("button", { name: "Try now" }).click();
      await drawer.getByText("Succeeded").waitFor();
      await drawer.getByText("thanks").waitFor();
      const tries = drawer.getByRole("list", { name: "Tries, the latest one first" });
      await tries.getByText("2. Answered 200").waitFor();
      await tries.getByText("1. Answered 500").waitFor();
      await opened.screenshot("webhooks-tries");
      await page.keyboard.press("Escape");
      await drawer.waitFor({ state: "detached" });
      await rows(page).filter({ hasText: "Answered 200" }).waitFor();
      await page.getByText("Deliveries are failing.").waitFor({ state: "detached" });
      // New deliveries wait, so that no row moves.
      await track("order.paid", "bea@acme.example");
      await page.getByRole("button", { name: "1 new" }).click();
      await page.getByText("2 deliveries").waitFor();
      const waiting = page.waitForEvent("download");
      await page.getByRole("button", { name: "Export CSV" }).click();
      const lines = (await Bun.file(await (await waiting).path()).text()).split("\r\n");
      expect(lines[0]).toStartWith("id,eventId,eventName,status,attempts,responseCode");
      expect(lines.length).toBe(4);
      expect(problems).toEqual([]);
      await opened.close();
    },
  );

  pageTest(
    "a disabled webhook says why, and is enabled again; failed deliveries are retried together",
    async () => {
      receiver.answer = () => ({ status: 410 });
      const id = await createWebhook(["gone.*"], "/gone");
      await track("gone.a");
      const opened = await openAs(server, `/webhooks/${id}?status=failed`);
      const { page } = opened;
      await page.getByText("The receiver answered 410").waitFor();
      receiver.answer = () => ({});
      await page.getByRole("button", { name: "Enable again" }).click();
      await page.getByText("The receiver answered 410").waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Retry all failed" }).click();
      await page.getByText("No rows match these filters.").waitFor();
      await page.getByRole("button", { name: "Clear filters" }).click();
      await rows(page).filter({ hasText: "gone.a" }).waitFor();
      expect(opened.problems).toEqual([]);
      await opened.close();
    },
  );

  pageTest(
    "settings: saved, disabled with undo, a new secret after the password, deleted",
    async () => {
      receiver.answer = () => ({});
      await track("order.paid");
      const id = await createWebhook(["old.*"], "/settings");
      const opened = await openAs(server, `/webhooks/${id}?tab=settings`);
      const { page } = opened;
      await page.getByLabel("Events").fill("order.paid\nemail.*");
      await page.getByText("Matches now: order.paid").waitFor();
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("Saved.").waitFor();
      await page.getByRole("button", { name: "Disable the webhook" }).click();
      await page.getByText("The webhook is disabled, so no events are sent.").waitFor();
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByRole("button", { name: "Disable the webhook" }).waitFor();
      ageSessions(server);
      await page.getByRole("button", { name: "Make a new secret" }).click();
      await dialog(page, "Make a new secret?")
        .getByRole("button", { name: "Make a new secret" })
        .click();
      const question = dialog(page, "Enter your password");
      await question.getByRole("textbox", { name: "Password" }).fill(PASSWORD);
      await page.keyboard.press("Enter");
      const shown = dialog(page, "Save this secret now");
      expect(await shown.getByLabel("The new secret").inputValue()).toStartWith("whsec_");
      await shown.getByRole("button", { name: "I have it" }).click();
      await page.route(`**/webhooks/${id}`, answerLate);
      await page.getByRole("button", { name: "Delete the webhook" }).click();
      await dialog(page, "Delete this webhook?")
        .getByRole("button", { name: "Delete the webhook" })
        .click();
      await page.getByRole("heading", { name: "Webhooks", level: 1 }).waitFor();
      await expectSoon(() => page.getByText("/settings").count(), 0);
      expect(opened.problems.filter((problem) => !problem.includes("status of 403"))).toEqual([]);
      await opened.close();
    },
  );

  pageTest(
    "every layout is accessible, quiet and fits the window; errors and viewers",
    async () => {
      receiver.answer = () => ({ status: 503, body: "Service Unavailable" });
      const id = await createWebhook(["*"], "/layouts");
      await track("layout.a");
      await track("layout.b", "bea@acme.example");
      const opened = await openAs(server, `/webhooks/${id}`);
      await opened.page.getByText("Answered 503").first().waitFor();
      const deliveries = await server.call("GET", `/webhooks/${id}/deliveries`);
      const delivery = stringAt(deliveries, "data.items.0.id");
      const place = `/app/p/${server.project}/webhooks`;
      const all = ["light", "dark", "phone-dark", "phone"] as const;
      const some = ["dark", "phone"] as const;
      for (const [name, path, ready, layouts] of [
        ["webhook", `${place}/${id}`, "Answered 503", all],
        ["webhook-delivery", `${place}/${id}?delivery=${delivery}`, "Service Unavailable", some],
        ["webhook-settings", `${place}/${id}?tab=settings`, "Make a new secret", some],
        ["webhooks", place, "Failing", all],
      ] as const) {
        await opened.page.goto(server.url + path);
        await expectFaultless(opened, {
          name,
          isShown: (page) => page.getByText(ready).first().waitFor(),
          layouts,
        });
        await opened.setLayout("light");
      }
      await opened.close();

      const broken = await openAs(server, "/webhooks", {
        prepare: failingList("/webhooks"),
      });
      await broken.page.getByText("The list is not available.").waitFor();
      await broken.page.unroute("**/webhooks?*");
      await broken.page.getByRole("button", { name: "Try again" }).click();
      await rows(broken.page).first().waitFor();
      await broken.close();

      const viewer = await openAs(server, `/webhooks/${id}?delivery=${delivery}`, {
        person: "viewer",
      });
      await viewer.page.getByText("Service Unavailable").waitFor();
      for (const name of ["Try now", "Send a test", "Enable again"]) {
        await expectSoon(() => viewer.page.getByRole("button", { name }).count(), 0);
      }
      await viewer.close();
      const retry = `/webhooks/${id}/deliveries/${delivery}/retry`;
      expect(await statusOf(server, "viewer", ["POST", retry])).toBe(403);
      expect(await statusOf(server, "editor", ["POST", `/webhooks/${id}/rotate-secret`])).toBe(403);
    },
  );
});
