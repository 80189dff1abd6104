/**
 * Prints the test files that a change may break, one a line, for `./scripts/test --changed [COMMIT]`.
 * The change is what git reports between the commit (HEAD if none is given) and the working tree,
 * with new files.
 *
 * A test file is chosen if it changed, if its imports lead to a changed file, or if it is in the folder
 * of test/ that has the name of a changed file or of its folder: `src/http/body.ts` leads to
 * `test/http/body.test.ts` and `test/http/body-budget.test.ts`. Imports are not followed through the files that
 * connect everything (ROOTS), because nearly every test imports these. The nearest tests come first, as
 * many as take half a minute together, but those that changed run in any case. If a source has no near
 * test, a few run that use the whole program. The proofs run with all tests, or if they changed.
 */

import { readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** Files that import every part of the program. */
const ROOTS = [
  "src/app.ts",
  "src/core.ts",
  "src/services.ts",
  "src/modules.ts",
  "src/main.ts",
  "test/support/app.ts",
];
/** Time of the tests, in all processes together: they run on two processors or more. */
const BUDGET_MS = 30_000;
/** The time of a file that is not in test/timings.json, which `bun test --update-timings` writes. */
const UNKNOWN_MS = 500;
/** Tests of the whole program, for sources that connect everything. */
const OF_ALL = ["test/lifecycle.test.ts", "test/architecture/"];
const OF_DASHBOARD = ["test/dashboard/frame.test.ts"];
const EXTENSIONS = [".ts", ".tsx"];

const root = join(import.meta.dir, "..");

function git(...words: string[]): string[] {
  const { stdout, success, stderr } = Bun.spawnSync(["git", ...words], { cwd: root });
  if (!success) {
    console.error(stderr.toString().trim());
    process.exit(1);
  }
  return stdout
    .toString()
    .split("\n")
    .filter((line) => line !== "");
}

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((file) => EXTENSIONS.some((extension) => file.endsWith(extension)));
}

/** The files of this repository that a file imports. */
function importsOf(file: string): string[] {
  const loader = file.endsWith(".tsx") ? "tsx" : "ts";
  const text = new Bun.Transpiler({ loader }).scanImports(read(file));
  return text
    .filter(({ path }) => path.startsWith("."))
    .map(({ path }) => resolve("/", dirname(file), path).slice(1));
}

const texts = new Map<string, string>();
function read(file: string): string {
  return texts.get(file) ?? "";
}

/** For each file, the files that import it. */
async function readImporters(): Promise<Map<string, string[]>> {
  const importers = new Map<string, string[]>();
  for (const file of ["src", "test", "scripts"].flatMap(filesBelow)) {
    texts.set(file, await Bun.file(join(root, file)).text());
    for (const imported of importsOf(file)) {
      const known = importers.get(imported);
      if (known === undefined) importers.set(imported, [file]);
      else known.push(file);
    }
  }
  return importers;
}

const isTest = (file: string) => file.endsWith(".test.ts");
const testFiles = filesBelow("test").filter(isTest);

/** The files whose imports lead to one of the files, and over how many imports. */
function distancesTo(
  changed: readonly string[],
  importers: ReadonlyMap<string, readonly string[]>,
): Map<string, number> {
  const distances = new Map(changed.map((file) => [file, 0]));
  for (const [file, distance] of distances) {
    if (ROOTS.includes(file) && distance > 0) continue;
    for (const importer of importers.get(file) ?? []) {
      if (!distances.has(importer)) distances.set(importer, distance + 1);
    }
  }
  return distances;
}

/** `src/http/body.ts` leads to `body.test.ts`, `body-*.test.ts` and `body/` in `test/http/`. */
function testsWithItsName(file: string): string[] {
  const [, path = ""] = /^src\/(.*)\.tsx?$/.exec(file) ?? [];
  if (path === "") return [];
  const ofPages = path.replace(/^dashboard\/pages\/([\w-]+)\/.*/, "dashboard/$1");
  const parent = dirname(path);
  const names = ["modules", "dashboard", "lib", "http"].includes(parent) ? [] : [parent];
  return [ofPages, ...(parent.includes("/") ? names : [])].flatMap((name) => {
    const start = join("test", name);
    return testFiles.filter(
      (test) => /^(?:\.|-|\/)/.test(test.slice(start.length)) && test.startsWith(start),
    );
  });
}

const [commit = "HEAD"] = Bun.argv.slice(2);
const changed = [
  ...git("diff", "--name-only", commit),
  ...git("ls-files", "--others", "--exclude-standard"),
];
const distances = distancesTo(changed, await readImporters());
for (const test of changed.flatMap(testsWithItsName)) distances.set(test, 0);
const isUnproven = (test: string) => !test.startsWith("test/proofs/") || changed.includes(test);
const hasSource = (folder: string) => changed.some((file) => file.startsWith(folder));
const isNear = (test: string) => distances.has(test) && isUnproven(test);
if (!testFiles.some(isNear) && hasSource("src/")) {
  const names = hasSource("src/dashboard/") ? OF_DASHBOARD : OF_ALL;
  const found = testFiles.filter((test) => names.some((name) => test.startsWith(name)));
  for (const test of found) distances.set(test, 0);
}
const chosen = testFiles
  .filter(isNear)
  .toSorted((a, b) => (distances.get(a) ?? 0) - (distances.get(b) ?? 0));

const { files }: { files: Record<string, number> } = await Bun.file(
  join(root, "test/timings.json"),
).json();
let budgetMs = BUDGET_MS;
const taken = chosen.filter((test) => {
  const ms = files[test] ?? UNKNOWN_MS;
  if (ms > budgetMs && !changed.includes(test)) return false;
  budgetMs -= ms;
  return true;
});
for (const test of taken) console.log(test);
if (taken.length === 0)
  console.error("no test imports what changed; ./scripts/test runs all tests");
if (taken.length < chosen.length) {
  console.error(
    `${chosen.length - taken.length} more test files import what changed, over more imports; ./scripts/test runs them`,
  );
}
