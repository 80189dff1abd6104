/**
 * Builds the image of the Dockerfile and runs it, with the Docker daemon of this machine.
 *
 * `bun scripts/image.ts`
 *
 * The build needs the images oven/bun and gcr.io/distroless/base-debian12, from a registry or local. Each
 * check prints one line; the first one that fails ends the run with exit code 1. At its end, the run
 * removes the image, the containers, the volumes and the network that it made.
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { mailstead } from "../test/support/cli.ts";
import { stringAt, valueAt } from "../test/support/json.ts";

const ROOT = join(import.meta.dir, "..");
const HEALTHY_WITHIN_MS = 60_000;
const POLL_MS = 250;

/** The name of the image, and the beginning of all other names of this run. */
const NAME = `mailstead-check-${process.pid}`;
const VOLUME = `${NAME}-data`;
const NETWORK = `${NAME}-network`;

const containers = {
  bare: `${NAME}-bare`,
  first: `${NAME}-first`,
  second: `${NAME}-second`,
  refused: `${NAME}-refused`,
  mailpit: `${NAME}-mailpit`,
};

/** Runs a Docker command and returns what it printed; throws if it fails. */
async function docker(...words: string[]): Promise<string> {
  const child = Bun.spawn(["docker", ...words], { cwd: ROOT, stdout: "pipe", stderr: "pipe" });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) === 0) return out.trim();
  throw new Error(`docker ${words.join(" ")}: ${out.slice(-4000)}${err}`);
}

/** Starts a container of the image and waits until its health check succeeds. */
async function start(container: string, ...options: string[]): Promise<void> {
  await docker("run", "--detach", "--name", container, ...options, NAME);
  const deadline = performance.now() + HEALTHY_WITHIN_MS;
  for (;;) {
    const health = await docker("inspect", "--format", "{{.State.Health.Status}}", container);
    if (health === "healthy") return;
    if (health !== "starting" || performance.now() > deadline) {
      throw new Error(`${container} is ${health}: ${await docker("logs", container)}`);
    }
    await Bun.sleep(POLL_MS);
  }
}

/** The address on this machine at which a port of a container is published. */
const published = (container: string, port: number) => docker("port", container, String(port));

/** The subject of the newest message that a container with a published port has caught. */
async function latestSubject(container: string): Promise<string> {
  const address = await published(container, 8025);
  const response = await fetch(`http://${address}/inboxes/default/messages/latest`);
  return stringAt(await response.json(), "data.subject");
}

async function check(name: string, run: () => Promise<void>): Promise<void> {
  try {
    await run();
    console.log(`ok ${name}`);
  } catch (error) {
    console.log(`not ok ${name}`);
    throw error;
  }
}

async function checkRights(): Promise<void> {
  const rights = ["--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"];
  await start(containers.bare, ...rights);
  // Docker needs the process id in the table; it is removed from each line.
  const lines = (await docker("top", containers.bare, "-eo", "pid,uid,gid,args")).split("\n");
  const processes = lines.map((line) => line.trim().split(/\s+/).slice(1).join(" "));
  assert(processes.includes("65532 65532 mailstead dev"), processes.join("\n"));
}

/** The commands that health checks of compose files call inside the container. */
const HEALTH_CHECKS = [
  ["/mailpit", "readyz"],
  ["mailstead", "readyz"],
  ["wget", "-qO-", "http://localhost:8025/livez"],
  ["wget", "--no-verbose", "--tries=1", "--spider", "http://localhost:8025/"],
  ["curl", "-f", "http://localhost:8025/livez"],
  ["curl", "--silent", "--fail", "-o", "/dev/null", "http://127.0.0.1:8025/"],
  ["sh", "-c", "curl -fsS http://localhost:8025/readyz || exit 1"],
  ["nc", "-z", "localhost", "1025"],
];

async function checkHealthChecks(): Promise<void> {
  for (const words of HEALTH_CHECKS) await docker("exec", containers.bare, ...words);
}

async function checkVolume(): Promise<void> {
  const options = ["--volume", `${VOLUME}:/data`];
  for (const port of [1025, 8025]) options.push("--publish", `127.0.0.1::${port}`);
  await start(containers.first, ...options);
  const smtp = await published(containers.first, 1025);
  const sent = await mailstead(["send", "--capture-smtp", smtp, "--subject", "Kept"]);
  assert.equal(sent.code, 0, sent.stderr);
  assert.equal(await latestSubject(containers.first), "Kept");
  await docker("stop", containers.first);
  const exitCode = await docker("inspect", "--format", "{{.State.ExitCode}}", containers.first);
  assert.equal(exitCode, "0");
  await docker("rm", containers.first);
  await start(containers.second, ...options);
  assert.equal(await latestSubject(containers.second), "Kept");
}

async function checkVolumeOfRoot(): Promise<void> {
  const volume = ["--volume", `${VOLUME}-of-root:/volume-of-root`];
  const data = ["--env", "MAILSTEAD_DATA=/volume-of-root/data"];
  const words = ["run", "--name", containers.refused, ...volume, ...data, NAME];
  const answer = await docker(...words).catch(String);
  assert.match(answer, /Let user 65532, as which this process runs, write there/);
}

async function checkPlaceOfMailpit(): Promise<void> {
  await docker("network", "create", NETWORK);
  const variables = [
    "MP_UI_BIND_ADDR=0.0.0.0:9000",
    "MP_SMTP_BIND_ADDR=[::]:2025",
    "MP_DATABASE=/data/mailpit.db",
    "MP_MAX_MESSAGES=5000",
    "MP_SMTP_AUTH_ACCEPT_ANY=1",
  ].flatMap((variable) => ["--env", variable]);
  const network = ["--network", NETWORK];
  await start(containers.mailpit, ...network, "--network-alias", "mailpit", ...variables);
  const client = (...words: string[]) => docker("run", "--rm", ...network, NAME, ...words);
  await client("send", "--capture-smtp", "mailpit:2025");
  const server = ["--server", "http://mailpit:9000"];
  const answer: unknown = JSON.parse(
    await client("inbox", "export", "mails.mbox", ...server, "--json"),
  );
  assert.equal(valueAt(answer, "exported"), 1);
}

async function removeAll(): Promise<void> {
  const remove = (...words: string[]) => docker(...words).catch(() => "");
  await remove("rm", "--force", "--volumes", ...Object.values(containers));
  await remove("volume", "rm", "--force", VOLUME, `${VOLUME}-of-root`);
  await remove("network", "rm", NETWORK);
  await remove("image", "rm", "--force", NAME);
}

if (Bun.which("docker") === null) {
  console.error("docker is not installed");
  process.exit(1);
}
try {
  await docker("info");
  await check("the image is built", async () => void (await docker("build", "--tag", NAME, ".")));
  await check("it becomes healthy without rights, and writes to its volume only", checkRights);
  await check("it has the programs of health checks", checkHealthChecks);
  await check("it catches mail on both ports, and its volume keeps the mail", checkVolume);
  await check("it names its user when a volume belongs to root", checkVolumeOfRoot);
  await check("it takes the place of Mailpit for other containers", checkPlaceOfMailpit);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
} finally {
  await removeAll();
}
