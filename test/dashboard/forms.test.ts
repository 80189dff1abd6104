/** Forms: a dialog stays open while its request runs, and unsaved changes are not lost unasked. */

import { describe, expect, test } from "bun:test";
import { hasChromium, BROWSER_LIMIT_MS, openPage } from "../support/browser.ts";
import { type DashboardProject, newProject } from "../support/dashboard-server.ts";
import { stringAt } from "../support/json.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

let server: DashboardProject;

beforePages(async () => {
  server = await newProject();
});

const open = (path: string) =>
  openPage(`${server.url}/app/p/${server.project}${path}`, { cookie: server.cookie });

const REFUSED = {
  status: 503,
  json: { success: false, error: { code: "X", message: "The server is busy.", requestId: "r" } },
};

describe("a dialog", () => {
  pageTest("with a form stays open while its request runs, and shows the failure", async () => {
    const { page, close } = await open("/suppressions");
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    await page.route("**/suppressions", async (route) => {
      if (route.request().method() !== "POST") return route.continue();
      await answered;
      return route.fulfill(REFUSED);
    });
    await page.getByRole("button", { name: "Suppress an address" }).first().click();
    const dialog = page.getByRole("dialog", { name: "Suppress an address" });
    await dialog.getByLabel("Email address").fill("ada@example.com");
    await page.keyboard.press("Enter");
    await dialog.locator("button[data-loading]").waitFor();
    await page.keyboard.press("Escape");
    await dialog.getByRole("button", { name: "Close" }).click();
    expect(await dialog.getByRole("button", { name: "Cancel" }).isDisabled()).toBe(true);
    answer();
    await dialog.getByText("The server is busy.").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    await close();
  });

  pageTest(
    "that asks before a deletion stays open while it runs, and shows the failure",
    async () => {
      const created = await server.call("POST", "/contacts", { email: "kept@example.com" });
      const { page, close } = await open(`/contacts/${stringAt(created, "id")}`);
      const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
      await page.route("**/contacts/*", async (route) => {
        if (route.request().method() !== "DELETE") return route.continue();
        await answered;
        return route.fulfill(REFUSED);
      });
      await page.getByRole("button", { name: "Delete", exact: true }).click();
      const dialog = page.getByRole("dialog", { name: "Delete this contact?" });
      await dialog.getByRole("button", { name: "Delete the contact" }).click();
      await dialog.locator("button[data-loading]").waitFor();
      await page.keyboard.press("Escape");
      answer();
      await dialog.getByText("The server is busy.").waitFor();
      await close();
    },
  );
});

describe("unsaved changes", () => {
  test.skipIf(!hasChromium).each([
    ["of the data of a contact", "contact"],
    ["of the settings of the project", "settings"],
    ["of a webhook", "webhook"],
  ] as const)(
    "%s are asked about before the page is left",
    async (_, kind) => {
      const { page, screenshot, findings, problems, close } = await open(await pathOf(kind));
      if (kind === "contact") await page.getByRole("button", { name: "Edit", exact: true }).click();
      const field = page.getByLabel(FIELDS[kind], { exact: true });
      await field.waitFor();
      await page.getByRole("link", { name: "Segments" }).click();
      await page.getByRole("heading", { level: 1, name: "Segments" }).waitFor();
      await page.goBack();
      if (kind === "contact") await page.getByRole("button", { name: "Edit", exact: true }).click();
      await field.fill("Typed");
      await page.getByRole("link", { name: "Segments" }).click();
      const question = page.getByRole("dialog", { name: "Leave without saving?" });
      await question.waitFor();
      await screenshot(`unsaved-${kind}`);
      expect(await findings()).toEqual([]);
      await question.getByRole("button", { name: "Cancel" }).click();
      await question.waitFor({ state: "hidden" });
      expect(await field.inputValue()).toBe("Typed");
      await page.getByRole("link", { name: "Segments" }).click();
      await question.getByRole("button", { name: "Leave without saving" }).click();
      await page.getByRole("heading", { level: 1, name: "Segments" }).waitFor();
      expect(await question.count()).toBe(0);
      expect(problems).toEqual([]);
      await close();
    },
    BROWSER_LIMIT_MS,
  );

  const FIELDS = {
    contact: "Value of city",
    settings: "Name",
    webhook: "Note",
  } as const;

  async function pathOf(kind: keyof typeof FIELDS): Promise<string> {
    if (kind === "settings") return "/settings/general";
    if (kind === "contact") {
      const contact = { email: "edited@example.com", data: { city: "Bergen" } };
      return `/contacts/${stringAt(await server.call("POST", "/contacts", contact), "id")}`;
    }
    const webhook = { url: "https://hooks.example.com/x", events: ["email.*"] };
    const made = await server.call("POST", "/webhooks", webhook);
    return `/webhooks/${stringAt(made, "data.id")}?tab=settings`;
  }
});
