/**
 * Makes a container image without a daemon: a tar archive that is an OCI image layout and that
 * `docker load` and `podman load` read as well.
 *
 * Its settings are those of the last stage of the Dockerfile. Its first layer has the few files that the
 * executable needs, from Debian packages whose digests are in `packaging/image.json`; the second one has
 * the executable. Nothing else is in it.
 */

import { createHash } from "node:crypto";
import { lstatSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import packages from "../../packaging/image.json";
import { type Entry, tarArchive } from "./archives.ts";
import { fetchDebianPackage } from "./debian-packages.ts";
import { readImageSettings } from "./dockerfile.ts";
import type { Package } from "./package.ts";

type Architecture = "amd64" | "arm64";
type Blob = { path: string; digest: string; size: number; content: Uint8Array };

/** The user of the image, who owns the folder of the volume. */
const USER_ID = 65532;
const PASSWD = `root:x:0:0:root:/root:/sbin/nologin
nobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin
nonroot:x:${USER_ID}:${USER_ID}:nonroot:/data:/sbin/nologin
`;
const GROUP = `root:x:0:
nobody:x:65534:
nonroot:x:${USER_ID}:
`;
/** The programs that health checks call: busybox is the program that its name says. */
const BUSYBOX_NAMES = ["sh", "wget", "nc"];
const MODE_BITS = 0o7777;
const TAR = "application/vnd.oci.image.layer.v1.tar+gzip";
const CONFIG = "application/vnd.oci.image.config.v1+json";
const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
const INDEX = "application/vnd.oci.image.index.v1+json";

export async function containerImage(
  made: Package & { architecture: Architecture; revision: string; cache: string },
): Promise<Uint8Array> {
  const { seconds, version, architecture } = made;
  const created = new Date(seconds * 1000).toISOString();
  const layers = [await systemLayer(made), programLayer(made)].map((entries) =>
    tarArchive(entries, { seconds }),
  );
  const blobs = layers.map((layer) => blobOf(gzipSync(layer, { level: 6 })));
  const config = jsonBlob({
    created,
    architecture,
    os: "linux",
    config: { ...readImageSettings(join(made.root, "Dockerfile")), Labels: labels(made, created) },
    rootfs: { type: "layers", diff_ids: layers.map(digestOf) },
    history: [
      { created, created_by: "the libraries and programs of Debian" },
      { created, created_by: `mailstead ${version}` },
    ],
  });
  const manifest = jsonBlob({
    schemaVersion: 2,
    mediaType: MANIFEST,
    config: descriptor(CONFIG, config),
    layers: blobs.map((blob) => descriptor(TAR, blob)),
  });
  const index = {
    schemaVersion: 2,
    mediaType: INDEX,
    manifests: [
      {
        ...descriptor(MANIFEST, manifest),
        platform: { architecture, os: "linux" },
        annotations: { "org.opencontainers.image.ref.name": version },
      },
    ],
  };
  // `docker load` reads this file.
  const forDocker = [
    {
      Config: config.path,
      RepoTags: [`mailstead:${version}`, "mailstead:latest"],
      Layers: blobs.map(({ path }) => path),
    },
  ];
  return tarArchive(
    [
      ...[...blobs, config, manifest].map(({ path, content }) => ({ path, content })),
      { path: "index.json", content: JSON.stringify(index) },
      { path: "manifest.json", content: JSON.stringify(forDocker) },
      { path: "oci-layout", content: JSON.stringify({ imageLayoutVersion: "1.0.0" }) },
    ],
    { seconds },
  );
}

/** The packages of Debian in the image. */
export const imagePackages = packages.packages;

async function systemLayer(made: { architecture: Architecture; cache: string; root: string }) {
  const entries: Entry[] = [
    { path: "etc/passwd", content: PASSWD },
    { path: "etc/group", content: GROUP },
    { path: "etc/nsswitch.conf", content: "hosts: files dns\n" },
    { path: "tmp", mode: 0o1777 },
    { path: "bin/curl", mode: 0o755, content: readFileSync(join(made.root, "packaging/curl")) },
    ...BUSYBOX_NAMES.map((name) => ({ path: `bin/${name}`, link: "busybox" })),
  ];
  for (const wanted of imagePackages) {
    const folder = await fetchDebianPackage(wanted, made.architecture, made.cache);
    for (const pattern of wanted.files) {
      const found = [...new Bun.Glob(pattern).scanSync({ cwd: folder, onlyFiles: false })];
      entries.push(...found.map((path) => entryOnDisk(folder, path)));
    }
  }
  return entries;
}

function entryOnDisk(folder: string, path: string): Entry {
  const file = join(folder, path);
  const stat = lstatSync(file);
  return stat.isSymbolicLink()
    ? { path, link: readlinkSync(file) }
    : { path, mode: stat.mode & MODE_BITS, content: readFileSync(file) };
}

/** `mailpit` is the path of the executable that compose files for Mailpit name. */
function programLayer({ executable, licences }: Package): Entry[] {
  return [
    { path: "usr/local/bin/mailstead", mode: 0o755, content: executable },
    { path: "mailpit", link: "/usr/local/bin/mailstead" },
    { path: "data", owner: USER_ID },
    { path: "usr/share/doc/mailstead/copyright", content: licences },
  ];
}

function labels({ version, revision }: { version: string; revision: string }, created: string) {
  const values = { title: "Mailstead", version, revision, created, licenses: "MIT" };
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [`org.opencontainers.image.${name}`, value]),
  );
}

function digestOf(content: Uint8Array): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}

function blobOf(content: Uint8Array): Blob {
  const digest = digestOf(content);
  const path = `blobs/${digest.replace(":", "/")}`;
  return { path, digest, size: content.byteLength, content };
}

const jsonBlob = (value: unknown): Blob => blobOf(Buffer.from(JSON.stringify(value)));

function descriptor(mediaType: string, { digest, size }: Blob) {
  return { mediaType, digest, size };
}
