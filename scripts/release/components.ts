/**
 * Lists everything that the executable contains, with versions and licences: as a software bill of
 * materials in the format CycloneDX 1.6, and as a text of all licences.
 *
 * The packages are those of which the bundler used a file. Bun and the libraries in it are not packages;
 * their versions are asked of Bun, and a table has their licences.
 */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import lock from "../../bun.lock";
import { imagePackages } from "./image.ts";

export type Component = {
  type: "library" | "platform" | "data" | "operating-system";
  name: string;
  version: string;
  /** An expression of https://spdx.org/licenses. */
  licence: string;
  /** Where the component is from: https://github.com/package-url. */
  purl?: string;
  /** SHA-512 of the package in the registry, hexadecimal. */
  sha512?: string;
  /** The texts of its licence, if it has them. */
  texts?: readonly string[];
};

/** Bun contains these libraries: their names in `process.versions` and their licences. */
const BUN_LIBRARIES = {
  ares: "MIT",
  boringssl: "Apache-2.0 AND ISC AND OpenSSL",
  icu: "Unicode-3.0",
  libarchive: "BSD-2-Clause",
  libdeflate: "MIT",
  llhttp: "MIT",
  lolhtml: "BSD-3-Clause",
  lshpack: "MIT",
  mimalloc: "MIT",
  picohttpparser: "MIT",
  sqlite: "blessing",
  tinycc: "LGPL-2.1-or-later",
  usockets: "Apache-2.0",
  uwebsockets: "Apache-2.0",
  webkit: "LGPL-2.1-or-later AND BSD-2-Clause",
  zlib: "Zlib",
  zstd: "BSD-3-Clause",
} as const;

const LICENCE_FILE = /^(?:licen[cs]e|copying|notice)/i;
const PACKAGE_FOLDER = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;
const SHA512 = "sha512-";

/** `root` has `node_modules`; `metafiles` are the paths of what the bundler wrote. */
export function listComponents(root: string, metafiles: readonly string[]): Component[] {
  const folders = new Set<string>();
  for (const file of metafiles.flatMap((path) => bundledFiles(readFileSync(path, "utf8")))) {
    const [folder] = PACKAGE_FOLDER.exec(file) ?? [];
    if (folder !== undefined) folders.add(folder);
  }
  if (folders.size === 0) throw new Error("the bundler used no packages");
  const all = [
    ...[...folders].map((folder) => readPackage(root, folder)),
    ...runtimeComponents(),
    readCaniemail(root),
    ...imagePackages.map(debianComponent),
  ].toSorted((a, b) => (refOf(a) < refOf(b) ? -1 : 1));
  // A package may be installed in two folders in the same version.
  return [...new Map(all.map((component) => [refOf(component), component])).values()];
}

type Metafile = { outputs: Record<string, { inputs: Record<string, { bytesInOutput: number }> }> };

/** The files of which something is in a bundle. */
function bundledFiles(text: string): string[] {
  const parsed: Metafile | Metafile[] = JSON.parse(text);
  return [parsed]
    .flat()
    .flatMap(({ outputs }) => Object.values(outputs))
    .flatMap(({ inputs }) => Object.entries(inputs))
    .flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : []));
}

type Manifest = {
  name: string;
  version: string;
  license?: string | { type: string };
  licenses?: readonly { type: string }[];
};

function readPackage(root: string, folder: string): Component {
  const path = join(root, folder);
  const manifest: Manifest = JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
  const { name, version, license, licenses = [] } = manifest;
  const licence =
    (typeof license === "string" ? license : license?.type) ??
    licenses.map(({ type }) => type).join(" OR ");
  if (licence === "") throw new Error(`${name}@${version} names no licence in its package.json`);
  return {
    type: "library",
    name,
    version,
    licence,
    purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
    ...digestInLock(name, version),
    texts: readdirSync(path)
      .filter((file) => LICENCE_FILE.test(file))
      .toSorted()
      .map((file) => readFileSync(join(path, file), "utf8").trim()),
  };
}

function digestInLock(name: string, version: string): { sha512?: string } {
  const entry = Object.values(lock.packages).find(([id]) => id === `${name}@${version}`);
  const digest = entry?.at(-1);
  if (typeof digest !== "string" || !digest.startsWith(SHA512)) return {};
  return { sha512: Buffer.from(digest.slice(SHA512.length), "base64").toString("hex") };
}

function runtimeComponents(): Component[] {
  const bun: Component = {
    type: "platform",
    name: "bun",
    version: Bun.version,
    licence: "MIT",
    purl: `pkg:npm/bun@${Bun.version}`,
  };
  const libraries = Object.entries(BUN_LIBRARIES).map(([name, licence]): Component => {
    const version = process.versions[name];
    if (version === undefined) throw new Error(`this Bun does not say its version of ${name}`);
    return { type: "library", name, version, licence };
  });
  return [bun, ...libraries];
}

function readCaniemail(root: string): Component {
  const folder = join(root, "assets/caniemail");
  const [, version = ""] =
    /"date":"([\d-]+)"/.exec(readFileSync(join(folder, "data.txt"), "utf8").slice(0, 4096)) ?? [];
  const text = readFileSync(join(folder, "licence.txt"), "utf8").trim();
  return { type: "data", name: "caniemail", version, licence: "MIT", texts: [text] };
}

/** These are only in the container image, which has their licences in `/usr/share/doc`. */
function debianComponent({ name, version, licence }: (typeof imagePackages)[number]): Component {
  const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}`;
  return { type: "operating-system", name, version, licence, purl };
}

const refOf = ({ purl, name, version }: Component): string => purl ?? `${name}@${version}`;

/** The bill of materials. It depends on nothing but its arguments. */
export function billOfMaterials(
  components: readonly Component[],
  about: { version: string; revision: string; seconds: number },
): string {
  const { version, revision, seconds } = about;
  const digest = createHash("sha256").update(`mailstead ${version} ${revision}`).digest("hex");
  const ref = `pkg:generic/mailstead@${version}`;
  const bill = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    // RFC 9562 §5.8: a UUID of version 8 is what its maker wants.
    serialNumber: `urn:uuid:${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-a${digest.slice(17, 20)}-${digest.slice(20, 32)}`,
    version: 1,
    metadata: {
      timestamp: new Date(seconds * 1000).toISOString(),
      component: {
        type: "application",
        "bom-ref": ref,
        name: "mailstead",
        version,
        licenses: [{ license: { id: "MIT" } }],
        purl: ref,
        properties: [{ name: "mailstead:revision", value: revision }],
      },
    },
    components: components.map((component) => ({
      type: component.type,
      "bom-ref": refOf(component),
      name: component.name,
      version: component.version,
      ...(component.sha512 === undefined
        ? {}
        : { hashes: [{ alg: "SHA-512", content: component.sha512 }] }),
      licenses: [
        / (?:AND|OR|WITH) /.test(component.licence)
          ? { expression: component.licence }
          : { license: { id: component.licence } },
      ],
      ...(component.purl === undefined ? {} : { purl: component.purl }),
    })),
    dependencies: [
      { ref, dependsOn: components.map(refOf) },
      ...components.map((component) => ({ ref: refOf(component) })),
    ],
  };
  return `${JSON.stringify(bill, null, 2)}\n`;
}

const RULE = `\n\n${"-".repeat(78)}\n\n`;

/** The text that packages install as their copyright file. */
export function licenceTexts(root: string, components: readonly Component[]): string {
  const own = readFileSync(join(root, "LICENSE"), "utf8").trim();
  const others = components
    .filter(({ type }) => type !== "operating-system")
    .map(({ name, version, licence, texts = [] }) =>
      [`${name} ${version}: ${licence}`, ...texts].join("\n\n"),
    );
  return `${[`Mailstead\n\n${own}\n\nThe executable contains the following works.`, ...others].join(RULE)}\n`;
}
