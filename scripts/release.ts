/**
 * Makes a release of the commit that is checked out: executables, packages, images, a bill of materials,
 * and the signed digests of all of them.
 *
 * `bun scripts/release.ts [--out FOLDER] [--target TARGET,…] [--version V] [--order FILE] [--sign KEYFILE] [--check]`
 * `bun scripts/release.ts --new-key FILE`
 *
 * The same commit gives the same bytes, with one input that is measured and not in the commit: which
 * functions a start uses, which the file `start.order` of each release has. Executables contain paths of
 * their sources, so the commit is copied to a folder whose path is the same everywhere, and
 * `scripts/release/make.ts` of that copy does the work there. docs/contributing.md describes how to publish
 * the result.
 */

import { existsSync } from "node:fs";
import { cp, mkdir, readdir, rename, rm, symlink } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import manifest from "../package.json";
import {
  generateMinisignKeys,
  MinisignError,
  signMinisign,
  verifyMinisign,
} from "../src/lib/minisign.ts";
import { releaseComment, SIGNATURE_FILE, SUMS_FILE } from "../src/lib/release-names.ts";

class UsageError extends Error {}
class ReleaseError extends Error {}

const root = resolve(import.meta.dir, "..");
/** Where each release is made. Another path would give other executables. */
const WORK_FOLDER = "/var/tmp/mailstead-release";
/** The process that works there: after a kill of this one, the one that it has started goes on. */
const PID_FILE = join(WORK_FOLDER, "pid");
const ORDER_FILE = "start.order";
const PUBLIC_KEY = "packaging/release.pub";

const usage = `Usage: bun scripts/release.ts [options]
  --out FOLDER     where the release is written (default: dist/release)
  --target T,…     only these executables and their packages (default: all; see scripts/build.ts)
  --version V      another version than that of package.json, to try an upgrade
  --order FILE     start.order of an earlier release of this commit, to repeat that release
  --sign KEYFILE   sign the digests with a secret key of minisign, without a password
  --check          make the release twice with one start.order, and fail if the two differ
  --new-key FILE   only make a pair of keys: the secret one is FILE, the public one ${PUBLIC_KEY}`;

type Commit = { revision: string; seconds: number };

function readArguments(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        out: { type: "string", default: join(root, "dist", "release") },
        target: { type: "string", default: "all" },
        version: { type: "string", default: manifest.version },
        order: { type: "string" },
        sign: { type: "string" },
        check: { type: "boolean", default: false },
        "new-key": { type: "string" },
      },
    }).values;
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  }
}

type Arguments = ReturnType<typeof readArguments>;

async function main(args: string[]): Promise<void> {
  const given = readArguments(args);
  if (given["new-key"] !== undefined) return writeNewKey(resolve(given["new-key"]));
  const comment = checkedComment(given.version);
  const secretKey = await readSecretKey(given.sign);
  const out = resolve(given.out);
  await requireReplaceable(out);
  const commit = readCommit();
  const first = await makeRelease(commit, given, out);
  if (given.check) await compareWithSecond(commit, given, { out, first });
  if (secretKey === null) {
    console.log(`${SUMS_FILE} is not signed, because there is no --sign KEYFILE`);
  } else {
    const content = await Bun.file(join(out, SUMS_FILE)).bytes();
    const signature = signMinisign(content, secretKey, { trustedComment: comment });
    await Bun.write(join(out, SIGNATURE_FILE), signature);
  }
  console.log(`${out}: version ${given.version}, commit ${commit.revision}`);
}

function checkedComment(version: string): string {
  try {
    return releaseComment(version);
  } catch (error) {
    throw new UsageError(`--version: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Returns the digests of the release. The folder is replaced as a whole. */
async function makeRelease(commit: Commit, given: Arguments, out: string): Promise<string> {
  await withWorkFolder(async () => {
    await copyCommit(commit.revision, given.version);
    const words = [
      `--target=${given.target}`,
      `--revision=${commit.revision}`,
      `--seconds=${commit.seconds}`,
      ...(given.order === undefined ? [] : [`--order=${resolve(given.order)}`]),
    ];
    await run([process.execPath, join(WORK_FOLDER, "scripts/release/make.ts"), ...words], commit);
    await mkdir(dirname(out), { recursive: true });
    const draft = `${out}.draft`;
    await rm(draft, { recursive: true, force: true });
    await cp(join(WORK_FOLDER, "dist/release"), draft, { recursive: true });
    await rm(out, { recursive: true, force: true });
    await rename(draft, out);
  });
  return Bun.file(join(out, SUMS_FILE)).text();
}

/**
 * The second release begins with nothing of the first one but its `start.order`. It is made with other
 * rights of new files, which must not be in it.
 */
async function compareWithSecond(
  commit: Commit,
  given: Arguments,
  { out, first }: { out: string; first: string },
): Promise<void> {
  const again = `${out}.again`;
  const before = process.umask(0o077);
  try {
    const second = await makeRelease(commit, { ...given, order: join(out, ORDER_FILE) }, again);
    const lines = new Set(first.split("\n"));
    const different = second.split("\n").filter((line) => !lines.has(line));
    if (first !== second) {
      throw new ReleaseError(`two releases differ; see ${again}\n${different.join("\n")}`);
    }
    await rm(again, { recursive: true });
    console.log(`two releases are equal: ${lines.size - 1} files`);
  } finally {
    process.umask(before);
  }
}

/**
 * Only one release is made at a time, because the path is fixed. Files that an interrupted one left are
 * removed.
 */
async function withWorkFolder(work: () => Promise<void>): Promise<void> {
  const pid = existsSync(PID_FILE) ? Number(await Bun.file(PID_FILE).text()) : 0;
  if (isRunning(pid)) {
    throw new ReleaseError(`process ${pid} makes a release in ${WORK_FOLDER}: wait until it ends`);
  }
  await rm(WORK_FOLDER, { recursive: true, force: true });
  await mkdir(WORK_FOLDER, { mode: 0o700 });
  await writePid(process.pid);
  await work();
  await rm(WORK_FOLDER, { recursive: true });
}

const writePid = (pid: number) => Bun.write(PID_FILE, String(pid));

function isRunning(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch {
    return false;
  }
}

function readCommit(): Commit {
  const [revision = "", seconds = ""] = git("log", "-1", "--format=%H %ct").trim().split(" ");
  if (git("status", "--porcelain", "--untracked-files=no") !== "") {
    console.log("uncommitted changes are not in the release");
  }
  return { revision: revision.slice(0, 12), seconds: Number(seconds) };
}

function git(...words: string[]): string {
  const { success, stdout, stderr } = Bun.spawnSync(["git", ...words], { cwd: root });
  if (!success) throw new ReleaseError(`git ${words[0]}: ${stderr.toString().trim()}`);
  return stdout.toString();
}

async function copyCommit(revision: string, version: string): Promise<void> {
  const archive = join(WORK_FOLDER, "commit.tar");
  git("archive", "--format=tar", `--output=${archive}`, revision);
  await run(["tar", "-xf", archive]);
  await rm(archive);
  if (version !== manifest.version) {
    const file = join(WORK_FOLDER, "package.json");
    const text = await Bun.file(file).text();
    await Bun.write(
      file,
      text.replace(`"version": "${manifest.version}"`, `"version": "${version}"`),
    );
  }
  // Downloads are kept in the checkout.
  await mkdir(join(root, ".bun"), { recursive: true });
  await symlink(join(root, ".bun"), join(WORK_FOLDER, ".bun"));
  const flags = ["--frozen-lockfile", "--ignore-scripts", "--no-progress", "--no-summary"];
  await run([process.execPath, "install", ...flags]);
}

/** Runs a command in the work folder, without the settings of the person who runs this script. */
async function run(command: string[], commit?: Commit): Promise<void> {
  const ambient = Object.entries(process.env).filter(
    ([name]) => !name.startsWith("MAILSTEAD_") && name !== "NODE_ENV",
  );
  const env = {
    ...Object.fromEntries(ambient),
    LC_ALL: "C",
    TZ: "UTC",
    ...(commit === undefined ? {} : { SOURCE_DATE_EPOCH: String(commit.seconds) }),
  };
  const child = Bun.spawn(command, {
    cwd: WORK_FOLDER,
    env,
    stdin: "ignore",
    stdout: "inherit",
    stderr: "inherit",
  });
  await writePid(child.pid);
  if ((await child.exited) !== 0) throw new ReleaseError(`failed: ${command.join(" ")}`);
}

/** A folder is replaced only if it is a release. */
async function requireReplaceable(out: string): Promise<void> {
  if (!existsSync(out)) return;
  const names = await readdir(out);
  if (names.length === 0 || names.includes(SUMS_FILE)) return;
  throw new UsageError(`--out ${out}: the folder has other files; name a new folder`);
}

/** Returns null without a file. A key that does not fit the public one is refused before the work. */
async function readSecretKey(file: string | undefined): Promise<string | null> {
  if (file === undefined) return null;
  if (!existsSync(file)) throw new UsageError(`--sign ${file}: there is no such file`);
  const secretKey = await Bun.file(file).text();
  const publicKey = await Bun.file(join(root, PUBLIC_KEY)).text();
  if (!hasKey(publicKey)) {
    throw new ReleaseError(
      `${PUBLIC_KEY} has no key, so that no executable would accept the release; ` +
        "commit the one that --new-key made",
    );
  }
  const probe = Buffer.from("probe");
  verifyMinisign(probe, signMinisign(probe, secretKey, { trustedComment: "probe" }), publicKey);
  return secretKey;
}

const hasKey = (text: string): boolean => text.trim().split("\n").length > 1;

async function writeNewKey(file: string): Promise<void> {
  if (!relative(root, file).startsWith("..")) {
    throw new UsageError(`--new-key ${file}: keep the secret key out of the repository`);
  }
  if (existsSync(file)) throw new UsageError(`--new-key ${file}: the file exists`);
  const publicFile = join(root, PUBLIC_KEY);
  if (hasKey(await Bun.file(publicFile).text())) {
    throw new UsageError(
      `${PUBLIC_KEY} has a key already, and programs that were built with it accept no other one. ` +
        "To replace it all the same, remove its last line",
    );
  }
  const { publicKey, secretKey } = generateMinisignKeys();
  await Bun.write(file, secretKey, { mode: 0o600 });
  await Bun.write(publicFile, publicKey);
  console.log(`${file} is the secret key: keep it offline, and never publish it`);
  console.log(`${PUBLIC_KEY} is the public key: commit it, so that programs contain it`);
}

try {
  await main(Bun.argv.slice(2));
} catch (error) {
  const isExpected =
    error instanceof UsageError || error instanceof ReleaseError || error instanceof MinisignError;
  if (!isExpected) throw error;
  console.error(`release: ${error.message}`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
