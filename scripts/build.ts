/**
 * Builds the executable: one file that contains the program and the Bun runtime.
 *
 * `bun scripts/build.ts [--target TARGET] [--outfile PATH] [--release | --quick] [--order FILE]`
 *
 * First `scripts/ui.ts` builds the dashboard, which the executable contains; --release compresses it at
 * the highest level. Without a target, the executable is for this machine and contains the Bun that
 * runs this script. The program is compiled twice: the first executable starts a server and records
 * which functions a start uses, and the final one holds their bytecode together, so that a start reads
 * less of the file. The record is sorted, because the order of two starts differs. The modules that a
 * start uses also depend a little on the speed of the machine, so --order gives the record of an
 * earlier build, to repeat that build. With --quick, for tests, it is compiled once, and the dashboard
 * is built only if it has changed. With a target, the build fetches Bun for that platform, in the same
 * version, from the npm registry into `.bun/targets/`, and compares its digest with the one in
 * `bun.lock`. One executable serves all x64 processors: it requires SSE4.2 and uses AVX2 if the
 * processor has it.
 */

import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import lock from "../bun.lock";
import manifest from "../package.json";

const targets = [
  "linux-x64",
  "linux-arm64",
  "linux-x64-musl",
  "linux-arm64-musl",
  "darwin-x64",
  "darwin-arm64",
  "windows-x64",
] as const;

type Target = (typeof targets)[number];

/** One executable to build, for this machine if `target` is absent. */
type Job = { target?: Target; outfile: string };

/** Reports a mistake in the arguments; the exit code is 2. */
class UsageError extends Error {}

/** Reports why the build failed; the exit code is 1. */
class BuildError extends Error {}

/** The program, and the threads that it starts; each is a file of its own in the executable. */
const ENTRY_POINTS = [
  "main.ts",
  "db/reader-thread.ts",
  "modules/content-work/worker.ts",
  "modules/inboxes/parsing/worker.ts",
  "modules/workflows/simulation/worker.ts",
  "outbox/compose/worker.ts",
];

const START_LIMIT_MS = 60_000;
/** Time in which the recurring work of each second runs. */
const RECORDED_MS = 1_500;

const usage = `Usage: bun scripts/build.ts [--target TARGET] [--outfile PATH] [--release | --quick] [--order FILE]
  --target   ${targets.join(", ")} or all (default: this machine); several are separated by commas
  --outfile  path of the executable (default: dist/mailstead, or dist/mailstead-TARGET)
  --folder   folder of executables without --outfile (default: dist)
  --release  compress the dashboard at the highest level, which takes longer
  --quick    compile once: the executable starts a little slower
  --order    file that lists the functions of a start, as an earlier build recorded them; without
             the file, this build records them and writes it
  --metafiles folder in which program.json and dashboard.json list the files of the executable
  --revision the commit, where the sources are no checkout (default: that of the checkout)`;

const root = resolve(import.meta.dir, "..");
const bunVersion = manifest.devDependencies.bun;

const isWindows = (target?: Target) =>
  target === undefined ? process.platform === "win32" : target.startsWith("windows-");

function readArguments(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        target: { type: "string" },
        outfile: { type: "string" },
        folder: { type: "string", default: join(root, "dist") },
        release: { type: "boolean" },
        quick: { type: "boolean" },
        order: { type: "string" },
        metafiles: { type: "string" },
        revision: { type: "string" },
      },
    }).values;
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  }
}

/** Returns the executables to build. A path is relative to the working directory of the caller. */
function planJobs({ target: name, outfile, folder }: ReturnType<typeof readArguments>): Job[] {
  if (outfile === "") throw new UsageError("--outfile: expected a path");
  if (name === undefined) return [{ outfile: resolve(outfile ?? defaultOutfile(folder)) }];
  const wanted = name === "all" ? targets : name.split(",").map(knownTarget);
  if (wanted.length > 1 && outfile !== undefined)
    throw new UsageError("--outfile cannot be combined with several targets");
  return wanted.map((target) => ({
    target,
    outfile: resolve(outfile ?? defaultOutfile(folder, target)),
  }));
}

function knownTarget(name: string): Target {
  const target = targets.find((known) => known === name);
  if (target !== undefined) return target;
  throw new UsageError(`--target ${name}: expected ${targets.join(", ")} or all`);
}

function defaultOutfile(folder: string, target?: Target): string {
  const name = target === undefined ? "mailstead" : `mailstead-${target}`;
  return join(folder, isWindows(target) ? `${name}.exe` : name);
}

/** The target that an executable for this machine equals. */
function ownPlatform(): string {
  const libc = existsSync("/etc/alpine-release") ? "-musl" : "";
  return `${isWindows() ? "windows" : process.platform}-${process.arch}${libc}`;
}

/** Runs this Bun with the arguments; if it fails, throws a BuildError with its output. */
function runBun(args: string[], cwd: string): void {
  const result = Bun.spawnSync([process.execPath, ...args], {
    cwd,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  if (result.success) return;
  const output = `${result.stdout.toString()}${result.stderr.toString()}`;
  throw new BuildError(`bun ${args.join(" ")}\n${output.trim()}`);
}

/**
 * Returns the commit of this checkout, marked as dirty if there are uncommitted changes; the empty
 * string outside a repository.
 */
function readRevision(): string {
  const git = Bun.which("git");
  if (git === null) return "";
  const describe = ["describe", "--always", "--dirty", "--exclude=*", "--abbrev=12"];
  const result = Bun.spawnSync([git, "--no-optional-locks", ...describe], {
    cwd: root,
    // Git must not search for a repository above this folder: that one would be another project.
    env: { ...process.env, GIT_CEILING_DIRECTORIES: dirname(root) },
    stderr: "ignore",
  });
  return result.success ? result.stdout.toString().trim() : "";
}

/** Returns the path of Bun for the target; fetches it from the npm registry if it is missing. */
async function fetchBun(target: Target): Promise<string> {
  const packageName = `@oven/bun-${target.replace("arm64", "aarch64")}`;
  const folder = join(root, ".bun", "targets", `${target}-${bunVersion}`);
  const path = join(
    folder,
    "node_modules",
    packageName,
    "bin",
    isWindows(target) ? "bun.exe" : "bun",
  );
  if (existsSync(path)) return path;

  await mkdir(dirname(folder), { recursive: true });
  const draft = await mkdtemp(`${folder}-`);
  try {
    await Bun.write(
      join(draft, "package.json"),
      JSON.stringify({ private: true, dependencies: { [packageName]: bunVersion } }),
    );
    const anyPlatform = ["--os=*", "--cpu=*", "--libc=*"];
    runBun(["install", "--ignore-scripts", "--no-progress", ...anyPlatform], draft);
    await verifyDigest(packageName, join(draft, "bun.lock"));
    await rm(folder, { recursive: true, force: true });
    await rename(draft, folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return path;
}

/**
 * Checks that the lock file written by `bun install`, which Bun compares with the download, has the
 * same digest as our `bun.lock`.
 */
async function verifyDigest(packageName: string, lockPath: string): Promise<void> {
  const digest = lock.packages[packageName]?.at(-1);
  if (typeof digest !== "string") throw new BuildError(`bun.lock does not list ${packageName}`);
  const fetched = await Bun.file(lockPath).text();
  if (!fetched.includes(JSON.stringify(digest))) {
    throw new BuildError(
      `${packageName}@${bunVersion} in the registry does not have the digest in bun.lock, ${digest}`,
    );
  }
}

/** `order`: the file of `recordStart`; null without one. */
async function compile(
  job: Job,
  { revision, order, metafile }: { revision: string; order: string | null; metafile?: string },
): Promise<void> {
  const platform =
    job.target === undefined
      ? []
      : [`--target=bun-${job.target}`, `--compile-executable-path=${await fetchBun(job.target)}`];
  await mkdir(dirname(job.outfile), { recursive: true });
  // The executable is built in a temporary folder and then moved: a running executable can be
  // replaced but not overwritten, and Bun leaves a copy of the source map beside its output.
  const draft = await mkdtemp(join(dirname(job.outfile), ".build-"));
  const executable = join(draft, isWindows(job.target) ? "mailstead.exe" : "mailstead");
  try {
    const flags = [
      "--compile",
      "--production",
      // Code that only a start runs is compiled by the JIT only after 20 times as many runs. A server
      // restores the ordinary policy when it is ready (cli/process-io.ts); threads begin with it.
      "--compile-jit-policy=20",
      "--sourcemap",
      "--bytecode",
      // Each dynamic import is a file of its own. In one file, the imports of all of them would be
      // loaded at the start: `node:http` and `node:zlib`, for example, which only commands need.
      "--splitting",
      "--format=esm",
      "--asset=dist/ui",
      ...(order === null ? [] : [`--bytecode-order=${order}`]),
      ...(metafile === undefined ? [] : [`--metafile=${metafile}`]),
      "--no-compile-autoload-dotenv",
      "--no-compile-autoload-bunfig",
      `--define=BUILD_VERSION=${JSON.stringify(manifest.version)}`,
      `--define=BUILD_REVISION=${JSON.stringify(revision)}`,
      `--define=BUILD_PLATFORM=${JSON.stringify(job.target ?? ownPlatform())}`,
      ...platform,
      `--outfile=${executable}`,
    ];
    runBun(["build", ...flags, ...ENTRY_POINTS.map((file) => join(root, "src", file))], root);
    await rename(executable, job.outfile);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Returns the record of a start: the file `kept` if it exists, or a new one, which is copied there. */
async function readOrder(kept: string | undefined, folder: string, revision: string) {
  if (kept !== undefined && existsSync(kept)) return resolve(kept);
  const order = await recordStart(folder, revision);
  if (order !== null && kept !== undefined) await copyFile(order, resolve(kept));
  return order;
}

/**
 * Compiles the program for this machine in `folder`, starts a server twice, and returns the file in
 * which the second start recorded the functions that it used. Returns null on Windows, where a
 * process cannot be asked to exit, so that it records nothing.
 */
async function recordStart(folder: string, revision: string): Promise<string | null> {
  if (isWindows()) return null;
  const executable = join(folder, "mailstead");
  const order = join(folder, "start.order");
  await compile({ outfile: executable }, { revision, order: null });
  const ambient = Object.entries(process.env).filter(([name]) => !name.startsWith("MAILSTEAD_"));
  for (const recording of [{}, { BUN_BYTECODE_ORDER_OUT: order }]) {
    const env = { ...Object.fromEntries(ambient), ...recording };
    await startOnce(
      [executable, "serve", "--data", join(folder, "data"), "--port", "0", "--json"],
      env,
    );
  }
  if (!existsSync(order)) throw new BuildError("the start of the server recorded nothing");
  await sortRecord(order);
  return order;
}

/** Sorts the lines after the first one, because the order of two starts differs a little. */
async function sortRecord(order: string): Promise<void> {
  const [version = "", ...functions] = (await Bun.file(order).text()).trimEnd().split("\n");
  await Bun.write(order, `${[version, ...functions.toSorted()].join("\n")}\n`);
}

/** Starts a server, and stops it when it is ready and its recurring work has run. */
async function startOnce(command: string[], env: Record<string, string | undefined>) {
  const server = Bun.spawn(command, { env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const limit = setTimeout(() => server.kill("SIGKILL"), START_LIMIT_MS);
  const { value } = await server.stdout.getReader().read();
  const [, url = null] = /"url":"([^"]+)"/.exec(new TextDecoder().decode(value)) ?? [];
  if (url !== null) {
    await fetch(`${url}/readyz`);
    await Bun.sleep(RECORDED_MS);
  }
  server.kill("SIGTERM");
  const code = await server.exited;
  clearTimeout(limit);
  if (url === null || code !== 0) {
    const log = await new Response(server.stderr).text();
    throw new BuildError(`the server did not start or stop in an orderly way\n${log.trim()}`);
  }
}

function planMetafiles(folder: string | undefined) {
  if (folder === undefined) return { program: {}, dashboardFlags: [] };
  return {
    program: { metafile: resolve(folder, "program.json") },
    dashboardFlags: [`--metafile=${resolve(folder, "dashboard.json")}`],
  };
}

async function main(args: string[]): Promise<void> {
  const given = readArguments(args);
  const jobs = planJobs(given);
  if (Bun.version !== bunVersion) {
    throw new BuildError(
      `this is Bun ${Bun.version}, but package.json requires ${bunVersion}; run ./scripts/setup`,
    );
  }
  const isQuick = given.quick === true;
  if (isQuick && (given.release === true || given.order !== undefined)) {
    throw new UsageError(`--quick excludes --release and --order\n${usage}`);
  }
  const uiFlags = isQuick ? ["--if-needed"] : given.release === true ? ["--release"] : [];
  const metafiles = planMetafiles(given.metafiles);
  runBun([join(root, "scripts", "ui.ts"), ...uiFlags, ...metafiles.dashboardFlags], root);
  const revision = given.revision ?? readRevision();
  const folder = await mkdtemp(join(tmpdir(), "mailstead-build-"));
  try {
    const order = isQuick ? null : await readOrder(given.order, folder, revision);
    for (const job of jobs) {
      const startedMs = performance.now();
      await compile(job, { revision, order, ...metafiles.program });
      const sizeMb = (Bun.file(job.outfile).size / 1_000_000).toFixed(1);
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
      console.log(`${job.outfile}  ${sizeMb} MB  ${seconds} s`);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

try {
  await main(Bun.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError || error instanceof BuildError)) throw error;
  console.error(`build: ${error.message}`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
