/**
 * Builds the image of the Dockerfile and runs it, if a Docker daemon runs here.
 *
 * The build needs the images oven/bun and gcr.io/distroless/base-debian12, from a registry or local.
 */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { mailstead } from "../support/cli.ts";
import { stringAt } from "../support/json.ts";

const ROOT = join(import.meta.dir, "../..");
const BUILD_LIMIT_MS = 300_000;
const LIMIT_MS = 90_000;
const HEALTHY_WITHIN_MS = 60_000;

/** The name of the image, and the beginning of all other names of this test. */
const NAME = `mailstead-test-${process.pid}`;
const VOLUME = `${NAME}-data`;
const NETWORK = `${NAME}-network`;

const hasDaemon =
  Bun.which("docker") !== null &&
  Bun.spawnSync(["docker", "info"], { stdout: "ignore", stderr: "ignore" }).exitCode === 0;

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
    await Bun.sleep(250);
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

const containers = {
  bare: `${NAME}-bare`,
  first: `${NAME}-first`,
  second: `${NAME}-second`,
  refused: `${NAME}-refused`,
  mailpit: `${NAME}-mailpit`,
};

describe.skipIf(!hasDaemon)("the image (skipped if no Docker daemon runs)", () => {
  beforeAll(() => docker("build", "--tag", NAME, "."), BUILD_LIMIT_MS);
  afterAll(async () => {
    await docker("rm", "--force", "--volumes", ...Object.values(containers));
    await docker("volume", "rm", "--force", VOLUME, `${VOLUME}-of-root`);
    await docker("network", "rm", NETWORK);
    await docker("image", "rm", "--force", NAME);
  }, LIMIT_MS);

  test(
    "becomes healthy as a user without rights, and writes to its volume only",
    async () => {
      const rights = ["--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"];
      await start(containers.bare, ...rights);
      // Docker needs the process id in the table; it is removed from each line.
      const lines = (await docker("top", containers.bare, "-eo", "pid,uid,gid,args")).split("\n");
      expect(lines.map((line) => line.trim().split(/\s+/).slice(1).join(" "))).toContain(
        "65532 65532 mailstead dev",
      );
    },
    LIMIT_MS,
  );

  test(
    "catches mail on both ports, and its volume keeps the mail for the next container",
    async () => {
      const options = ["--volume", `${VOLUME}:/data`];
      for (const port of [1025, 8025]) options.push("--publish", `127.0.0.1::${port}`);
      await start(containers.first, ...options);
      const smtp = await published(containers.first, 1025);
      const sent = await mailstead(["send", "--capture-smtp", smtp, "--subject", "Kept"]);
      expect(sent).toMatchObject({ code: 0 });
      expect(await latestSubject(containers.first)).toBe("Kept");

      await docker("stop", containers.first);
      const exitCode = await docker("inspect", "--format", "{{.State.ExitCode}}", containers.first);
      expect(exitCode).toBe("0");
      await docker("rm", containers.first);
      await start(containers.second, ...options);
      expect(await latestSubject(containers.second)).toBe("Kept");
    },
    LIMIT_MS,
  );

  test(
    "names its user when a volume belongs to root",
    async () => {
      const volume = ["--volume", `${VOLUME}-of-root:/volume-of-root`];
      const data = ["--env", "MAILSTEAD_DATA=/volume-of-root/data"];
      const words = ["run", "--name", containers.refused, ...volume, ...data, NAME];
      const answer = await docker(...words).catch(String);
      expect(answer).toContain("Let user 65532, as which this process runs, write there");
    },
    LIMIT_MS,
  );

  test(
    "takes the place of Mailpit for other containers, with its name and variables",
    async () => {
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
      expect(answer).toMatchObject({ exported: 1 });
    },
    LIMIT_MS,
  );
});
