/**
 * Time comes through a Clock: the platform's time is read in one file, and the clock of the system
 * is used directly only by the files listed here. All other code is given a clock, so that a test
 * can set it, and so that a step of the system clock is handled in one place.
 */

import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const SRC = join(import.meta.dir, "../../src");

const PLATFORM_TIME =
  /\b(?:performance\.(?:now|timeOrigin)|Date\.now|process\.hrtime|Bun\.nanoseconds|new Date\(\))/;

/** Reads the time of the platform. */
const CLOCK_FILE = "lib/clock.ts";

/** Commands, threads and defaults of the program itself, which create the clock that other code gets. */
const CREATES_THE_CLOCK = [
  "cli/backup-places.ts",
  "cli/check.ts",
  "cli/doctor.ts",
  "cli/encrypted-backup.ts",
  "cli/events.ts",
  "cli/project-move.ts",
  "doctor/sntp.ts",
  "cli/domain.ts",
  "cli/key.ts",
  "cli/mcp.ts",
  "cli/send.ts",
  "cli/sendmail/run.ts",
  "cli/serve.ts",
  "cli/setup.ts",
  "cli/store.ts",
  "cli/upgrade.ts",
  "db/migrate.ts",
  "lib/log.ts",
  "outbox/compose/worker.ts",
];

/**
 * Work on the event loop that ends after some milliseconds or whose cost is measured. With the
 * clock of a test, which stands still, it would never end.
 */
const MEASURES_WORK = [
  "db/commit-delay.ts",
  "db/transactions.ts",
  "outbox/compose/composer.ts",
  "lib/call-queues.ts",
  "lib/thread-cpu.ts",
  "lib/yield.ts",
  "lib/loop-watch.ts",
  "render/render-budget.ts",
  "render/template/limits.ts",
  "modules/campaigns/expand.ts",
  "modules/contacts/bulk/run.ts",
  "modules/contacts/fields.ts",
  "modules/contacts/import/run.ts",
  "modules/emails/drafts.ts",
  "modules/retention.ts",
  "modules/webhooks/feed.ts",
  "modules/workflows/run/log-position.ts",
  "modules/workflows/run/runner.ts",
  "modules/workflows/run/slice.ts",
];

/**
 * Timeouts of sockets, locks and threads: the other side does not use the clock of a test, so they
 * are measured with the clock of the system unless a test gives another one.
 */
const WAITS_FOR_A_PEER = [
  "db/durability/disk-sync.ts",
  "db/durability/sqlite-sync.ts",
  "db/reader-thread.ts",
  "db/reader.ts",
  "lib/thread-pool.ts",
  "db/folder.ts",
  "db/write-lock.ts",
  "protocols/dns/client.ts",
  "protocols/fetch-guarded/fetch-guarded.ts",
  "protocols/smtp/pool.ts",
  "protocols/smtp/session.ts",
  "outbox/compose/pool.ts",
  "outbox/transports/direct.ts",
];

/** The dashboard runs in browsers: its tests set the clock of the browser. */
const BROWSER_CODE = "dashboard/";

const sources = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .filter((file) => /\.tsx?$/.test(file) && !file.endsWith(".d.ts"))
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => !file.startsWith(BROWSER_CODE))
  .map((file) => ({ file, source: readFileSync(join(SRC, file), "utf8") }));

function filesThat(matches: (source: string) => boolean): string[] {
  return sources
    .filter(({ source }) => matches(source))
    .map(({ file }) => file)
    .toSorted();
}

test("the time of the platform is read in one file", () => {
  expect(filesThat((source) => PLATFORM_TIME.test(source))).toEqual([CLOCK_FILE]);
});

test("only the listed files use the clock of the system directly", () => {
  const listed = [CLOCK_FILE, ...CREATES_THE_CLOCK, ...MEASURES_WORK, ...WAITS_FOR_A_PEER];
  expect(filesThat((source) => source.includes("systemClock"))).toEqual(listed.toSorted());
});

test("only the files that create the clock read dates from it; the others measure intervals", () => {
  const users = filesThat((source) => /systemClock\.now\b|clock: systemClock/.test(source));
  expect(users.filter((file) => !CREATES_THE_CLOCK.includes(file))).toEqual([]);
});
