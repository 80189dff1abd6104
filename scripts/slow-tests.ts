/**
 * Reads the report of a test run (`bun test --reporter=junit`), prints its ten slowest tests, and fails
 * if a fast test took more than a second. Such a file runs once more, alone, because all processors were
 * busy in the first run: only a test that is slow again counts. Where other programs keep a processor
 * busy meanwhile, it may take twice as long.
 *
 * `bun scripts/slow-tests.ts REPORT`
 */

import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";

const LIMIT_S = 1;
/** Part of a processor that other programs may use while a file runs alone. */
const OTHERS = 0.25;
/** Tests that may be slow, with what they wait for. A line begins with the file and its test. */
const SLOW: Readonly<Record<string, string>> = {
  "test/dashboard/": "a browser",
  "test/proofs/": "many rounds",
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

const isSlow = ({ seconds, file, name }: Test, limit = LIMIT_S) =>
  seconds > limit &&
  !Object.keys(SLOW).some((beginning) => `${file} ${name}`.startsWith(beginning));

const line = ({ name, file, seconds }: Test) => `  ${seconds.toFixed(2)} s  ${file}  ${name}`;

/** Processor time that all programs used since the start of the machine, in seconds. */
function busySeconds(): number {
  const sum = cpus().reduce((total, { times }) => total + times.user + times.nice + times.sys, 0);
  return sum / 1_000;
}

/** The tests of the file that are slow when it runs alone. */
function slowAlone(file: string): Test[] {
  const outfile = join(process.env["TMPDIR"] ?? "/tmp", `slow-tests-${process.pid}.xml`);
  const options = ["--timeout", "30000", "--reporter=junit", `--reporter-outfile=${outfile}`];
  const [startedMs, busyBefore] = [performance.now(), busySeconds()];
  const { resourceUsage } = Bun.spawnSync([process.execPath, "test", ...options, file], {
    stdout: "ignore",
    stderr: "ignore",
  });
  const own = Number(resourceUsage.cpuTime.total) / 1e6;
  const others = busySeconds() - busyBefore - own;
  const isBusy = others > (OTHERS * (performance.now() - startedMs)) / 1_000;
  const limit = isBusy ? 2 * LIMIT_S : LIMIT_S;
  return testsOf(readFileSync(outfile, "utf8")).filter((test) => isSlow(test, limit));
}

const [report = ""] = Bun.argv.slice(2);
const tests = testsOf(readFileSync(report, "utf8"));
const slowest = tests.toSorted((a, b) => b.seconds - a.seconds).slice(0, PRINTED);
console.log(`the slowest of ${tests.length} tests:\n${slowest.map(line).join("\n")}`);

const files = new Set(tests.filter((test) => isSlow(test)).map(({ file }) => file));
const slow = [...files].flatMap(slowAlone);
if (slow.length > 0) {
  console.log(`a fast test takes at most ${LIMIT_S} s; these took longer, also alone:`);
  console.log(slow.map(line).join("\n"));
  process.exit(1);
}
