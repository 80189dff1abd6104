/** The way of tests from page to page: to load each page would cost more than to look at it. */

import type { Page } from "playwright-core";

/** Goes to a path below `/app` as a link of the dashboard does, without loading the document again. */
export async function goTo(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState({}, "", ${JSON.stringify(`/app${path}`)});
    dispatchEvent(new PopStateEvent("popstate"));`);
}
