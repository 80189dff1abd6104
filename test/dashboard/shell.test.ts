/** The frame of the dashboard and the pages before sign-in, in every layout. */

import { describe } from "bun:test";
import type { Page } from "playwright-core";
import { openPage } from "../support/browser.ts";
import { type DashboardProject, newProject } from "../support/dashboard-server.ts";
import { answerState, EMPTY_STATE, PROJECT, SIGNED_OUT } from "./answers.ts";
import { expectNoFaults } from "./layouts.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

let server: DashboardProject;

beforePages(async () => {
  server = await newProject();
});

const PAGES = [
  { name: "overview", path: `/p/${PROJECT.id}`, heading: "Overview", state: undefined },
  { name: "account", path: "/account", heading: "Account", state: undefined },
  { name: "login", path: "/login", heading: "Sign in", state: SIGNED_OUT },
  { name: "setup", path: "/setup#token", heading: "Set up Mailstead", state: EMPTY_STATE },
  { name: "reset", path: "/reset#token", heading: "Choose a new password", state: SIGNED_OUT },
  { name: "not-found", path: "/nowhere", heading: "This page does not exist", state: undefined },
];

describe("every page is accessible, quiet and fits the window", () => {
  for (const { name, path, heading, state } of PAGES) {
    pageTest(name, async () => {
      const opened = await openPage(`${server.url}/app${path}`, {
        prepare: async (page: Page) => {
          await page.setExtraHTTPHeaders({ authorization: `Bearer ${server.secretKey}` });
          await answerState(page, state);
        },
      });
      await expectNoFaults(opened, {
        name,
        async isShown(page) {
          await page.getByRole("heading", { level: 1, name: heading }).waitFor();
          await page.evaluate("document.fonts.ready");
        },
      });
    });
  }
});
