/** Each list of the dashboard that cannot be read says so, and is read again by a button. */

import { describe, expect } from "bun:test";
import { openPage } from "../support/browser.ts";
import { type DashboardProject, newProject } from "../support/dashboard-server.ts";
import { beforePages, pageTest } from "../support/page-test.ts";

const LISTS = [
  ["Emails", "/emails", "No emails yet"],
  ["Contacts", "/contacts", "No contacts yet"],
  ["Segments", "/segments", "No segments yet"],
  ["Campaigns", "/campaigns/summaries", "No campaigns yet"],
  ["Workflows", "/workflows", "No workflows yet"],
  ["Templates", "/templates", "No templates yet"],
  ["Events", "/events", "No events yet"],
  ["Suppressions", "/suppressions", "No address is suppressed"],
  ["Domains", "/domains", "No domains yet"],
  ["Webhooks", "/webhooks", "No webhooks yet"],
  ["API keys", "/keys", "Server"],
] as const;

const FAILURE = {
  success: false,
  error: { code: "X", message: "The list is not available.", requestId: "r-1" },
};

let project: DashboardProject;

beforePages(async () => {
  project = await newProject();
});

describe("a list that cannot be read", () => {
  pageTest("shows the failure instead of an empty list, and is read again", async () => {
    let connected: Promise<unknown> | undefined;
    const { page, close } = await openPage(
      `${project.url}/app/p/${project.project}/settings/general`,
      {
        cookie: project.cookie,
        prepare: async (opened) => {
          connected = opened.waitForResponse("**/app/api/live*");
        },
      },
    );
    // The lists are read again when the stream of live messages opens.
    await connected;
    for (const [label, path, shown] of LISTS) {
      const pattern = new RegExp(`^${project.url}${path}(\\?|$)`);
      await page.route(pattern, (route) => route.fulfill({ status: 500, json: FAILURE }));
      await page.getByRole("link", { name: label, exact: true }).first().click();
      await page.getByRole("heading", { level: 1, name: label }).waitFor();
      await page.getByText("The list is not available.").waitFor();
      await page.getByText("r-1").waitFor();
      expect([label, await page.getByText(shown).count()]).toEqual([label, 0]);
      await page.unroute(pattern);
      await page.getByRole("button", { name: "Try again" }).click();
      await page.getByText(shown).first().waitFor();
    }
    await close();
  });
});
