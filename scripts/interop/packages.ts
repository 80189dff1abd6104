/**
 * Fetches Debian packages with apt-get and unpacks them into a temporary folder. They are never
 * installed, so that no service starts and the system does not change.
 */

import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";

export type Found = { ok: true; root: string } | { ok: false; reason: string };

/** An independent verifier of DKIM signatures, and the file by which it is found. */
export const DKIMPY = {
  name: "dkimpy",
  packages: ["python3-dkim", "python3-dnspython", "python3-nacl"],
  probe: "/usr/lib/python3/dist-packages/dkim/__init__.py",
};

const FETCH_LIMIT_MS = 180_000;

/**
 * Returns the root folder of the package's files: the system (root "") if the file `probe` exists,
 * otherwise a new folder below `folder`.
 */
export async function findPackage(
  folder: string,
  names: readonly string[],
  probe: string,
): Promise<Found> {
  if (existsSync(probe)) return { ok: true, root: "" };
  if (Bun.which("apt-get") === null || Bun.which("dpkg-deb") === null) {
    return { ok: false, reason: `${probe} is missing, and so is apt-get to fetch it` };
  }
  const home = join(folder, names[0] ?? "package");
  const root = join(home, "root");
  const archives = join(home, "archives");
  mkdirSync(join(archives, "partial"), { recursive: true });
  mkdirSync(root, { recursive: true });
  const fetched = await fetchArchives(archives, names);
  if (fetched !== null) return { ok: false, reason: `${names.join(", ")}: ${fetched}` };
  for (const archive of readdirSync(archives).filter((file) => file.endsWith(".deb"))) {
    await run(["dpkg-deb", "-x", join(archives, archive), root]);
  }
  return existsSync(join(root, probe))
    ? { ok: true, root }
    : { ok: false, reason: `${names.join(", ")} does not contain ${probe}` };
}

/**
 * Fetches the packages; retries after `apt-get update`, since the package lists may be old or missing.
 * Returns null, or the error message.
 */
async function fetchArchives(archives: string, names: readonly string[]): Promise<string | null> {
  const options = ["-y", "--no-install-recommends", "--download-only", "-o", "Debug::NoLocking=1"];
  const download = ["apt-get", "install", ...options, "-o", `Dir::Cache::Archives=${archives}`];
  const firstTry = await run([...download, ...names]);
  if (firstTry.code === 0) return null;
  await run(["apt-get", "update"]);
  const secondTry = await run([...download, ...names]);
  return secondTry.code === 0
    ? null
    : (secondTry.err.trim().split("\n").at(-1) ?? "apt-get failed");
}

export type CommandResult = { code: number; out: string; err: string };

export async function run(
  command: readonly string[],
  options: { env?: Record<string, string>; stdin?: Uint8Array } = {},
): Promise<CommandResult> {
  const child = Bun.spawn([...command], {
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive", ...options.env },
    stdin: options.stdin ?? "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: FETCH_LIMIT_MS,
  });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, out, err };
}

/** Returns the LD_LIBRARY_PATH with which unpacked programs find the libraries of their packages. */
export function libraryPath(root: string, more: readonly string[] = []): string {
  const folders = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib", ...more];
  return root === "" ? "" : folders.map((path) => `${root}${path}`).join(":");
}
