/**
 * Lists that cannot be read, are empty or have no match, and refusals of the interface in words for
 * people, whose texts are for programs as well. All pages are shown in one tab.
 */

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import {
  BROWSER_LIMIT_MS,
  hasChromium,
  type OpenedPage,
  openPage,
  withoutLiveMessages,
} from "../support/browser.ts";
import { type DashboardProject, newProject } from "../support/dashboard-server.ts";
import { stringAt } from "../support/json.ts";
import { beforePages, pageTest } from "../support/page-test.ts";
import { goTo } from "./go-to.ts";

const MISSING = "0199b6f2-6f6a-7000-8000-000000000000";
const FOR_PROGRAMS = /API key|header|errors|Request id/;
const FAILURE = {
  success: false,
  error: { code: "X", message: "The list is not available.", requestId: "r-1" },
};

let server: DashboardProject;
let opened: OpenedPage;
let page: Page;

beforePages(async () => {
  server = await newProject();
  opened = await openPage(`${server.url}/app/p/${server.project}`, {
    cookie: server.cookie,
    // A live message would read a list again before the button does.
    prepare: withoutLiveMessages,
  });
  ({ page } = opened);
});
beforeEach(() => {
  if (hasChromium) opened.problems.length = 0;
});
afterAll(async () => {
  if (hasChromium) await opened.close();
});

const open = (path: string) => goTo(page, `/p/${server.project}${path}`);
const mainText = () => page.locator("main").innerText();

describe("a list that cannot be read", () => {
  test.skipIf(!hasChromium).each([
    ["/contacts", "/contacts", "No contacts yet"],
    ["/segments", "/segments", "No segments yet"],
    ["/campaigns", "/campaigns/summaries", "No campaigns yet"],
    ["/templates", "/templates", "No templates yet"],
    ["/workflows", "/workflows", "No workflows yet"],
    ["/emails", "/emails", "No emails yet"],
    ["/suppressions", "/suppressions", "No address is suppressed"],
    ["/events", "/events", "No events yet"],
    ["/domains", "/domains", "No domains yet"],
    ["/webhooks", "/webhooks", "No webhooks yet"],
    ["/relay-reports", "/report-sources", "No relay reports yet"],
    ["/relay-reports/mailboxes", "/report-mailboxes", "No mailboxes yet"],
    ["/keys", "/keys", "Server"],
    ["/settings/audit", "/audit", "created API key"],
  ])(
    "%s says why, and can be tried again",
    async (path, list, shown) => {
      const isList = ({ pathname }: URL) => pathname === list;
      await page.route(isList, (route) => route.fulfill({ status: 500, json: FAILURE }));
      await open(path);
      await page.getByText("The list is not available.").waitFor();
      await page.getByText("r-1").waitFor();
      await page.unroute(isList);
      await page.getByRole("button", { name: "Try again" }).click();
      await page.getByText(shown).first().waitFor();
      expect(opened.problems.filter((problem) => !problem.includes("status of 500"))).toEqual([]);
    },
    BROWSER_LIMIT_MS,
  );
});

describe("a list without a match", () => {
  test.skipIf(!hasChromium).each([
    ["/contacts?q=nowhere", "No contacts yet"],
    ["/campaigns?q=nowhere", "No campaigns yet"],
    ["/emails?to=nobody@example.com", "No emails yet"],
    ["/suppressions?q=nowhere", "No address is suppressed"],
    ["/events?name=nothing", "No events yet"],
    ["/settings/audit?action=nothing", "created API key"],
  ])(
    "%s is not an empty list, and its filters are cleared by a button",
    async (path, shown) => {
      await open(path);
      await page.getByText("No rows match these filters.").waitFor();
      await page.getByRole("button", { name: "Clear filters" }).click();
      await page.getByText(shown).first().waitFor();
      expect(new URL(page.url()).search).toBe("");
      expect(opened.problems).toEqual([]);
    },
    BROWSER_LIMIT_MS,
  );
});

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
      await open(path + MISSING);
      const text = `This ${noun} does not exist. It may have been deleted, or the address is`;
      await page.getByText(text).first().waitFor();
      expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
    },
    BROWSER_LIMIT_MS,
  );

  pageTest("a template that is deleted elsewhere leaves its page", async () => {
    const created = await server.call("POST", "/templates", {
      name: "Greeting",
      subject: "Hi",
      body: "<p>Hi</p>",
      from: "news@acme.example",
      type: "MARKETING",
    });
    const id = stringAt(created, "data.id");
    await open(`/templates/${id}`);
    await page.getByRole("heading", { level: 1, name: "Greeting" }).waitFor();
    await server.call("DELETE", `/templates/${id}`);
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await page.getByText("This template does not exist.").waitFor();
    expect(await page.getByRole("heading", { name: "Greeting" }).count()).toBe(0);
  });

  pageTest(
    "the data of a contact that was deleted elsewhere is not saved, and the form says why",
    async () => {
      const contact = { email: "gone@example.com", data: { city: "Bergen" } };
      const id = stringAt(await server.call("POST", "/contacts", contact), "id");
      await open(`/contacts/${id}`);
      // A part that appears later could move the button away from the click.
      for (const part of ["No mail was sent", "is in no segment", "was in no workflow"]) {
        await page.getByText(part).waitFor();
      }
      await page.getByRole("button", { name: "Edit", exact: true }).click();
      await page.getByLabel("Value of city").fill("Oslo");
      await server.call("DELETE", `/contacts/${id}`);
      await page.getByRole("button", { name: "Save", exact: true }).click();
      await page.getByRole("alert").getByText("This contact does not exist.").first().waitFor();
      expect(await mainText()).not.toMatch(FOR_PROGRAMS);
    },
  );
});

describe("a search that is refused", () => {
  test.skipIf(!hasChromium).each([["to=rtl"], ["status=nonsense"]])(
    "%s says why in words for people",
    async (search) => {
      await open("/keys");
      await page.getByRole("heading", { level: 1, name: "API keys" }).waitFor();
      await open(`/emails?${search}`);
      await page.getByRole("alert").waitFor();
      expect(await mainText()).not.toMatch(FOR_PROGRAMS);
    },
    BROWSER_LIMIT_MS,
  );
});
