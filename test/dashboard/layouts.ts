/** The check of every page: in each layout it is accessible, quiet and fits the window. */

import { expect } from "bun:test";
import type { Page } from "playwright-core";
import {
  faultsOf,
  type Layout,
  LAYOUT_NAMES,
  NO_FAULTS,
  type OpenedPage,
} from "../support/browser.ts";

type Check = {
  /** Name of the screenshots. */
  name: string;
  /** Resolves when the page has its content. */
  isShown: (page: Page) => Promise<unknown>;
  /** The page is loaded again where the width changes, so layouts of one width follow each other. */
  layouts?: readonly Layout[];
  /** A part of the messages in the console that are expected. */
  expected?: string;
};

/** Shows a page in each layout, saves its screenshots and expects no faults. */
export async function expectFaultless(opened: OpenedPage, check: Check): Promise<void> {
  const { name, isShown, layouts = LAYOUT_NAMES, expected } = check;
  for (const layout of layouts) {
    await opened.setLayout(layout);
    await isShown(opened.page);
    await opened.screenshot(name);
    const faults = await faultsOf(opened);
    const problems = faults.problems.filter((text) => !expected || !text.includes(expected));
    expect([name, layout, { ...faults, problems }]).toEqual([name, layout, NO_FAULTS]);
  }
}

/** As `expectFaultless`, and closes the page. */
export async function expectNoFaults(opened: OpenedPage, check: Check): Promise<void> {
  await expectFaultless(opened, check);
  await opened.close();
}
