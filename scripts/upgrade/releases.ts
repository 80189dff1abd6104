/** Makes releases for the proof of upgrades: builds of this checkout with another version, and broken ones. */

import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "../../src/lib/crypto.ts";
import { generateMinisignKeys, signMinisign } from "../../src/lib/minisign.ts";
import { releaseComment, SIGNATURE_FILE, SUMS_FILE } from "../../src/lib/release-names.ts";
import manifest from "../../package.json";

const ROOT = join(import.meta.dir, "../..");
/** Everything that a build reads. */
const SOURCES = ["assets", "bun.lock", "bunfig.toml", "dist/ui", "docs", "migrations"];
const MORE_SOURCES = ["packaging", "scripts", "src", "tsconfig.json", "CHANGELOG.md", "LICENSE"];
const MIGRATION = "9000_upgrade_proof.sql";
const EXECUTABLE = 0o755;
export const PLATFORM_NAME = `mailstead-${process.platform}-${process.arch}`;
export const KEYS = generateMinisignKeys();
export const OWN_VERSION = manifest.version;

/** Builds this checkout as another version, with one more migration if it is wanted. */
export function buildVersion(
  folder: string,
  { version, isMigrating }: { version: string; isMigrating: boolean },
): string {
  const tree = join(folder, `tree-${version}`);
  for (const name of [...SOURCES, ...MORE_SOURCES]) {
    cpSync(join(ROOT, name), join(tree, name), { recursive: true, force: true });
  }
  symlinkSync(join(ROOT, "node_modules"), join(tree, "node_modules"));
  writeFileSync(join(tree, "package.json"), JSON.stringify({ ...manifest, version }));
  if (isMigrating) {
    const sql = "CREATE TABLE upgrade_proof (seq INTEGER PRIMARY KEY) STRICT;\n";
    writeFileSync(join(tree, "migrations", MIGRATION), sql);
  }
  return buildIn(tree, join(folder, `mailstead-${version}`));
}

export function buildThis(folder: string): string {
  return buildIn(ROOT, join(folder, `mailstead-${OWN_VERSION}`));
}

function buildIn(tree: string, outfile: string): string {
  const words = [join(tree, "scripts/build.ts"), "--quick", "--outfile", outfile];
  const built = Bun.spawnSync([process.execPath, ...words], { cwd: tree });
  if (!built.success) throw new Error(`the build failed: ${built.stderr.toString()}`);
  return outfile;
}

/** A program that is `executable` except for some commands, which a shell script does. */
export function wrap(file: string, executable: string, cases: Record<string, string>): string {
  const branches = Object.entries(cases).map(([command, script]) => `${command}) ${script} ;;`);
  const text = `#!/bin/sh\nREAL=${executable}\ncase "$1" in\n${branches.join("\n")}\nesac\nexec $REAL "$@"\n`;
  writeFileSync(file, text);
  chmodSync(file, EXECUTABLE);
  return file;
}

/** Writes a signed release with one executable, and returns its folder. */
export function publish(
  folder: string,
  { version, executable, keys = KEYS }: { version: string; executable: string; keys?: typeof KEYS },
): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, PLATFORM_NAME);
  cpSync(executable, file);
  const sums = Buffer.from(`${sha256(readFileSync(file))}  ${PLATFORM_NAME}\n`);
  const trustedComment = releaseComment(version);
  writeFileSync(join(folder, SUMS_FILE), sums);
  writeFileSync(
    join(folder, SIGNATURE_FILE),
    signMinisign(sums, keys.secretKey, { trustedComment }),
  );
  return folder;
}
