/**
 * Debian packages in a folder of ours: fetched with apt-get and unpacked, never installed, so that
 * no service starts and nothing of the system changes.
 */

import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";

export type Found = { ok: true; root: string } | { ok: false; reason: string };

const FETCH_LIMIT_MS = 180_000;

/**
 * Where the package's files are: in the system (root "") if `probe` is there, else in a folder of
 * its own below `folder`.
 */
export async function findPackage(
  folder: string,
  names: readonly string[],
  probe: string,
): Promise<Found> {
  if (existsSync(probe)) return { ok: true, root: "" };
  if (Bun.which("apt-get") === null || Bun.which("dpkg-deb") === null) {
    return { ok: false, reason: `${probe} is not here, and there is no apt-get to fetch it` };
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
    : { ok: false, reason: `${names.join(", ")} brought no ${probe}` };
}

/** Null, or why not. The lists may be old or missing: once more after an update. */
async function fetchArchives(archives: string, names: readonly string[]): Promise<string | null> {
  const options = ["-y", "--no-install-recommends", "--download-only", "-o", "Debug::NoLocking=1"];
  const download = ["apt-get", "install", ...options, "-o", `Dir::Cache::Archives=${archives}`];
  const first = await run([...download, ...names]);
  if (first.code === 0) return null;
  await run(["apt-get", "update"]);
  const second = await run([...download, ...names]);
  return second.code === 0 ? null : (second.err.trim().split("\n").at(-1) ?? "apt-get failed");
}

export type Ran = { code: number; out: string; err: string };

export async function run(
  command: readonly string[],
  options: { env?: Record<string, string>; stdin?: Uint8Array } = {},
): Promise<Ran> {
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

/** Where the unpacked programs find the libraries that came with them. */
export function libraryPath(root: string, more: readonly string[] = []): string {
  const folders = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib", ...more];
  return root === "" ? "" : folders.map((path) => `${root}${path}`).join(":");
}
