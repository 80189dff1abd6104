/** The pages of webhooks: a webhook is created, fails, is repaired, and what other roles see. */

import { createHmac } from "node:crypto";
import { afterAll, describe, expect } from "bun:test";
import type { Page, Route } from "playwright-core";
import { hasChromium } from "../support/browser.ts";
import { listAt, stringAt } from "../support/json.ts";
import { startWebServer, type WebRequest, type WebServer } from "../support/web-server.ts";
import { expectSoon, waitUntilRead } from "../support/eventually.ts";
import { ageSessions, openAs, PASSWORD, type PeopledProject } from "./people.ts";
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
const statuses = (page: Page) => rows(page).locator(".status").allTextContents();
const dialog = (page: Page, name: string) => page.getByRole("dialog", { name });
const parts = (page: Page) => page.getByRole("navigation", { name: "Parts of the webhook" });
const press = (page: Page, name: string) => page.getByRole("button", { name }).click();

async function createWebhook(events: string[], path: string): Promise<string> {
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

/** Whether the signature of a request is right for a secret (Standard Webhooks). */
function isSignedBy(key: string, { headers, body }: WebRequest): boolean {
  const content = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`;
  const bytes = Buffer.from(key.replace("whsec_", ""), "base64");
  const signature = createHmac("sha256", bytes).update(content).digest("base64");
  return String(headers["webhook-signature"]).split(" ").includes(`v1,${signature}`);
}

const track = (event: string, email = "ada@acme.example") =>
  server.call("POST", "/v1/track", { event, email, data: { total: 12 } });

describe("the pages of webhooks", () => {
  pageTest(
    "a webhook is created, fails, is repaired and gets a new secret, without a reload",
    async () => {
      const opened = await openAs(server, "/webhooks", { isLive: true });
      const { page, problems } = opened;
      await page.getByText("No webhooks yet").waitFor();
      await page.evaluate("window.isSameDocument = true");

      // By keyboard: it is created, and shows its secret once.
      await page.keyboard.press("c");
      await dialog(page, "Create a webhook").waitFor();
      await page.keyboard.type("nonsense");
      await page.getByLabel("Events").fill("order.*");
      await page.getByText("No event of this project has such a name yet.").waitFor();
      await page.keyboard.press("Tab");
      await page.keyboard.type("The shop");
      await page.keyboard.press("Enter");
      await page.getByLabel("Address").and(page.locator(":focus")).waitFor();
      await page.getByLabel("Address").fill(`${receiver.origin}/shop?source=mail`);
      await page.keyboard.press("Enter");
      const shown = dialog(page, "Save this secret now");
      const first = await shown.getByLabel("The new secret").inputValue();
      expect(first).toStartWith("whsec_");
      await page.keyboard.press("Escape");
      await shown.getByRole("button", { name: "I have it" }).press("Enter");

      // A test and an event fail, which the page and the list say.
      await page.getByText("No deliveries yet").waitFor();
      receiver.answer = () => ({ status: 500, body: "<b>broken</b>" });
      await page.getByRole("button", { name: "Send a test" }).press("Enter");
      await page.getByText("The test was not delivered.").waitFor();
      await page.getByText("The receiver answered 500.").waitFor();
      await track("order.paid");
      await rows(page).filter({ hasText: "Answered 500" }).waitFor();
      await page.getByText("Deliveries are failing.").waitFor();
      await page.getByText("The latest try: Answered 500.").waitFor();
      await page.getByRole("link", { name: "Webhooks", exact: true }).first().click();
      await rows(page).getByText("Failing").waitFor();
      await rows(page).getByRole("link").first().click();

      // The response is read, and the delivery is sent again.
      await rows(page).first().getByRole("button").click();
      const drawer = dialog(page, "Delivery");
      await drawer.getByText("<b>broken</b>").waitFor();
      await drawer.getByText('"total": 12').waitFor();
      expect(new URL(page.url()).searchParams.get("delivery")).toMatch(/^[0-9a-f-]{36}$/);
      await drawer.getByRole("button", { name: "Headers" }).click();
      await drawer.getByText("POST /shop?source=mail HTTP/1.1").waitFor();
      let secret = first;
      receiver.answer = (request) =>
        isSignedBy(secret, request) ? { status: 200, body: "thanks" } : { status: 401 };
      await drawer.getByRole("button", { name: "Try now" }).click();
      await drawer.getByText("Succeeded").waitFor();
      await drawer.getByText("thanks").waitFor();
      const tries = drawer.getByRole("list", { name: "Tries, the latest one first" });
      await tries.getByText("2. Answered 200").waitFor();
      await tries.getByText("1. Answered 500").waitFor();
      await page.keyboard.press("Escape");
      await drawer.waitFor({ state: "detached" });
      await rows(page).filter({ hasText: "Answered 200" }).waitFor();
      await page.getByText("Deliveries are failing.").waitFor({ state: "detached" });

      // New deliveries wait, so that no row moves.
      await track("order.paid", "bea@acme.example");
      await press(page, "1 new");
      await page.getByText("2 deliveries").waitFor();
      const waiting = page.waitForEvent("download");
      await press(page, "Export CSV");
      const lines = (await Bun.file(await (await waiting).path()).text()).split("\r\n");
      expect(lines[0]).toStartWith("id,eventId,eventName,status,attempts,responseCode");
      expect(lines.length).toBe(4);

      // A new secret, after the password. For a time both sign, so that the receiver can change its own.
      ageSessions(server);
      await parts(page).getByRole("link", { name: "Settings" }).click();
      await press(page, "Make a new secret");
      await dialog(page, "Make a new secret?")
        .getByRole("button", { name: "Make a new secret" })
        .click();
      const question = dialog(page, "Enter your password");
      await question.getByRole("textbox", { name: "Password" }).fill(PASSWORD);
      await page.keyboard.press("Enter");
      const second = await shown.getByLabel("The new secret").inputValue();
      expect(second).toStartWith("whsec_");
      await press(page, "I have it");
      await parts(page).getByRole("link", { name: "Deliveries" }).click();
      await rows(page).first().waitFor();
      for (const [key, email] of [
        [first, "cem@acme.example"],
        [second, "dee@acme.example"],
      ] as const) {
        secret = key;
        const before = receiver.requests.length;
        await track("order.paid", email);
        await expectSoon(() => receiver.requests.length, before + 1);
      }
      await press(page, "2 new");
      await expectSoon(() => statuses(page), Array<string>(4).fill("Succeeded"));
      expect(await page.evaluate("window.isSameDocument")).toBe(true);
      expect(problems.filter((problem) => !/status of (?:403|422)/.test(problem))).toEqual([]);
      await opened.close();
    },
  );

  pageTest(
    "a disabled webhook says why and is enabled again; it is changed, disabled and deleted",
    async () => {
      receiver.answer = () => ({ status: 410 });
      const id = await createWebhook(["gone.*"], "/gone");
      await track("gone.a");
      const read = () => server.call("GET", `/webhooks/${id}`);
      await waitUntilRead(async () => JSON.stringify(await read()).includes("GONE"));
      const opened = await openAs(server, `/webhooks/${id}?status=failed`);
      const { page } = opened;
      await page.getByText("The receiver answered 410").waitFor();
      receiver.answer = () => ({});
      await press(page, "Enable again");
      await page.getByText("The receiver answered 410").waitFor({ state: "detached" });
      await press(page, "Retry all failed");
      await page.getByText("No rows match these filters.").waitFor();
      await press(page, "Clear filters");
      await rows(page).filter({ hasText: "gone.a" }).waitFor();

      await parts(page).getByRole("link", { name: "Settings" }).click();
      await page.getByLabel("Events").fill("gone.a\nemail.*");
      await page.getByText("Matches now: gone.a").waitFor();
      await press(page, "Save");
      await page.getByText("Saved.").waitFor();
      await press(page, "Disable the webhook");
      await page.getByText("The webhook is disabled, so no events are sent.").waitFor();
      await press(page, "Undo");
      await page.getByRole("button", { name: "Disable the webhook" }).waitFor();
      await page.route(`**/webhooks/${id}`, answerLate);
      await press(page, "Delete the webhook");
      await dialog(page, "Delete this webhook?")
        .getByRole("button", { name: "Delete the webhook" })
        .click();
      await page.getByRole("heading", { name: "Webhooks", level: 1 }).waitFor();
      await rows(page).first().waitFor();
      await expectSoon(() => page.getByText("/gone").count(), 0);
      expect(opened.problems).toEqual([]);
      await opened.close();
    },
  );

  pageTest("viewers read the deliveries and change nothing", async () => {
    receiver.answer = () => ({ status: 503, body: "Service Unavailable" });
    const id = await createWebhook(["read.*"], "/read");
    await track("read.a");
    const deliveries = `/webhooks/${id}/deliveries`;
    const read = async () => listAt(await server.call("GET", deliveries), "data.items")[0];
    await waitUntilRead(async () => JSON.stringify((await read()) ?? null).includes("503"));
    const delivery = stringAt(await read(), "id");
    const { page, problems, close } = await openAs(server, `/webhooks/${id}?delivery=${delivery}`, {
      person: "viewer",
    });
    // The receiver may have repeated the request in its response.
    await page.getByText("(hidden)").first().waitFor();
    expect(await page.getByText("Service Unavailable").count()).toBe(0);
    await rows(page).first().waitFor();
    for (const name of ["Try now", "Send a test", "Enable again"]) {
      expect([name, await page.getByRole("button", { name }).count()]).toEqual([name, 0]);
    }
    expect(problems).toEqual([]);
    await close();
    const retry = `${deliveries}/${delivery}/retry`;
    expect(await statusOf(server, "viewer", ["POST", retry])).toBe(403);
    expect(await statusOf(server, "editor", ["POST", `/webhooks/${id}/rotate-secret`])).toBe(403);
  });
});
