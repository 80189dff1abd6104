/** Pages show refusals of the interface in words for people, whose texts are for programs as well. */

import { describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { hasChromium, BROWSER_LIMIT_MS, openPage } from "../support/browser.ts";
import { type DashboardProject, newProject } from "../support/dashboard-server.ts";
import { stringAt } from "../support/json.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

let server: DashboardProject;

beforePages(async () => {
  server = await newProject();
});

const MISSING = "0199b6f2-6f6a-7000-8000-000000000000";
const FOR_PROGRAMS = /API key|header|errors|Request id/;

const open = (path: string) =>
  openPage(`${server.url}/app/p/${server.project}${path}`, { cookie: server.cookie });

const mainText = (page: Page) => page.locator("main").innerText();

describe("an object that does not exist", () => {
  test.skipIf(!hasChromium).each([
    ["/campaigns/", "campaign"],
    ["/emails/", "email"],
    ["/emails?email=", "email"],
    ["/templates/", "template"],
    ["/workflows/", "workflow"],
    ["/segments/", "segment"],
    ["/contacts/", "contact"],
    ["/webhooks/", "webhook"],
    ["/domains/", "domain"],
    ["/events?event=", "event"],
  ])(
    "%s says so, without a button to try again",
    async (path, noun) => {
      const { page, findings, close } = await open(path + MISSING);
      const text = `This ${noun} does not exist. It may have been deleted, or the address is`;
      await page.getByText(text).waitFor();
      expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
      expect(await findings()).toEqual([]);
      await close();
    },
    BROWSER_LIMIT_MS,
  );

  pageTest("a template that is deleted elsewhere leaves its page", async () => {
    const mail = { subject: "Hi", body: "<p>Hi</p>", from: "news@acme.example" };
    const created = await server.call("POST", "/templates", {
      name: "Greeting",
      ...mail,
      type: "MARKETING",
    });
    const id = stringAt(created, "data.id");
    const { page, close } = await open(`/templates/${id}`);
    await page.getByRole("heading", { level: 1, name: "Greeting" }).waitFor();
    await server.call("DELETE", `/templates/${id}`);
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await page.getByText("This template does not exist.").waitFor();
    expect(await page.getByRole("heading", { name: "Greeting" }).count()).toBe(0);
    await close();
  });

  pageTest(
    "the data of a contact that was deleted elsewhere is not saved, and the form says why",
    async () => {
      const created = await server.call("POST", "/contacts", {
        email: "gone@example.com",
        data: { city: "Bergen" },
      });
      const id = stringAt(created, "id");
      const { page, close } = await open(`/contacts/${id}`);
      await page.getByRole("button", { name: "Edit", exact: true }).click();
      await page.getByLabel("Value of city").fill("Oslo");
      // Only the answer to the change says that the contact is gone.
      await page.route(`**/contacts/${id}`, (route) =>
        route.request().method() === "PATCH"
          ? route.continue({ url: `${server.url}/contacts/${MISSING}` })
          : route.continue(),
      );
      await page.getByRole("button", { name: "Save", exact: true }).click();
      await page.getByRole("alert").getByText("This contact does not exist.").waitFor();
      expect(await mainText(page)).not.toMatch(FOR_PROGRAMS);
      await close();
    },
  );
});

describe("a search that is refused", () => {
  test.skipIf(!hasChromium).each([["to=rtl"], ["status=nonsense"]])(
    "%s says why in words for people",
    async (search) => {
      const { page, screenshot, close } = await open(`/emails?${search}`);
      await page.getByRole("alert").waitFor();
      await screenshot(`refused-${search.split("=")[0]}`);
      expect(await mainText(page)).not.toMatch(FOR_PROGRAMS);
      await close();
    },
    BROWSER_LIMIT_MS,
  );
});
