/** The Dockerfile and the compose file agree with the program; the image is built where Docker runs. */

import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { dev } from "../../src/cli/dev.ts";
import { readyz } from "../../src/cli/readyz.ts";
import { SETTINGS } from "../../src/config/settings.ts";
import { readConfig } from "../../src/config/read.ts";
import { valueAt } from "../support/json.ts";

const ROOT = join(import.meta.dir, "../..");
const dockerfile = readFileSync(join(ROOT, "Dockerfile"), "utf8");
const compose: unknown = Bun.YAML.parse(readFileSync(join(ROOT, "compose.yaml"), "utf8"));

const instructions = dockerfile
  .replaceAll("\\\n", " ")
  .split("\n")
  .filter((line) => /^[A-Z]+ /.test(line));
const last = (name: string) => instructions.findLast((line) => line.startsWith(`${name} `)) ?? "";

describe("the Dockerfile", () => {
  test("runs dev as a user without rights, with a volume, both ports and a health check", () => {
    expect(last("USER")).toBe("USER 65532:65532");
    expect(last("VOLUME")).toBe("VOLUME /data");
    expect(last("EXPOSE")).toBe("EXPOSE 1025 8025");
    expect(last("HEALTHCHECK")).toEndWith(`CMD ["mailstead", "${readyz.name}"]`);
    expect([last("ENTRYPOINT"), last("CMD")]).toEqual([
      'ENTRYPOINT ["mailstead"]',
      `CMD ["${dev.name}"]`,
    ]);
  });

  test("has the Bun of package.json", () => {
    const { devDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    expect(instructions[0]).toBe(`FROM oven/bun:${devDependencies.bun} AS build`);
  });

  test("sets settings to values that are accepted", () => {
    const pairs = [...last("ENV").matchAll(/(MAILSTEAD_\w+)=(\S+)/g)];
    const environment = Object.fromEntries(pairs.map(([, name, value]) => [name, value]));
    const known = new Set(Object.values(SETTINGS).map(({ env }) => env));
    expect(Object.keys(environment).filter((name) => !known.has(name))).toEqual([]);
    expect(readConfig({}, environment)).toMatchObject({
      host: "0.0.0.0",
      allowedHosts: expect.arrayContaining(["mailpit", "localhost"]),
    });
  });
});

test("the compose file publishes both ports on this machine only, and keeps the data", () => {
  const service = valueAt(compose, "services.mailstead");
  expect(valueAt(service, "ports")).toEqual(["127.0.0.1:1025:1025", "127.0.0.1:8025:8025"]);
  expect(valueAt(service, "volumes")).toEqual(["mailstead:/data"]);
});

const docker = Bun.which("docker");
const hasDaemon =
  docker !== null && Bun.spawnSync([docker, "info"], { stderr: "ignore" }).exitCode === 0;

describe.skipIf(!hasDaemon)("the image (skipped: no Docker daemon runs here)", () => {
  const name = `mailstead-test-${process.pid}`;
  const run = (...words: string[]) => Bun.spawnSync([docker ?? "docker", ...words], { cwd: ROOT });
  afterAll(() => void run("rm", "--force", "--volumes", name));

  test("is built, starts, and becomes healthy", async () => {
    expect(run("build", "--tag", name, ".").exitCode).toBe(0);
    expect(run("run", "--detach", "--name", name, name).exitCode).toBe(0);
    const health = () => run("inspect", "--format", "{{.State.Health.Status}}", name).stdout;
    const deadline = performance.now() + 60_000;
    while (health().toString().trim() !== "healthy" && performance.now() < deadline) {
      await Bun.sleep(500);
    }
    expect(health().toString().trim()).toBe("healthy");
  }, 300_000);
});
