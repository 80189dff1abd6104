/**
 * Fetches single Debian packages, also of another architecture, with `apt-get` and the sources of this
 * machine, which must be those of Debian 12. The machine itself is not changed.
 */

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";

type Wanted = { name: string; version: string; sha256: Record<"amd64" | "arm64", string> };

export const canFetchDebianPackages = () =>
  Bun.which("apt-get") !== null && Bun.which("dpkg-deb") !== null;

/** Returns the folder with the content of the package, in `cache`. */
export async function fetchDebianPackage(
  { name, version, sha256 }: Wanted,
  architecture: "amd64" | "arm64",
  cache: string,
): Promise<string> {
  const digest = sha256[architecture];
  const unpacked = join(cache, `${name}-${digest}`);
  if (existsSync(unpacked)) return unpacked;
  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(join(cache, "draft-"));
  try {
    const state = join(draft, "state");
    for (const folder of ["lists/partial", "cache/archives/partial"]) {
      await mkdir(join(state, folder), { recursive: true });
    }
    const apt = [
      "apt-get",
      ...Object.entries({
        "APT::Architecture": architecture,
        "APT::Architectures": architecture,
        "APT::Sandbox::User": "root",
        "Dir::State": state,
        "Dir::State::status": "/dev/null",
        "Dir::Cache": join(state, "cache"),
      }).flatMap(([option, value]) => ["-o", `${option}=${value}`]),
    ];
    // A source that does not answer is an error only if it is the one with the package.
    spawn([...apt, "update"], draft);
    const { success, stderr } = spawn([...apt, "download", `${name}=${version}`], draft);
    if (!success) {
      throw new Error(
        `apt-get has no ${name} ${version} for ${architecture}: ${stderr.toString().trim()}\n` +
          "If Debian has a newer version, write it and its digests into packaging/image.json.",
      );
    }
    const [file] = [...new Bun.Glob("*.deb").scanSync(draft)];
    if (file === undefined) throw new Error(`apt-get brought no package ${name}`);
    const content = await Bun.file(join(draft, file)).bytes();
    const found = createHash("sha256").update(content).digest("hex");
    if (found !== digest) {
      throw new Error(`${file} has the digest ${found}, but packaging/image.json has ${digest}`);
    }
    const extracted = spawn(["dpkg-deb", "--extract", file, join(draft, "content")], draft);
    if (!extracted.success) throw new Error(`dpkg-deb: ${extracted.stderr.toString().trim()}`);
    await rename(join(draft, "content"), unpacked);
    return unpacked;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

function spawn(command: string[], cwd: string) {
  return Bun.spawnSync(command, { cwd, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
}
