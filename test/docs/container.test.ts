/** The Dockerfile and the compose file agree with the program. `bun scripts/image.ts` builds the image. */

import { describe, expect, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { dev } from "../../src/cli/dev.ts";
import { readyz } from "../../src/cli/readyz.ts";
import { SETTINGS } from "../../src/config/settings.ts";
import { readConfig } from "../../src/config/read.ts";
import { valueAt } from "../support/json.ts";
import { startWebServer } from "../support/web-server.ts";

const ROOT = join(import.meta.dir, "../..");
const CURL = join(ROOT, "packaging/curl");
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
    for (const name of ["sh", "wget", "nc"]) {
      expect(copied.some((line) => line.endsWith(`/busybox /bin/${name}`))).toBe(true);
    }
    expect(copied).toContain("COPY packaging/curl /bin/curl");
    expect(statSync(CURL).mode & 0o111).toBe(0o111);
  });

  const calls: [call: string, words: string[]][] = [
    ["-f http://localhost:8025/livez", ["-q", "-O", "-", "http://localhost:8025/livez"]],
    ["--silent --fail localhost:8025", ["-q", "-O", "-", "localhost:8025"]],
    ["-fsSo /dev/null --url http://a/?x=*&y", ["-q", "-O", "/dev/null", "http://a/?x=*&y"]],
    ["-sm5 -H 'a: b c' http://a/", ["-q", "-O", "-", "-T", "5", "--header", "a: b c", "http://a/"]],
    ["-k -I https://a/", ["-q", "-O", "-", "--no-check-certificate", "--spider", "https://a/"]],
    ["-X HEAD -L -- http://a/", ["-q", "-O", "-", "--spider", "http://a/"]],
  ];
  test.each(calls)("has a curl that asks with wget: %s", (call, words) => {
    const wget = `wget() { printf '%s\\n' "$@"; return 1; }`;
    const script = readFileSync(CURL, "utf8").replace("&& exec wget", "&& wget");
    const shell = `${wget}; curl() { (${script}\n) }; curl ${call.replace("&", "\\&")}`;
    const { stdout, stderr } = Bun.spawnSync(["sh", "-fc", shell]);
    expect([stderr.toString(), stdout.toString().split("\n").slice(0, words.length)]).toEqual([
      "",
      words,
    ]);
  });

  const refusals = ["--data x http://a/", "-X POST http://a/", "-fu a:b http://a/", ""];
  test.each(refusals)("has a curl that refuses what it cannot do: curl %s", (call) => {
    const { exitCode, stderr } = Bun.spawnSync(["sh", "-c", `${CURL} ${call}`]);
    expect([exitCode, stderr.toString()]).toEqual([2, expect.stringMatching(/^curl: .+\n$/)]);
  });

  test.skipIf(Bun.which("wget") === null)(
    "has a curl that fails as wget does, and prints the status",
    async () => {
      const server = await startWebServer({
        answer: ({ path }) => ({ status: path === "/bad" ? 503 : 200 }),
      });
      const run = async (...words: string[]) => {
        const child = Bun.spawn([CURL, ...words], { stdout: "pipe", stderr: "ignore" });
        return [(await child.exited) === 0, await child.stdout.text()];
      };
      const format = ["-so", "/dev/null", "-w", "is %{http_code}\\n"];
      expect(await run("-fs", `${server.origin}/good`)).toEqual([true, ""]);
      expect(await run("-fs", `${server.origin}/bad`)).toEqual([false, ""]);
      expect(await run(...format, `${server.origin}/good`)).toEqual([true, "is 200\n"]);
      expect(await run(...format, `${server.origin}/bad`)).toEqual([false, "is 503\n"]);
      await server.close();
    },
  );

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
