/** Forms: a dialog stays open while its request runs, and unsaved changes are not lost unasked. */

import { describe, expect } from "bun:test";
import { openPage } from "../support/browser.ts";
import { type DashboardProject, newProject } from "../support/dashboard-server.ts";
import { stringAt } from "../support/json.ts";
import { beforePages, pageTest } from "../support/page-test.ts";

let project: DashboardProject;
let contact = "";

beforePages(async () => {
  project = await newProject();
  const body = { email: "edited@example.com", data: { city: "Bergen" } };
  contact = stringAt(await project.call("POST", "/contacts", body), "id");
  const webhook = { url: "https://hooks.example.com/x", events: ["email.*"] };
  await project.call("POST", "/webhooks", webhook);
});

const openContact = () =>
  openPage(`${project.url}/app/p/${project.project}/contacts/${contact}`, {
    cookie: project.cookie,
  });

const REFUSED = {
  status: 503,
  json: { success: false, error: { code: "X", message: "The server is busy.", requestId: "r" } },
};

describe("a dialog", () => {
  pageTest("stays open while its request runs, and shows the failure", async () => {
    const { page, close } = await openContact();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    let answered = Promise.withResolvers<void>();
    await page.route(/\/(?:contacts\/[^/]+|suppressions)$/, async (route) => {
      if (route.request().method() === "GET") return route.continue();
      await answered.promise;
      return route.fulfill(REFUSED);
    });
    const question = page.getByRole("dialog", { name: "Delete this contact?" });
    await question.getByRole("button", { name: "Delete the contact" }).click();
    await question.locator("button[data-loading]").waitFor();
    await page.keyboard.press("Escape");
    answered.resolve();
    await question.getByText("The server is busy.").waitFor();
    await page.keyboard.press("Escape");
    await question.waitFor({ state: "hidden" });

    answered = Promise.withResolvers<void>();
    await page.getByRole("link", { name: "Suppressions" }).click();
    await page.getByRole("button", { name: "Suppress an address" }).first().click();
    const form = page.getByRole("dialog", { name: "Suppress an address" });
    await form.getByLabel("Email address").fill("ada@example.com");
    await page.keyboard.press("Enter");
    await form.locator("button[data-loading]").waitFor();
    await page.keyboard.press("Escape");
    await form.getByRole("button", { name: "Close" }).click();
    expect(await form.getByRole("button", { name: "Cancel" }).isDisabled()).toBe(true);
    answered.resolve();
    await form.getByText("The server is busy.").waitFor();
    await page.keyboard.press("Escape");
    await form.waitFor({ state: "hidden" });
    await close();
  });
});

describe("unsaved changes", () => {
  pageTest(
    "of a contact, a project and a webhook are asked about before the page is left",
    async () => {
      const { page, problems, close } = await openContact();
      const follow = (name: string) =>
        page.getByRole("link", { name, exact: true }).first().click();
      const edit = () => page.getByRole("button", { name: "Edit", exact: true }).click();
      const heading = page.getByRole("heading", { level: 1, name: "Segments" });
      const question = page.getByRole("dialog", { name: "Leave without saving?" });

      async function expectQuestion(label: string, openForm?: () => Promise<void>): Promise<void> {
        const field = page.getByLabel(label, { exact: true });
        await openForm?.();
        await field.waitFor();
        await follow("Segments");
        await heading.waitFor();
        await page.goBack();
        await openForm?.();
        await field.fill("Typed");
        await follow("Segments");
        await question.getByRole("button", { name: "Cancel" }).click();
        await question.waitFor({ state: "hidden" });
        expect(await field.inputValue()).toBe("Typed");
        await follow("Segments");
        await question.getByRole("button", { name: "Leave without saving" }).click();
        await heading.waitFor();
        expect(await question.count()).toBe(0);
        // Nothing was saved.
        await page.goBack();
        await openForm?.();
        await field.waitFor();
        expect(await field.inputValue()).not.toBe("Typed");
      }

      await expectQuestion("Value of city", edit);
      await follow("Settings");
      await expectQuestion("Name");
      await follow("Webhooks");
      await page.locator("[data-row]").getByRole("link").first().click();
      const parts = page.getByRole("navigation", { name: "Parts of the webhook" });
      await parts.getByRole("link", { name: "Settings" }).click();
      await expectQuestion("Note");
      expect(problems).toEqual([]);
      await close();
    },
  );
});
