/**
 * Runs the tests of the dashboard in Chromium against the executable instead of the sources.
 *
 * `bun scripts/journeys.ts [EXECUTABLE]` (default: `dist/mailstead`)
 *
 * It tests all journeys, and all pages that need no other server. Without Chromium it prints that it was
 * skipped and exits with code 0.
 */

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { hasChromium } from "../test/support/browser.ts";

const ROOT = join(import.meta.dir, "..");
const JOURNEYS = "test/dashboard/journeys.test.ts";
/** Tests that start servers as an operator does. */
const PAGES = [
  "audit",
  "domains",
  "email-drawer",
  "email-hostile",
  "emails",
  "emails-states",
  "entry",
  "frame",
  "inbox",
  "inbox-limits",
  "journeys-campaign",
  "journeys-domain",
  "journeys-faults",
  "journeys-nothing",
  "journeys-webhook",
  "keys",
  "settings",
].map((name) => `test/dashboard/${name}.test.ts`);

const [path = join(ROOT, "dist", "mailstead")] = process.argv.slice(2);
const executable = resolve(path);
if (!existsSync(executable)) {
  console.error(`${executable} is missing: run bun scripts/build.ts first`);
  process.exit(1);
}
if (!hasChromium) {
  console.log("skipped: Chromium is missing (apt-get install chromium)");
  process.exit(0);
}
const tests = Bun.spawn([process.execPath, "test", "--timeout", "60000", JOURNEYS, ...PAGES], {
  cwd: ROOT,
  env: { ...process.env, TEST_EXECUTABLE: executable },
  stdio: ["ignore", "inherit", "inherit"],
});
process.exit(await tests.exited);
