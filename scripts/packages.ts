/**
 * Installs the packages of two releases in root folders of Debian, as an administrator would, upgrades,
 * removes and purges them, and runs the container image. Servers run as their users.
 *
 * `bun scripts/packages.ts [--root FOLDER] [--old FOLDER --new FOLDER]`
 *
 * It needs Linux and root, because it calls chroot. --root is a fresh root folder of Debian 12, of which
 * copies are used; without it, debootstrap makes one. --old and --new are releases; without them,
 * scripts/release.ts makes both. Each check prints one line, and the first that fails ends the run.
 */

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import manifest from "../package.json";
import { listAt, stringAt, valueAt } from "../test/support/json.ts";

const PROJECT = join(import.meta.dir, "..");
const NEW_VERSION = manifest.version.replace(/\d+$/, (last) => String(Number(last) + 1));
const PROCESSOR = { x64: ["amd64", "x86_64"], arm64: ["arm64", "aarch64"] } as const;
const DATA = "/var/lib/mailstead";
const SETTINGS = "/etc/mailstead/environment";

const { values } = parseArgs({
  options: { root: { type: "string" }, old: { type: "string" }, new: { type: "string" } },
});
const folder = mkdtempSync(join(tmpdir(), "mailstead-packages-"));

function check(name: string): void {
  console.log(`ok ${name}`);
}

/** Runs a command and returns what it printed, on both streams; throws if it fails. */
function run(...command: string[]): string {
  const child = Bun.spawnSync(command, {
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C", DEBIAN_FRONTEND: "noninteractive" },
    stdin: "ignore",
  });
  const output = `${child.stdout.toString()}${child.stderr.toString()}`;
  if (!child.success) throw new Error(`${command.join(" ")}\n${output}`);
  return output;
}

/** A root folder with the commands that run in it. */
class Root {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** `/proc` is mounted for this command only, in a namespace of its own. */
  #command(user: string, words: readonly string[]): string[] {
    const script = 'mount -t proc proc "$0/proc" && exec chroot "--userspec=$1" "$0" "${@:2}"';
    return ["unshare", "--mount", "bash", "-c", script, this.path, `${user}:${user}`, ...words];
  }

  run(...words: string[]): string {
    return run(...this.#command("root", words));
  }

  /** Runs the program as the user of the service. */
  mailstead(...words: string[]): string {
    return run(...this.#command("mailstead", ["mailstead", ...words]));
  }

  has(path: string): boolean {
    return existsSync(join(this.path, path));
  }

  rights(path: string): string {
    return this.run("stat", "-c", "%a %U:%G", path).trim();
  }

  /** Starts the server as its user, asks whether it is ready, and stops it. */
  async serve(): Promise<void> {
    const words = ["mailstead", "serve", "--data", DATA, "--port", "0", "--json"];
    const server = Bun.spawn(this.#command("mailstead", words), {
      stderr: "pipe",
      stdin: "ignore",
    });
    const { value } = await server.stdout.getReader().read();
    const [, url] = /"url":"([^"]+)"/.exec(new TextDecoder().decode(value)) ?? [];
    if (url === undefined) throw new Error(await new Response(server.stderr).text());
    const { status } = await fetch(`${url}/readyz`);
    server.kill("SIGTERM");
    assert.deepEqual([status, await server.exited], [200, 0]);
  }
}

function requirePrograms(): void {
  const needed = ["chroot", "unshare", "nsenter", "bash", "rpm", "tar"];
  if (values.root === undefined) needed.push("debootstrap");
  const missing = needed.filter((name) => Bun.which(name) === null);
  if (process.getuid?.() !== 0) missing.push("the rights of root");
  if (missing.length > 0) throw new Error(`this proof needs ${missing.join(", ")}`);
}

function freshRoot(name: string): Root {
  const path = join(folder, name);
  if (values.root !== undefined) run("cp", "-a", resolve(values.root), path);
  else if (existsSync(join(folder, "debian"))) run("cp", "-a", join(folder, "debian"), path);
  else {
    run(
      "debootstrap",
      "--variant=minbase",
      "--include=adduser",
      "bookworm",
      join(folder, "debian"),
    );
    run("cp", "-a", join(folder, "debian"), path);
  }
  return new Root(path);
}

/** Returns the folder of a release, which is made if none is given. */
function releaseFolder(given: string | undefined, version: string): string {
  if (given !== undefined) return resolve(given);
  const out = join(folder, `release-${version}`);
  const words = ["--target", `linux-${process.arch}`, "--version", version, "--out", out];
  run(process.execPath, join(PROJECT, "scripts/release.ts"), ...words);
  return out;
}

function versionIn(release: string): string {
  const bill: unknown = JSON.parse(readFileSync(join(release, "mailstead.cdx.json"), "utf8"));
  return stringAt(bill, "metadata.component.version");
}

async function checkInstalled(root: Root, version: string): Promise<void> {
  assert.match(
    root.run("mailstead", "version"),
    new RegExp(`^mailstead ${RegExp.escape(version)}`),
  );
  assert.equal(root.rights(DATA), "700 mailstead:mailstead");
  assert.match(root.rights(SETTINGS), /^640 root:/);
  await root.serve();
}

const CHANGED = "MAILSTEAD_URL=https://mail.shop.example\n";

async function checkDebian(files: { old: string; new: string }, versions: [string, string]) {
  const root = freshRoot("deb");
  const install = (file: string) => {
    run("cp", file, join(root.path, "root/mailstead.deb"));
    return root.run("dpkg", "--install", "/root/mailstead.deb");
  };
  assert.match(install(files.old), /Run "mailstead setup" as root/);
  await checkInstalled(root, versions[0]);
  root.mailstead("project", "create", "Shop", "--data", DATA);
  check(`deb: ${versions[0]} is installed, and serves as its user`);

  writeFileSync(join(root.path, SETTINGS), CHANGED);
  writeFileSync(join(root.path, "/etc/mailstead/relay-url"), "smtp://u:p@relay.example\n");
  install(files.new);
  await checkInstalled(root, versions[1]);
  assert.equal(readFileSync(join(root.path, SETTINGS), "utf8"), CHANGED);
  assert.match(root.mailstead("project", "list", "--data", DATA), /Shop/);
  check(`deb: upgraded to ${versions[1]} with its settings and data`);

  root.run("dpkg", "--remove", "mailstead");
  assert.equal(root.has("/usr/bin/mailstead"), false);
  assert.equal(readFileSync(join(root.path, SETTINGS), "utf8"), CHANGED);
  assert.equal(root.has(`${DATA}/mailstead.db`), true);
  check("deb: removed, and the settings and data are kept");

  install(files.new);
  assert.match(root.mailstead("project", "list", "--data", DATA), /Shop/);
  writeFileSync(join(root.path, "/etc/mailstead/key.pem"), "of the administrator\n");
  assert.match(root.run("dpkg", "--purge", "mailstead"), /data in \/var\/lib\/mailstead are kept/);
  assert.equal(root.has(SETTINGS), false);
  assert.equal(root.has("/etc/mailstead/relay-url"), false);
  assert.equal(root.has("/etc/mailstead/key.pem"), true);
  assert.equal(root.has(`${DATA}/mailstead.db`), true);
  check("deb: purged, and only the data and files of the administrator are kept");

  const empty = freshRoot("deb-empty");
  run("cp", files.new, join(empty.path, "root/mailstead.deb"));
  empty.run("dpkg", "--install", "/root/mailstead.deb");
  empty.run("dpkg", "--purge", "mailstead");
  assert.deepEqual(
    ["/etc/mailstead", DATA].map((path) => empty.has(path)),
    [false, false],
  );
  check("deb: a purge without data leaves no folder");
}

async function checkRpm(files: { old: string; new: string }, versions: [string, string]) {
  const root = freshRoot("rpm");
  // The database of Debian's rpm knows no glibc.
  const rpm = (...words: string[]) => run("rpm", "--root", root.path, "--nodeps", ...words);
  rpm("--install", files.old);
  await checkInstalled(root, versions[0]);
  root.mailstead("project", "create", "Shop", "--data", DATA);
  writeFileSync(join(root.path, SETTINGS), CHANGED);
  check(`rpm: ${versions[0]} is installed, and serves as its user`);

  rpm("--upgrade", files.new);
  await checkInstalled(root, versions[1]);
  assert.equal(readFileSync(join(root.path, SETTINGS), "utf8"), CHANGED);
  assert.match(root.mailstead("project", "list", "--data", DATA), /Shop/);
  check(`rpm: upgraded to ${versions[1]} with its settings and data`);

  rpm("--erase", "mailstead");
  assert.equal(root.has("/usr/bin/mailstead"), false);
  assert.equal(root.has(`${SETTINGS}.rpmsave`), true);
  assert.equal(root.has(`${DATA}/mailstead.db`), true);
  check("rpm: removed, and the settings and data are kept");
}

/** The image with its own network, so that its ports are free, as a container has it. */
async function checkImage(image: string, version: string): Promise<void> {
  const [layout, root] = [join(folder, "layout"), join(folder, "image")];
  run("mkdir", layout, root);
  run("tar", "-xf", image, "-C", layout);
  const readJson = (name: string): unknown => JSON.parse(readFileSync(join(layout, name), "utf8"));
  const saved = readJson("manifest.json");
  for (const layer of listAt(saved, "0.Layers").map(String)) {
    run("tar", "-xzf", join(layout, layer), "-C", root);
  }
  const config = valueAt(readJson(stringAt(saved, "0.Config")), "config");
  const words = (path: string) => listAt(config, path).map(String);
  const user = `--userspec=${stringAt(config, "User")}`;
  const change = ["sh", "-c", 'cd "$0" && exec "$@"', stringAt(config, "WorkingDir")];
  const inside = ["env", "-i", ...words("Env"), "/usr/sbin/chroot", user, root, ...change];
  // A container runtime provides these.
  run("mkdir", join(root, "proc"), join(root, "dev"));
  writeFileSync(join(root, "etc/hosts"), "127.0.0.1 localhost\n");
  const prepare = [
    '"$0/bin/busybox" ip link set lo up',
    'mount -t proc proc "$0/proc"',
    'mount --bind /dev "$0/dev"',
    'exec "$@"',
  ].join(" && ");
  const namespaces = ["unshare", "--net", "--mount", "bash", "-c", prepare, root];
  const program = [...words("Entrypoint"), ...words("Cmd")];
  const server = Bun.spawn([...namespaces, ...inside, ...program], {
    stdin: "ignore",
    stderr: "inherit",
  });
  try {
    await server.stdout.getReader().read();
    const enter = ["nsenter", `--target=${server.pid}`, "--net", "--mount"];
    run(...enter, ...inside, ...words("Healthcheck.Test").slice(1));
    run(...enter, ...inside, "curl", "-fsS", "http://localhost:8025/livez");
    const printed = run(...enter, ...inside, "mailstead", "version");
    assert.match(printed, new RegExp(`^mailstead ${RegExp.escape(version)}`));
    assert.match(readFileSync(`/proc/${server.pid}/status`, "utf8"), /^Uid:\s65532\s65532\s/m);
    server.kill("SIGTERM");
    assert.equal(await server.exited, 0);
  } finally {
    server.kill("SIGKILL");
  }
  check(`image: ${version} runs as 65532, and its health check succeeds inside`);
}

async function main(): Promise<void> {
  requirePrograms();
  const [debian, rpm] = PROCESSOR[process.arch === "arm64" ? "arm64" : "x64"];
  const releases = {
    old: releaseFolder(values.old, manifest.version),
    new: releaseFolder(values.new, NEW_VERSION),
  };
  const versions: [string, string] = [versionIn(releases.old), versionIn(releases.new)];
  const files = (name: string) => ({
    old: join(releases.old, name),
    new: join(releases.new, name),
  });
  await checkDebian(files(`mailstead_${debian}.deb`), versions);
  const rpmFiles = files(`mailstead.${rpm}.rpm`);
  if (existsSync(rpmFiles.old)) await checkRpm(rpmFiles, versions);
  else console.log("skipped: the releases have no RPM packages");
  const image = join(releases.new, `mailstead-image-${debian}.tar`);
  if (existsSync(image)) await checkImage(image, versions[1]);
  else console.log("skipped: the release has no container image");
}

try {
  await main();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
