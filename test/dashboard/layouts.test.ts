/**
 * Every page of the dashboard is accessible, quiet and fits the window: wide and light, narrow and
 * dark. The pages are those of `scripts/pages/dashboard-pages.ts`, in the demonstration project and in
 * an empty one. A tab goes from page to page as a link of the dashboard does, because to load each
 * would cost more than the checks.
 */

import { afterAll, describe, expect } from "bun:test";
import type { Page } from "playwright-core";
import { findIds } from "../../scripts/pages/dashboard.ts";
import {
  DASHBOARD_PAGES,
  type DashboardPage,
  type PageState,
  type Place,
} from "../../scripts/pages/dashboard-pages.ts";
import { sendSampleMessage } from "../../scripts/pages/sample-message.ts";
import {
  hasChromium,
  type Layout,
  NO_FAULTS,
  type OpenedPage,
  openPage,
} from "../support/browser.ts";
import { newProject } from "../support/dashboard-server.ts";
import { beforePages, pageTest } from "../support/page-test.ts";
import { openRequests } from "../support/tabs.ts";
import { sharedDemo } from "./demo-server.ts";
import { goTo } from "./go-to.ts";

/** A page of a project, or one without a session, from which the others are reached. */
type Site = {
  opened: OpenedPage;
  place: Place;
  /** The layouts in the order in which the last page was checked in them. */
  layouts: readonly Layout[];
};

const LAYOUTS = ["light", "phone-dark"] as const satisfies Layout[];
/**
 * The rules of axe whose findings depend on colours and sizes, or on elements that only a phone
 * shows.
 */
const RULES_OF_LAYOUTS = [
  "color-contrast",
  "link-in-text-block",
  "target-size",
  "scrollable-region-focusable",
  "button-name",
  "link-name",
  "label",
];
const DIALOG = "[role=dialog]";
const STATES = ["FULL", "EMPTY"] as const satisfies PageState[];
let sites: Record<(typeof STATES)[number] | "PUBLIC" | "CHANGED", Site>;
/** Members that replace those of the state of the server, for the pages of the site CHANGED. */
let changes: Readonly<Record<string, unknown>> = {};

beforePages(async () => {
  const empty = await newProject();
  const demo = await sharedDemo();
  await sendSampleMessage(demo.url, demo.cookies.OWNER);
  const ids = await findIds(demo.url, demo.secretKey);
  const { url, project, cookie } = empty;
  const site = (opened: OpenedPage, of = project): Site => ({
    opened,
    place: { project: of, ids },
    layouts: LAYOUTS.toReversed(),
  });
  sites = {
    FULL: site(await demo.open("", { role: "OWNER" }), demo.project),
    EMPTY: site(await openPage(`${url}/app/p/${project}`, { cookie })),
    PUBLIC: site(await openPage(`${url}/app/login`)),
    CHANGED: site(await openPage(`${url}/app/welcome`, { cookie, prepare: changeState })),
  };
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

/** Resolves when the page has shown the answers to all its requests. */
async function settle(page: Page): Promise<void> {
  do {
    await page.evaluate(TWO_FRAMES);
  } while (openRequests(page).length > 0);
  await page.evaluate(TWO_FRAMES);
}

const TWO_FRAMES = `new Promise((resolve) =>
  requestAnimationFrame(() => requestAnimationFrame(() => resolve())))`;

/**
 * A page that was scrolled to a part in the wide window shows another part in the narrow one, where a sticky
 * bar may cover half of a field. That is the place of the page, not a fault of its layout.
 */
const SCROLL_TO_TOP = `document.querySelector(".page")?.scrollTo(0, 0)`;

async function check(shown: DashboardPage, site: Site): Promise<void> {
  const { name, path, heading, open, expected } = shown;
  const { opened, place } = site;
  const { page, problems } = opened;
  problems.length = 0;
  // To change the layout costs as much as a check, so a page begins in the layout in which the page
  // before it ended. A part of a page is opened in the wide window.
  site.layouts = open === undefined ? site.layouts.toReversed() : LAYOUTS;
  // A page behind another one of the same user is painted once a second.
  await page.bringToFront();
  if (open !== undefined) await opened.setLayout("light");
  if (shown.appState === undefined) await goTo(page, path(place));
  else {
    changes = shown.appState(place);
    await page.goto(`${new URL(page.url()).origin}/app${path(place)}`);
  }
  await page.getByRole("heading", { level: 1, name: heading }).waitFor();
  try {
    await open?.(page);
    for (const layout of site.layouts) {
      await opened.setLayout(layout);
      if (layout !== site.layouts[0]) await page.evaluate(SCROLL_TO_TOP);
      await settle(page);
      const faults = await faultsOf(opened, layout);
      const unexpected = problems.filter((text) => !expected || !text.includes(expected));
      const all = { ...faults, problems: unexpected };
      if (!Bun.deepEquals(all, NO_FAULTS)) await opened.screenshot(name);
      expect([layout, all]).toEqual([layout, NO_FAULTS]);
    }
  } finally {
    if (open !== undefined) await page.keyboard.press("Escape");
  }
}

/** The faults of a page. A page below a drawer or dialog is checked by itself, without it. */
async function faultsOf({ page, findings, overflowPx }: OpenedPage, layout: Layout) {
  const isCovered = (await page.locator(DIALOG).count()) > 0;
  const within = isCovered ? DIALOG : ":root";
  return {
    findings: await findings({
      within,
      ...(layout === "light" ? {} : { rules: RULES_OF_LAYOUTS }),
    }),
    overflowPx: await overflowPx(),
  };
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
