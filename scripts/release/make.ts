/**
 * Makes the files of a release from the sources around it, which `scripts/release.ts` has copied to a
 * folder with a fixed path: everything that shapes a release is then from one commit.
 *
 * First the executables are built. The packages, the images, the bill of materials and the recipes are
 * made of them, and the digests of all files are written last.
 */

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import manifest from "../../package.json";
import { SUMS_FILE } from "../../src/lib/release-names.ts";
import { billOfMaterials, licenceTexts, listComponents } from "./components.ts";
import { canFetchDebianPackages } from "./debian-packages.ts";
import { debianPackage } from "./debian.ts";
import { containerImage } from "./image.ts";
import { homebrewFormula, nixExpression } from "./recipes.ts";
import { hasRpmbuild, rpmPackage } from "./rpm.ts";

const root = resolve(import.meta.dir, "../..");
const { version } = manifest;
/** The executables that packages and images contain, with the names of their processors there. */
const PACKAGED = [
  { target: "linux-x64", debian: "amd64", rpm: "x86_64" },
  { target: "linux-arm64", debian: "arm64", rpm: "aarch64" },
] as const;
const ORDER_FILE = "start.order";
/** An executable and its target, such as `linux-x64`. */
const EXECUTABLE = /^mailstead-((?:linux|darwin|windows)-[a-z0-9-]+)(?:\.exe)?$/;
const { values } = parseArgs({
  options: {
    target: { type: "string", default: "all" },
    revision: { type: "string", default: "" },
    seconds: { type: "string", default: "0" },
    order: { type: "string" },
  },
});
const seconds = Number(values.seconds);
const { revision } = values;
const out = join(root, "dist", "release");
const metafiles = join(root, "dist", "metafiles");

/** Files that could not be made here, each with the reason. */
const missing: string[] = [];

const write = (name: string, content: Uint8Array | string) => Bun.write(join(out, name), content);

async function buildExecutables(): Promise<void> {
  await mkdir(metafiles, { recursive: true });
  const order = join(out, ORDER_FILE);
  if (values.order !== undefined) await Bun.write(order, Bun.file(values.order));
  const flags = {
    target: values.target,
    revision,
    order,
    metafiles,
    folder: out,
  };
  const words = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
  const child = Bun.spawn(
    [process.execPath, join(root, "scripts/build.ts"), "--release", ...words],
    { stdin: "ignore", stdout: "inherit", stderr: "inherit" },
  );
  if ((await child.exited) !== 0) throw new Error("the executables could not be built");
}

async function makePackages(licences: string): Promise<void> {
  const kinds = [
    { name: "the RPM packages", isPossible: hasRpmbuild(), needs: "rpmbuild" },
    {
      name: "the container images",
      isPossible: canFetchDebianPackages(),
      needs: "apt-get and dpkg-deb of Debian 12",
    },
  ];
  for (const { name, needs } of kinds.filter(({ isPossible }) => !isPossible)) {
    missing.push(`${name}, which need ${needs}`);
  }
  for (const { target, debian, rpm } of PACKAGED) {
    const file = Bun.file(join(out, `mailstead-${target}`));
    if (!(await file.exists())) continue;
    const made = { root, version, seconds, licences, executable: await file.bytes() };
    await write(`mailstead_${debian}.deb`, debianPackage({ ...made, architecture: debian }));
    if (hasRpmbuild()) {
      await write(`mailstead.${rpm}.rpm`, await rpmPackage({ ...made, architecture: rpm }));
    }
    if (canFetchDebianPackages()) {
      const cache = join(root, ".bun", "debian");
      const image = await containerImage({ ...made, architecture: debian, revision, cache });
      await write(`mailstead-image-${debian}.tar`, image);
    }
    console.log(`packages of ${target}`);
  }
}

async function writeRecipes(): Promise<void> {
  const digests = new Map<string, string>();
  for (const name of await readdir(out)) {
    const target = EXECUTABLE.exec(name)?.[1];
    if (target !== undefined) digests.set(target, await digestOf(name));
  }
  const formula = homebrewFormula(version, digests);
  const expression = nixExpression(version, digests);
  if (formula !== null) await write("mailstead.rb", formula);
  if (expression !== null) await write("mailstead.nix", expression);
}

async function digestOf(name: string): Promise<string> {
  const content = await Bun.file(join(out, name)).bytes();
  return createHash("sha256").update(content).digest("hex");
}

async function writeDigests(): Promise<void> {
  const names = (await readdir(out)).toSorted();
  const lines = [];
  for (const name of names) lines.push(`${await digestOf(name)}  ${name}\n`);
  await write(SUMS_FILE, lines.join(""));
}

if (existsSync(out)) throw new Error(`${out} exists: a release is made in a fresh copy`);
await mkdir(out, { recursive: true });
await buildExecutables();
const files = ["program.json", "dashboard.json"].map((name) => join(metafiles, name));
const components = listComponents(root, files);
const licences = licenceTexts(root, components);
await write("LICENSES.txt", licences);
await write("mailstead.cdx.json", billOfMaterials(components, { version, revision, seconds }));
await makePackages(licences);
await writeRecipes();
await writeDigests();
for (const name of await readdir(out)) {
  await chmod(join(out, name), EXECUTABLE.test(name) ? 0o755 : 0o644);
}
for (const what of missing) console.log(`not made: ${what}`);
