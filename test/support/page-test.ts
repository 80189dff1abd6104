/** Tests that open a browser. They are skipped where Chromium is missing. */

import { beforeAll, test } from "bun:test";
import { hasChromium, sharedBrowser } from "./browser.ts";
import { describeTabs } from "./tabs.ts";

/** The limit of a test in a browser, on a busy machine. */
const LIMIT_MS = 60_000;

export function pageTest(name: string, run: () => Promise<void>): void {
  test.skipIf(!hasChromium)(
    name,
    async () => {
      try {
        await run();
      } catch (error) {
        console.error(await describeTabs(await sharedBrowser()));
        throw error;
      }
    },
    LIMIT_MS,
  );
}

/** Prepares the tests of a file, such as the project that their pages show. */
export function beforePages(run: () => Promise<void>): void {
  beforeAll(async () => {
    if (hasChromium) await run();
  }, LIMIT_MS);
}
