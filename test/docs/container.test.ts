/** The Dockerfile and the compose file agree with the program. `bun scripts/image.ts` builds the image. */

import { describe, expect, test } from "bun:test";
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

  test("has what health checks of Mailpit's compose files call", () => {
    const copied = instructions.filter((line) => line.startsWith("COPY "));
    expect(dockerfile).toContain("ln -s /usr/local/bin/mailstead /image/links/mailpit");
    expect(copied).toContain("COPY --from=build /image/links/ /");
    for (const name of ["sh", "wget"]) {
      expect(copied.some((line) => line.endsWith(`/busybox /bin/${name}`))).toBe(true);
    }
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
