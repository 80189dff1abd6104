/**
 * The journey of somebody whose receiver of events failed: the overview says so, the deliveries show
 * the response, and after the repair they are sent again. `bun scripts/journeys.ts` runs it against
 * the executable.
 */

import { createHmac } from "node:crypto";
import { afterAll, describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { faultsOf, hasChromium, NO_FAULTS } from "../support/browser.ts";
import { expectSoon } from "../support/eventually.ts";
import { stringAt } from "../support/json.ts";
import { startWebServer, type WebRequest, type WebServer } from "../support/web-server.ts";
import { openAs, type PeopledProject, newProjectWithPeople } from "./people.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

let server: PeopledProject;
let receiver: WebServer;
/** The secret with which the receiver checks signatures. */
let secret = "";

beforePages(async () => {
  [server, receiver] = await Promise.all([
    newProjectWithPeople(),
    startWebServer({ answer: () => ({ status: 500, body: "out of disk space" }) }),
  ]);
});
afterAll(async () => {
  if (!hasChromium) return;
  await receiver.close();
});

/** Whether the signature of a request is right for a secret (Standard Webhooks). */
function isSignedBy(key: string, { headers, body }: WebRequest): boolean {
  const content = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`;
  const bytes = Buffer.from(key.replace("whsec_", ""), "base64");
  const signature = createHmac("sha256", bytes).update(content).digest("base64");
  return String(headers["webhook-signature"]).split(" ").includes(`v1,${signature}`);
}

const rows = (page: Page) => page.locator("[data-row]");
const statuses = (page: Page) => rows(page).locator(".status").allTextContents();
const track = (email: string) =>
  server.call("POST", "/v1/track", { event: "order.paid", email, data: { total: 12 } });

describe("a failing webhook is repaired", () => {
  pageTest(
    "from the overview to the response, and to deliveries that succeed without a reload",
    async () => {
      const created = await server.call("POST", "/webhooks", {
        url: `${receiver.origin}/orders`,
        events: ["order.*"],
        description: "The shop",
      });
      secret = stringAt(created, "data.secret");
      await track("ada@acme.example");
      const opened = await openAs(server, "/", { isLive: true });
      const { page } = opened;
      await page.getByRole("link", { name: "Webhooks", exact: true }).click();
      await page.getByRole("heading", { level: 1, name: "Webhooks" }).waitFor();
      await rows(page).getByText("Failing").waitFor();
      await opened.screenshot("webhook-journey-1-list");
      await rows(page).getByRole("link").first().click();
      await page.getByText("Deliveries are failing.").waitFor();
      await rows(page).filter({ hasText: "Answered 500" }).waitFor();
      await opened.screenshot("webhook-journey-2-failing");
      await page.evaluate("window.isSameDocument = true");
      await rows(page).first().getByRole("button").click();
      const drawer = page.getByRole("dialog", { name: "Delivery" });
      await drawer.getByText("out of disk space").waitFor();
      await opened.screenshot("webhook-journey-3-response");

      receiver.answer = (request) =>
        isSignedBy(secret, request) ? { status: 200, body: "stored" } : { status: 401 };
      await drawer.getByRole("button", { name: "Try now" }).click();
      await drawer.getByText("Succeeded").waitFor();
      await drawer.getByText("stored").waitFor();
      await opened.screenshot("webhook-journey-4-delivered");
      await page.keyboard.press("Escape");
      await drawer.waitFor({ state: "detached" });
      await track("bea@acme.example");
      await page.getByRole("button", { name: "1 new" }).click();
      await expectSoon(() => statuses(page), ["Succeeded", "Succeeded"]);
      await page.getByText("Deliveries are failing.").waitFor({ state: "detached" });
      expect(await page.evaluate("window.isSameDocument")).toBe(true);
      expect(await faultsOf(opened)).toEqual(NO_FAULTS);
      await opened.close();
    },
  );

  pageTest(
    "a secret is replaced, and no event is refused while the receiver changes its own",
    async () => {
      const opened = await openAs(server, "/webhooks", { isLive: true });
      const { page } = opened;
      await rows(page).getByRole("link").first().click();
      const parts = page.getByRole("navigation", { name: "Parts of the webhook" });
      await parts.getByRole("link", { name: "Settings" }).click();
      await page.getByRole("button", { name: "Make a new secret" }).click();
      await opened.screenshot("webhook-journey-5-rotate");
      await page
        .getByRole("dialog", { name: "Make a new secret?" })
        .getByRole("button", { name: "Make a new secret" })
        .click();
      const shown = page.getByRole("dialog", { name: "Save this secret now" });
      const next = await shown.getByLabel("The new secret").inputValue();
      await opened.screenshot("webhook-journey-6-secret");
      await shown.getByRole("button", { name: "I have it" }).click();
      await parts.getByRole("link", { name: "Deliveries" }).click();
      // Events are signed with both secrets for a time, so that the receiver can change its own.
      for (const [key, email] of [
        [secret, "cem@acme.example"],
        [next, "dee@acme.example"],
      ] as const) {
        secret = key;
        const before = receiver.requests.length;
        await track(email);
        await expectSoon(() => receiver.requests.length, before + 1);
      }
      await page.getByRole("button", { name: "2 new" }).click();
      await expectSoon(() => statuses(page), Array<string>(4).fill("Succeeded"));
      expect(await faultsOf(opened)).toEqual(NO_FAULTS);
      await opened.close();
    },
  );
});
