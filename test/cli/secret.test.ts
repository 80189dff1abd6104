/** Commands on a data folder whose secret is missing or wrong, and on an empty folder. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mailstead, type Ran, startMailstead } from "../support/command-line.ts";
import { valueAt } from "../support/json.ts";

const OTHER_SECRET = "x".repeat(43);
const MAIL = ["--from", "me@example.com", "--to", "ada@example.net"];

let parent: string;
let whole: string;
beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), "mailstead-secret-"));
  whole = join(parent, "whole");
  await mailstead(["project", "create", "Shop", "--data", whole]);
  await mailstead(["domain", "add", "example.com", "--verified", "--data", whole]);
});
afterAll(() => rmSync(parent, { recursive: true, force: true }));

/** Copies the installation. */
function restored(name: string): string {
  const data = join(parent, name);
  cpSync(whole, data, { recursive: true });
  return data;
}

/** Expects exit code 1, one line with the error and one line with the fix. */
function expectRefusal({ code, stdout, stderr }: Ran, problem: RegExp, fix: RegExp): void {
  expect([code, stdout]).toEqual([1, ""]);
  const [first = "", second = "", ...rest] = stderr.trimEnd().split("\n");
  expect(first).toMatch(problem);
  expect(second).toMatch(fix);
  expect(rest).toEqual([]);
}

describe("a restore without the file secret", () => {
  const COMMANDS = [
    ["serve", "--port", "0"],
    ["migrate"],
    ["project", "create", "Other"],
    ["key", "list"],
    ["domain", "list"],
    ["send", ...MAIL],
  ];

  test("stops every command, and no command creates another secret", async () => {
    const data = restored("forgotten");
    rmSync(join(data, "secret"));
    for (const words of COMMANDS) {
      const ran = await mailstead([...words, "--data", data]);
      expectRefusal(ran, /^mailstead: .*secret is missing/, /^Restore the file secret.*--secret/);
    }
    expect(existsSync(join(data, "secret"))).toBe(false);
  });

  test("does not stop a command that is given the secret", async () => {
    const data = restored("given");
    rmSync(join(data, "secret"));
    const words = ["key", "list", "--json", "--data", data, "--secret", OTHER_SECRET];
    expect((await mailstead(words)).code).toBe(0);
  });
});

describe("with another secret", () => {
  const REFUSED = [
    ["serve", "--port", "0"],
    ["dev", "--port", "0"],
    ["send", ...MAIL],
    ["domain", "add", "example.org"],
    ["domain", "records", "example.com"],
    ["domain", "verify", "example.com"],
  ];

  test("commands that need the stored keys report that they cannot be opened, and the fix", async () => {
    const data = restored("wrong");
    writeFileSync(join(data, "secret"), OTHER_SECRET);
    for (const words of REFUSED) {
      const ran = await mailstead([...words, "--data", data]);
      expectRefusal(ran, /DKIM key of example\.com cannot be opened/, /^Restore.*domain remove/);
    }
  });

  test("the doctor reports it", async () => {
    const data = restored("ill");
    writeFileSync(join(data, "secret"), OTHER_SECRET);
    // No DNS server runs at this address, because this test needs only the checks of the folder.
    const { code, stdout } = await mailstead(["doctor", "--data", data, "--dns", "127.0.0.1:9"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^fail {2}secret: a stored DKIM key of example\.com cannot be opened/m);
  });

  test("a server without stored keys starts, and says so in one sentence, as does the doctor", async () => {
    const data = join(parent, "keyless");
    const words = ["serve", "--data", data, "--port", "0", "--json"];
    const start = () => startMailstead(words);
    const own = await start();
    expect((await own.stop()).code).toBe(0);
    const secret = readFileSync(join(data, "secret"), "utf8");
    const linesOf = async () => {
      const server = await start();
      await server.stop();
      return server
        .log()
        .split("\n")
        .filter((line) => line.includes("the installation secret"));
    };
    expect(await linesOf()).toEqual([]);
    writeFileSync(join(data, "secret"), OTHER_SECRET);
    for (let i = 0; i < 2; i++) {
      expect(await linesOf()).toEqual([
        expect.stringMatching(
          /the installation secret .* is not the one .*: restore the old secret"/,
        ),
      ]);
    }
    const { stdout } = await mailstead(["doctor", "--data", data, "--dns", "127.0.0.1:9"]);
    expect(stdout).toMatch(/^fail {2}secret: it is not the one that this database was used with/m);
    writeFileSync(join(data, "secret"), secret);
    expect(await linesOf()).toEqual([]);
  });

  test("a domain can be removed and added again if the old secret is lost", async () => {
    const data = restored("lost");
    writeFileSync(join(data, "secret"), OTHER_SECRET);
    for (const verb of ["remove", "add"]) {
      const ran = await mailstead(["domain", verb, "example.com", "--data", data]);
      expect([verb, ran.code, ran.stderr]).toEqual([verb, 0, ""]);
    }
  });
});

describe("a mistyped --data", () => {
  const COMMANDS = [
    ["project", "list"],
    ["project", "disable"],
    ["key", "create"],
    ["key", "revoke", "x"],
    ["domain", "list"],
    ["domain", "add", "example.com"],
    ["domain", "remove", "example.com"],
  ];

  test("is reported with the name of the folder, and creates nothing", async () => {
    const data = join(parent, "mistyped");
    for (const words of COMMANDS) {
      const ran = await mailstead([...words, "--data", data]);
      expectRefusal(ran, /no installation in the data folder .*mistyped\.$/, /--data.*serve/);
    }
    const { stderr } = await mailstead(["key", "list", "--json", "--data", data]);
    expect(valueAt(JSON.parse(stderr), "error.code")).toBe("DATA_FOLDER");
    expect(existsSync(data)).toBe(false);
  });
});
