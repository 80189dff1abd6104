/**
 * Writes Debian packages (deb(5)). The unit, the settings and the scripts of the package are in
 * `packaging/`; docs/operations.md says what a removal keeps.
 */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { arArchive, bytesOfContent, type Entry, tarArchive } from "./archives.ts";
import { installedFiles, type Package, SETTINGS_FILE } from "./package.ts";

const SCRIPTS = ["postinst", "prerm", "postrm"] as const;
const ZSTD_LEVEL = 9;
const MAINTAINER = "The Mailstead authors <maintainers@mailstead.invalid>";

export function debianPackage(made: Package & { architecture: "amd64" | "arm64" }): Uint8Array {
  const { root, seconds } = made;
  const version = debianVersion(made.version);
  const files = [...installedFiles(made), ...documentation(made, version)];
  const control: Entry[] = [
    { path: "control", content: controlFile(made, version, files) },
    { path: "conffiles", content: `/${SETTINGS_FILE}\n` },
    { path: "md5sums", content: files.map(md5Line).join("") },
    ...SCRIPTS.map((name) => ({
      path: name,
      mode: 0o755,
      content: readFileSync(join(root, "packaging/debian", name)),
    })),
  ];
  const archive = (entries: readonly Entry[]) => tarArchive(entries, { seconds, prefix: "./" });
  return arArchive(
    [
      { name: "debian-binary", content: Buffer.from("2.0\n") },
      { name: "control.tar.gz", content: gzipSync(archive(control), { level: 9 }) },
      {
        name: "data.tar.zst",
        content: Bun.zstdCompressSync(archive(files), { level: ZSTD_LEVEL }),
      },
    ],
    seconds,
  );
}

/** A tilde sorts before the end of a version, so that 1.0.0~rc.1 is older than 1.0.0. */
function debianVersion(version: string): string {
  return `${version.replace("-", "~")}-1`;
}

function controlFile(
  { architecture }: { architecture: string },
  version: string,
  files: readonly Entry[],
): string {
  const sizes = files.map(({ content }) => bytesOfContent(content ?? "").byteLength);
  const kibibytes = sizes.reduce((total, size) => total + Math.ceil(size / 1024), 0);
  return `Package: mailstead
Version: ${version}
Architecture: ${architecture}
Maintainer: ${MAINTAINER}
Installed-Size: ${kibibytes}
Depends: adduser, libc6 (>= 2.17)
Section: mail
Priority: optional
Description: email platform in one executable
 Mailstead sends transactional mail and campaigns, through an SMTP relay or
 directly to the receiving servers, receives bounces, and has a dashboard and
 an HTTP interface. All data are in one SQLite database.
`;
}

function md5Line({ path, content }: Entry): string {
  const digest = createHash("md5").update(bytesOfContent(content ?? ""));
  return path === SETTINGS_FILE ? "" : `${digest.digest("hex")}  ${path}\n`;
}

function documentation({ root, seconds, licences }: Package, version: string): Entry[] {
  const folder = "usr/share/doc/mailstead";
  const date = new Date(seconds * 1000).toUTCString().replace("GMT", "+0000");
  const changelog = `mailstead (${version}) stable; urgency=medium

  * New version; its changes are in changelog.gz.

 -- ${MAINTAINER}  ${date}
`;
  const changes = readFileSync(join(root, "CHANGELOG.md"));
  return [
    { path: `${folder}/changelog.Debian.gz`, content: gzipSync(changelog, { level: 9 }) },
    { path: `${folder}/changelog.gz`, content: gzipSync(changes, { level: 9 }) },
    { path: `${folder}/copyright`, content: licences },
  ];
}
