/**
 * Runs the tests of the dashboard in Chromium against the executable instead of the sources.
 *
 * `bun scripts/journeys.ts [--short] [EXECUTABLE]` (default: `dist/mailstead`)
 *
 * `--short` runs two journeys: the first ten minutes of `mailstead serve`, and the first mail of
 * `mailstead dev`. Without it, all journeys and all pages that need no other server are tested. Without
 * Chromium it prints that it was skipped and exits with code 0.
 */

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { hasChromium } from "../test/support/browser.ts";

const ROOT = join(import.meta.dir, "..");
const JOURNEYS = "test/dashboard/journeys.test.ts";
const SHORT = "the first ten minutes|one link signs in";
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

const words = process.argv.slice(2);
const isShort = words.includes("--short");
const [path = join(ROOT, "dist", "mailstead")] = words.filter((word) => word !== "--short");
const executable = resolve(path);
if (!existsSync(executable)) {
  console.error(`${executable} is missing: run bun scripts/build.ts first`);
  process.exit(1);
}
if (!hasChromium) {
  console.log("skipped: Chromium is missing (apt-get install chromium)");
  process.exit(0);
}
const files = isShort ? [JOURNEYS, "--test-name-pattern", SHORT] : [JOURNEYS, ...PAGES];
const tests = Bun.spawn([process.execPath, "test", "--timeout", "60000", ...files], {
  cwd: ROOT,
  env: { ...process.env, TEST_EXECUTABLE: executable },
  stdio: ["ignore", "inherit", "inherit"],
});
process.exit(await tests.exited);
