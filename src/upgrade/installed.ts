/** Where this program is, and how it was installed: by whom it must be updated. */

import { readFileSync, realpathSync } from "node:fs";
import { basename } from "node:path";
import { PLATFORM } from "../lib/version.ts";
import { runSystem } from "./programs.ts";
import { UpgradeError } from "./refusal.ts";
import { publishedRelease } from "./release.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** The path of the executable without links. Throws UpgradeError for a program that cannot be replaced. */
export function installedExecutable(): string {
  if (process.platform === "win32") {
    throw new UpgradeError(
      "This command does not work on Windows, which does not replace a running program.",
      "Stop the server, make a backup, replace the executable, and start the server.",
    );
  }
  if (PLATFORM === null) {
    throw new UpgradeError(
      "This is a checkout of the source and no executable.",
      "Update it with git pull and ./scripts/setup.",
    );
  }
  return realpathSync(process.execPath);
}

/**
 * Returns a sentence with the way to upgrade without replacing the executable; null if no other program
 * manages the file. `firstProcess` is the command line of process 1, which in a container of the image
 * is this program.
 */
export async function instructionsFor(
  executable: string,
  env: Env,
  firstProcess: readonly string[] = readFirstProcess(),
): Promise<string | null> {
  const isArm = process.arch === "arm64";
  if (firstProcess.some((word) => word === executable || basename(word) === "mailstead")) {
    return "It runs in a container: get the image of the new version, remove the container, and run it again with the same volume.";
  }
  if (executable.startsWith("/nix/store/")) {
    return "It was installed by Nix: update its expression, and rebuild.";
  }
  if (executable.includes("/Cellar/")) {
    return "It was installed by Homebrew: brew upgrade mailstead";
  }
  if (await owns(["dpkg", "-S", executable], env)) {
    const file = `mailstead_${isArm ? "arm64" : "amd64"}.deb`;
    return `It was installed by a Debian package: ${downloadOf(file)}, and run apt install ./${file}`;
  }
  if (await owns(["rpm", "-qf", executable], env)) {
    const file = `mailstead.${isArm ? "aarch64" : "x86_64"}.rpm`;
    return `It was installed by an RPM package: ${downloadOf(file)}, and run dnf install ./${file}`;
  }
  return null;
}

const downloadOf = (file: string): string => `download ${publishedRelease(null)}/${file}`;

async function owns([program = "", ...words]: readonly string[], env: Env): Promise<boolean> {
  const path = Bun.which(program, { PATH: env["PATH"] ?? "" });
  return path !== null && (await runSystem([path, ...words], env)).code === 0;
}

function readFirstProcess(): string[] {
  try {
    return readFileSync("/proc/1/cmdline", "utf8").split("\0");
  } catch {
    return []; // A system without /proc, which has no such containers.
  }
}
