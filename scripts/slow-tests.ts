/**
 * Reads the report of a test run (`bun test --reporter=junit`), prints its ten slowest tests, and fails
 * if a fast test took more than a second. The files of such tests run again, up to three times and
 * nothing beside them, because all processors were busy before: only a test that is slow each time counts.
 *
 * `bun scripts/slow-tests.ts REPORT`
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";

const LIMIT_S = 1;
const RUNS_ALONE = 3;
/** Tests that may be slow, with what they wait for. A line begins with the file and its test. */
const SLOW: Readonly<Record<string, string>> = {
  "test/dashboard/": "a browser",
  "test/proofs/": "many rounds",
  "test/architecture/walks.test.ts": "a server in a process of its own",
  "test/backup/s3.test.ts": "uploads in several parts",
  "test/cli/dev.test.ts": "several starts of a server",
  "test/cli/process.test.ts": "the program",
  "test/cli/dashboard-settings.test.ts": "the program",
  "test/cli/secret.test.ts": "several starts of a server",
  "test/docs/testing-recipes.test.ts": "tools of other languages",
  "test/http/descriptor-guard.test.ts a server without": "the program",
  "test/http/openapi-client.test.ts": "a linter and a compiler",
  "test/modules/backups.test.ts": "a backup in a process of its own",
  "test/modules/campaigns/faults.test.ts a template that takes longer": "the limit of a render",
  "test/modules/campaigns/faults.test.ts while the relay is down": "an outage of an hour",
  "test/modules/relay-reports/many-reports.test.ts 10,000 reports": "ten thousand reports",
  "test/outbox/direct/tarpits.test.ts": "hundreds of connections",
  "test/outbox/direct/whole.test.ts": "hundreds of mails",
  "test/scripts/seed-demo.test.ts the same seed": "two years of demonstration data",
  "test/upgrade/upgrade.test.ts": "programs in processes of their own",
  "test/watchdog.test.ts rendering for one request": "the limit of a render",
};
const PRINTED = 10;

type Test = { name: string; file: string; seconds: number };

function testsOf(report: string): Test[] {
  return [...report.matchAll(/<testcase ([^>]*)>/g)].map(([, attributes = ""]) => {
    const value = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? "";
    const name = [value("classname"), value("name")].filter((part) => part !== "").join(" > ");
    return { name: plain(name), file: value("file"), seconds: Number(value("time")) };
  });
}

const plain = (text: string) =>
  text
    .replaceAll("&gt;", ">")
    .replaceAll("&lt;", "<")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&");

const isSlow = ({ seconds, file, name }: Test) =>
  seconds > LIMIT_S &&
  !Object.keys(SLOW).some((beginning) => `${file} ${name}`.startsWith(beginning));

const line = ({ name, file, seconds }: Test) => `  ${seconds.toFixed(2)} s  ${file}  ${name}`;

/** Runs the files, one after the other in one process, and nothing else. */
function testsAlone(files: readonly string[]): Test[] {
  const outfile = join(process.env["TMPDIR"] ?? "/tmp", `slow-tests-${process.pid}.xml`);
  const options = ["--timeout", "30000", "--reporter=junit", `--reporter-outfile=${outfile}`];
  Bun.spawnSync([process.execPath, "test", ...options, ...files], {
    stdout: "ignore",
    stderr: "ignore",
  });
  return testsOf(readFileSync(outfile, "utf8"));
}

const key = ({ file, name }: Test) => `${file} ${name}`;
const filesOf = (slow: readonly Test[]) => [...new Set(slow.map(({ file }) => file))];

/**
 * The tests of the files that are slow each time, with the times of the last run. The files share a
 * process in the first run, which saves the start of most of them, and later ones have one each.
 */
function slowAlone(files: readonly string[]): Test[] {
  if (files.length === 0) return [];
  let slow = testsAlone(files).filter(isSlow);
  for (let run = 2; run <= RUNS_ALONE; run++) {
    const before = new Set(slow.map(key));
    const again = filesOf(slow).flatMap((file) => testsAlone([file]));
    slow = again.filter((test) => isSlow(test) && before.has(key(test)));
  }
  return slow;
}

const [report = ""] = Bun.argv.slice(2);
const tests = testsOf(readFileSync(report, "utf8"));
const slowest = tests.toSorted((a, b) => b.seconds - a.seconds).slice(0, PRINTED);
console.log(`the slowest of ${tests.length} tests:\n${slowest.map(line).join("\n")}`);

const slow = slowAlone(filesOf(tests.filter(isSlow)));
if (slow.length > 0) {
  console.log(
    `a fast test takes at most ${LIMIT_S} s; these took longer, also ${RUNS_ALONE} times alone:`,
  );
  console.log(slow.map(line).join("\n"));
  process.exit(1);
}
