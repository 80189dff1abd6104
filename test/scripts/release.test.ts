/** The parts of a release that need no build. `bun scripts/packages.ts` installs the packages. */

import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import manifest from "../../package.json";
import { arArchive, type Entry, tarArchive } from "../../scripts/release/archives.ts";
import { billOfMaterials, type Component } from "../../scripts/release/components.ts";
import { debianPackage } from "../../scripts/release/debian.ts";
import { readImageSettings } from "../../scripts/release/dockerfile.ts";
import { homebrewFormula, nixExpression } from "../../scripts/release/recipes.ts";

const ROOT = join(import.meta.dir, "../..");
const SECONDS = 1_800_000_000;
const folder = mkdtempSync(join(tmpdir(), "mailstead-release-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

function printed(command: string[]): string {
  const { success, stdout, stderr } = Bun.spawnSync(command, {
    cwd: folder,
    env: { ...process.env, TZ: "UTC" },
  });
  if (!success) throw new Error(stderr.toString());
  return stdout.toString();
}

describe("an archive", () => {
  const entries: Entry[] = [
    { path: "usr/bin/program", mode: 0o755, content: "#!/bin/sh\n" },
    { path: "data", owner: 65532 },
    { path: "bin/sh", link: "busybox" },
    { path: "tmp", mode: 0o1777 },
  ];

  test("is the same whatever the order of its entries, and has their folders", async () => {
    const made = tarArchive(entries, { seconds: SECONDS });
    expect(tarArchive(entries.toReversed(), { seconds: SECONDS })).toEqual(made);
    writeFileSync(join(folder, "a.tar"), made);
    expect(printed(["tar", "-tvf", "a.tar", "--numeric-owner"]).split("\n").map(words)).toEqual([
      "drwxr-xr-x 0/0 bin/",
      "lrwxrwxrwx 0/0 bin/sh -> busybox",
      "drwxr-xr-x 65532/65532 data/",
      "drwxrwxrwt 0/0 tmp/",
      "drwxr-xr-x 0/0 usr/",
      "drwxr-xr-x 0/0 usr/bin/",
      "-rwxr-xr-x 0/0 usr/bin/program",
      "",
    ]);
  });

  /** The line of `tar` without the size, the date and the time. */
  function words(line: string): string {
    const [mode = "", owner = "", , , , ...name] = line.split(/ +/);
    return [mode, owner, ...name].join(" ").trim();
  }

  test("refuses a path twice, and one that is too long", () => {
    const make = (...paths: string[]) =>
      tarArchive(
        paths.map((path) => ({ path, content: "" })),
        { seconds: SECONDS },
      );
    expect(() => make("a", "a")).toThrow("the same path");
    expect(() => make("a".repeat(101))).toThrow("too long for an archive");
  });

  test("of ar pads members of an odd length", () => {
    const made = arArchive([{ name: "one", content: Buffer.from("1") }], SECONDS);
    expect(Buffer.from(made).toString()).toBe(
      "!<arch>\none             1800000000  0     0     100644  1         `\n1\n",
    );
  });
});

describe("a Debian package", () => {
  const made = {
    root: ROOT,
    version: "1.2.3-rc.1",
    seconds: SECONDS,
    executable: Buffer.from("program"),
    licences: "MIT\n",
    architecture: "arm64",
  } as const;

  test("is the same each time", () => {
    expect(debianPackage(made)).toEqual(debianPackage(made));
  });

  test.skipIf(Bun.which("dpkg-deb") === null)("is read by dpkg-deb", () => {
    writeFileSync(join(folder, "a.deb"), debianPackage(made));
    const field = (name: string) => printed(["dpkg-deb", "--field", "a.deb", name]).trim();
    expect(field("Version")).toBe("1.2.3~rc.1-1");
    expect(field("Architecture")).toBe("arm64");
    printed(["dpkg-deb", "--extract", "a.deb", "content"]);
    const unit = readFileSync(join(folder, "content/usr/lib/systemd/system/mailstead.service"));
    expect(unit.toString()).toContain("\nExecStart=/usr/bin/mailstead serve\n");
    expect(printed(["dpkg-deb", "--info", "a.deb", "conffiles"])).toBe(
      "/etc/mailstead/environment\n",
    );
  });

  test.each(["postinst", "prerm", "postrm"])("has a script %s that the shell reads", (name) => {
    printed(["sh", "-n", join(ROOT, "packaging/debian", name)]);
  });
});

test("the image has the settings of the Dockerfile", () => {
  const settings = readImageSettings(join(ROOT, "Dockerfile"));
  expect(settings).toMatchObject({
    User: "65532:65532",
    ExposedPorts: { "1025/tcp": {}, "8025/tcp": {} },
    Entrypoint: ["mailstead"],
    Cmd: ["dev"],
    Healthcheck: { Test: ["CMD", "mailstead", "readyz"], Interval: 10_000_000_000 },
  });
  expect(settings.Env).toContain("MAILSTEAD_HOST=0.0.0.0");
});

test("the bill of materials has licences and digests, and depends on its content only", () => {
  const components: Component[] = [
    {
      type: "library",
      name: "a",
      version: "1.0.0",
      licence: "MIT",
      purl: "pkg:npm/a@1.0.0",
      sha512: "00",
    },
    { type: "data", name: "b", version: "2", licence: "(MIT OR Zlib)" },
  ];
  const about = { version: "1.2.3", revision: "0123456789ab", seconds: SECONDS };
  const text = billOfMaterials(components, about);
  expect(billOfMaterials(components, about)).toBe(text);
  expect(JSON.parse(text)).toMatchObject({
    specVersion: "1.6",
    serialNumber: expect.stringMatching(
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/,
    ),
    metadata: { component: { name: "mailstead", version: "1.2.3" } },
    components: [
      { licenses: [{ license: { id: "MIT" } }], hashes: [{ alg: "SHA-512", content: "00" }] },
      { licenses: [{ expression: "(MIT OR Zlib)" }] },
    ],
    dependencies: [{ dependsOn: ["pkg:npm/a@1.0.0", "b@2"] }, {}, {}],
  });
});

test("the recipes of Homebrew and Nix have the digest of each executable", () => {
  const targets = ["darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64"];
  const digests = new Map(targets.map((target, index) => [target, `${index}`.repeat(64)]));
  const { version } = manifest;
  const [formula, expression] = [
    homebrewFormula(version, digests),
    nixExpression(version, digests),
  ];
  for (const target of targets) {
    expect(formula).toContain(`/v${version}/mailstead-${target}"`);
    expect(expression).toContain(`name = "mailstead-${target}"`);
  }
  expect(formula).toContain(`sha256 "${"2".repeat(64)}"`);
  expect(expression).toContain(`hash = "sha256-${Buffer.alloc(32, 0x22).toString("base64")}"`);
  expect(homebrewFormula(version, new Map([["linux-x64", "00"]]))).toBeNull();
});

describe("scripts/release.ts refuses", () => {
  const cases: [words: string[], message: RegExp][] = [
    [["--version", "1.2"], /--version: "1\.2" is no version, such as 1\.2\.3/],
    [["--out", ROOT], /--out .*: the folder has other files; name a new folder/],
    [["--sign", "missing.key"], /--sign missing\.key: there is no such file/],
    [["--new-key", join(ROOT, "release.key")], /keep the secret key out of the repository/],
    [["--key"], /Unknown option '--key'/],
  ];
  test.each(cases)("%j", (words, message) => {
    const script = join(ROOT, "scripts/release.ts");
    const { stderr, exitCode } = Bun.spawnSync([process.execPath, script, ...words]);
    expect(stderr.toString()).toMatch(message);
    expect(exitCode).toBe(2);
  });
});
