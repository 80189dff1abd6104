/** Makes RPM packages with `rpmbuild` and packaging/mailstead.spec, also for other processors. */

import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Entry } from "./archives.ts";
import { installedFiles, type Package } from "./package.ts";

export const hasRpmbuild = () => Bun.which("rpmbuild") !== null;

export async function rpmPackage(
  made: Package & { architecture: "x86_64" | "aarch64" },
): Promise<Uint8Array> {
  const { root, version, architecture, licences, seconds } = made;
  const folder = await mkdtemp(join(tmpdir(), "mailstead-rpm-"));
  try {
    const files = join(folder, "files");
    await layOut(files, [
      ...installedFiles(made),
      { path: "usr/share/licenses/mailstead/LICENSES", content: licences },
      {
        path: "usr/share/doc/mailstead/CHANGELOG.md",
        content: await Bun.file(join(root, "CHANGELOG.md")).bytes(),
      },
    ]);
    const definitions = {
      _topdir: join(folder, "top"),
      // A tilde sorts before the end of a version, so that 1.0.0~rc.1 is older than 1.0.0.
      package_version: version.replace("-", "~").replaceAll("-", "."),
      laid_out_files: files,
    };
    const child = Bun.spawnSync(
      [
        "rpmbuild",
        "-bb",
        "--target",
        `${architecture}-linux`,
        ...Object.entries(definitions).flatMap(([name, value]) => ["--define", `${name} ${value}`]),
        join(root, "packaging/mailstead.spec"),
      ],
      { env: { ...process.env, SOURCE_DATE_EPOCH: String(seconds), LC_ALL: "C", TZ: "UTC" } },
    );
    if (!child.success) throw new Error(`rpmbuild: ${child.stderr.toString().slice(-4000)}`);
    const [built] = [...new Bun.Glob("top/RPMS/**/*.rpm").scanSync(folder)];
    if (built === undefined) throw new Error("rpmbuild made no package");
    return await Bun.file(join(folder, built)).bytes();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function layOut(folder: string, entries: readonly Entry[]): Promise<void> {
  for (const { path, content = "" } of entries) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await Bun.write(file, content);
  }
}
