/** An upgrade finds the service and the packager of an executable, and reads a release over HTTP. */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { instructionsFor } from "../../src/upgrade/installed.ts";
import { commandService, findUnit } from "../../src/upgrade/service.ts";
import { readerOf, releaseSource } from "../../src/upgrade/source.ts";
import { manualClock } from "../support/clock.ts";
import { mailstead } from "../support/command-line.ts";

let folder: string;
let executable: string;
const env = () => ({ PATH: `${folder}/bin:/usr/bin:/bin` });

/** A program in PATH that writes its arguments into a file and runs the script. */
function program(name: string, script: string): void {
  const file = join(folder, "bin", name);
  writeFileSync(file, `#!/bin/sh\necho "$@" >> ${folder}/calls\n${script}\n`);
  chmodSync(file, 0o755);
}

const calls = () => readFileSync(join(folder, "calls"), "utf8").trim().split("\n");

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mailstead-service-"));
  mkdirSync(join(folder, "bin"));
  executable = join(folder, "bin/mailstead");
  program("mailstead", "");
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("systemd", () => {
  const show = (path: string, pid: number) =>
    program(
      "systemctl",
      `case "$1" in
       show) echo "ExecStart={ path=${path} ; argv[]=${path} serve ; ignore_errors=no }"; echo "MainPID=${pid}" ;;
       stop) echo "Access denied" >&2; exit 4 ;;
       esac`,
    );

  test("controls the unit that runs this executable, whose process tells the settings", async () => {
    show(executable, process.pid);
    const found = await findUnit("mailstead", executable, env());
    expect(found?.service.startText).toBe("systemctl start mailstead");
    expect(found?.process).toMatchObject({ cwd: process.cwd(), env: { PATH: expect.any(String) } });
    await found?.service.start();
    expect(calls().slice(-2)).toEqual(["reset-failed mailstead", "start mailstead"]);
    expect(found?.service.stop()).rejects.toThrow(
      /stop mailstead failed \(exit code 4\): Access denied$/,
    );
  });

  test.each<[string, () => void]>([
    ["the unit runs another executable", () => show("/usr/bin/env", 0)],
    ["the unit names a file that is not there", () => show("/nowhere/mailstead", 0)],
    ["there is no such unit", () => program("systemctl", 'echo "MainPID=0"')],
    ["systemd does not run", () => program("systemctl", "exit 1")],
  ])("is not used if %s", async (_, prepare) => {
    prepare();
    expect(await findUnit("mailstead", executable, env())).toBeNull();
  });
});

test("two commands stop and start a server without systemd", async () => {
  const service = commandService(`echo off >> ${folder}/calls`, "echo no >&2; exit 3", env());
  await service.stop();
  expect(calls()).toEqual(["off"]);
  expect(service.start()).rejects.toThrow("failed (exit code 3): no");
});

describe("what to do instead is told", () => {
  test.each<[string, string, string[]]>([
    ["in a container", "get the image of the new version", ["/usr/local/bin/mailstead", "serve"]],
    ["in a container with an init", "get the image", ["docker-init", "--", "mailstead", "serve"]],
  ])("%s", async (_, expected, first) => {
    expect(await instructionsFor(executable, env(), first)).toContain(expected);
  });

  test.each<[string, string]>([
    ["/nix/store/abc-mailstead-1.0.0/bin/mailstead", "Nix"],
    ["/opt/homebrew/Cellar/mailstead/1.0.0/bin/mailstead", "brew upgrade mailstead"],
  ])("for %s", async (path, expected) => {
    expect(await instructionsFor(path, env(), ["init"])).toContain(expected);
  });

  test("for a file of a package, and not for another one", async () => {
    program("dpkg", "exit 1");
    program("rpm", "exit 1");
    expect(await instructionsFor(executable, env(), ["/sbin/init"])).toBeNull();
    program("rpm", "");
    expect(await instructionsFor(executable, env(), ["/sbin/init"])).toContain("dnf install");
    program("dpkg", "");
    expect(await instructionsFor(executable, env(), ["/sbin/init"])).toContain("apt install");
    expect(calls()[0]).toBe(`-S ${executable}`);
  });
});

describe("a release on a web server", () => {
  test("is read, also behind a redirect, and what is too long or missing is refused", async () => {
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      routes: {
        "/latest/*": (request) => Response.redirect(request.url.replace("/latest/", "/1/"), 302),
        "/1/SHA256SUMS": () => new Response("sums"),
      },
      fetch: () => new Response(null, { status: 404 }),
    });
    const read = readerOf(releaseSource(`http://127.0.0.1:${server.port}/latest`, manualClock()));
    expect(Buffer.from(await read("SHA256SUMS", 4)).toString()).toBe("sums");
    expect(read("SHA256SUMS", 3)).rejects.toThrow("is longer than 3 bytes");
    expect(read("other", 3)).rejects.toThrow(/latest\/other answers with the status 404\.$/);
    await server.stop(true);
    expect(read("SHA256SUMS", 4)).rejects.toThrow("cannot be read");
  });

  test("is not waited for if it sends nothing for 30 seconds", async () => {
    const clock = manualClock();
    const begun = Promise.withResolvers<void>();
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch() {
        begun.resolve();
        return new Promise<Response>(() => {});
      },
    });
    const read = readerOf(releaseSource(`http://127.0.0.1:${server.port}`, clock))("a", 10);
    await begun.promise;
    clock.advance(30_000);
    expect(read).rejects.toThrow("nothing was received for 30 seconds");
    await server.stop(true);
  });
});

test("a checkout is not upgraded", async () => {
  const { code, stderr } = await mailstead(["upgrade"]);
  expect([code, stderr]).toEqual([1, expect.stringContaining("This is a checkout of the source")]);
});
