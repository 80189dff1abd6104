/**
 * Every page of the dashboard is accessible, quiet and fits the window: wide and light, narrow and
 * dark. The pages are those of `scripts/pages/dashboard-pages.ts`, in the demonstration project and in
 * an empty one. A tab goes from page to page as a link of the dashboard does, because to load each
 * would cost more than the checks.
 */

import { afterAll, describe, expect } from "bun:test";
import type { Page, Request } from "playwright-core";
import { findIds } from "../../scripts/pages/dashboard.ts";
import {
  DASHBOARD_PAGES,
  type DashboardPage,
  type PageState,
  type Place,
} from "../../scripts/pages/dashboard-pages.ts";
import { sendSampleMessage } from "../../scripts/pages/sample-message.ts";
import { faultsOf, hasChromium, NO_FAULTS, type OpenedPage, openPage } from "../support/browser.ts";
import { newProject } from "../support/dashboard-server.ts";
import { beforePages, pageTest } from "../support/page-test.ts";
import { sharedDemo } from "./demo-server.ts";

/** A page of a project, or one without a session, from which the others are reached. */
type Site = { opened: OpenedPage; place: Place };

const STATES = ["FULL", "EMPTY"] as const satisfies PageState[];
let sites: Record<(typeof STATES)[number] | "PUBLIC" | "CHANGED", Site>;
/** Members that replace those of the state of the server, for the pages of the site CHANGED. */
let changes: Readonly<Record<string, unknown>> = {};
const requests = new Set<Request>();

beforePages(async () => {
  const empty = await newProject();
  const demo = await sharedDemo();
  await sendSampleMessage(demo.url, demo.cookies.OWNER);
  const ids = await findIds(demo.url, demo.secretKey);
  const { url, project, cookie } = empty;
  sites = {
    FULL: {
      opened: await demo.open("", { role: "OWNER" }),
      place: { project: demo.project, ids },
    },
    EMPTY: {
      opened: await openPage(`${url}/app/p/${project}`, { cookie }),
      place: { project, ids },
    },
    PUBLIC: { opened: await openPage(`${url}/app/login`), place: { project, ids } },
    CHANGED: {
      opened: await openPage(`${url}/app/welcome`, { cookie, prepare: changeState }),
      place: { project, ids },
    },
  };
  for (const { opened } of Object.values(sites)) watchRequests(opened.page);
});
afterAll(async () => {
  if (!hasChromium) return;
  for (const { opened } of Object.values(sites)) await opened.close();
});

async function changeState(page: Page): Promise<void> {
  await page.route("**/app/api/state", async (route) => {
    const response = await route.fetch();
    const answer: { data: object } = await response.json();
    await route.fulfill({ response, json: { ...answer, data: { ...answer.data, ...changes } } });
  });
}

function watchRequests(page: Page): void {
  page.on("request", (request) => {
    if (request.resourceType() !== "eventsource") requests.add(request);
  });
  page.on("requestfinished", (request) => requests.delete(request));
  page.on("requestfailed", (request) => requests.delete(request));
}

/** Resolves when the page has shown the answers to all its requests. */
async function settle(page: Page): Promise<void> {
  do {
    await page.evaluate(TWO_FRAMES);
  } while (requests.size > 0);
  await page.evaluate(TWO_FRAMES);
}

const TWO_FRAMES = `new Promise((resolve) =>
  requestAnimationFrame(() => requestAnimationFrame(() => resolve())))`;

/** Goes to a path of the dashboard without loading the document again. */
const go = (page: Page, path: string) =>
  page.evaluate(`history.pushState({}, "", ${JSON.stringify(`/app${path}`)});
    dispatchEvent(new PopStateEvent("popstate"));`);

async function check(shown: DashboardPage, { opened, place }: Site): Promise<void> {
  const { name, path, heading, open, expected } = shown;
  const { page, problems } = opened;
  problems.length = 0;
  await opened.setLayout("light");
  if (shown.appState === undefined) await go(page, path(place));
  else {
    changes = shown.appState(place);
    await page.goto(`${new URL(page.url()).origin}/app${path(place)}`);
  }
  await page.getByRole("heading", { level: 1, name: heading }).waitFor();
  try {
    await open?.(page);
    for (const layout of ["light", "phone-dark"] as const) {
      await opened.setLayout(layout);
      await settle(page);
      await opened.screenshot(name);
      const faults = await faultsOf(opened);
      const unexpected = problems.filter((text) => !expected || !text.includes(expected));
      expect([layout, { ...faults, problems: unexpected }]).toEqual([layout, NO_FAULTS]);
    }
  } finally {
    if (open !== undefined) await page.keyboard.press("Escape");
  }
}

describe("every layout is accessible, quiet and fits the window", () => {
  for (const state of STATES) {
    for (const shown of DASHBOARD_PAGES) {
      if (shown.states?.includes(state) === false) continue;
      const site = shown.appState ? "CHANGED" : shown.isPublic ? "PUBLIC" : state;
      pageTest(`${shown.name}, ${state.toLowerCase()}`, () => check(shown, sites[site]));
    }
  }
});
