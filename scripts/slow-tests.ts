/**
 * Reads the report of a test run (`bun test --reporter=junit`), prints its ten slowest tests, and fails
 * if a fast test took more than a second. Such a file runs again, alone, up to three times, because all
 * processors were busy in the first run: only a test that is slow each time counts.
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
  "test/cli/process.test.ts": "the program",
  "test/docs/testing-recipes.test.ts": "tools of other languages",
  "test/http/descriptor-guard.test.ts a server without": "the program",
  "test/http/openapi-client.test.ts": "a linter and a compiler",
  "test/modules/campaigns/faults.test.ts a template that takes longer": "the limit of a render",
  "test/scripts/seed-demo.test.ts the same seed": "two years of demonstration data",
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

/** Runs the file alone. */
function testsAlone(file: string): Test[] {
  const outfile = join(process.env["TMPDIR"] ?? "/tmp", `slow-tests-${process.pid}.xml`);
  const options = ["--timeout", "30000", "--reporter=junit", `--reporter-outfile=${outfile}`];
  Bun.spawnSync([process.execPath, "test", ...options, file], {
    stdout: "ignore",
    stderr: "ignore",
  });
  return testsOf(readFileSync(outfile, "utf8"));
}

/** The tests of the file that are slow each time it runs alone, with the times of the last run. */
function slowAlone(file: string): Test[] {
  let slow = testsAlone(file).filter(isSlow);
  for (let run = 2; run <= RUNS_ALONE && slow.length > 0; run++) {
    const before = new Set(slow.map(({ name }) => name));
    slow = testsAlone(file).filter((test) => isSlow(test) && before.has(test.name));
  }
  return slow;
}

const [report = ""] = Bun.argv.slice(2);
const tests = testsOf(readFileSync(report, "utf8"));
const slowest = tests.toSorted((a, b) => b.seconds - a.seconds).slice(0, PRINTED);
console.log(`the slowest of ${tests.length} tests:\n${slowest.map(line).join("\n")}`);

const files = new Set(tests.filter(isSlow).map(({ file }) => file));
const slow = [...files].flatMap(slowAlone);
if (slow.length > 0) {
  console.log(
    `a fast test takes at most ${LIMIT_S} s; these took longer, also ${RUNS_ALONE} times alone:`,
  );
  console.log(slow.map(line).join("\n"));
  process.exit(1);
}
