/** Commands on a folder whose secret is gone or wrong, and on a folder that holds nothing. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mailstead, type Ran } from "../support/cli.ts";
import { valueAt } from "../support/json.ts";

const CHILD_LIMIT_MS = 60_000;
const OTHER_SECRET = "x".repeat(43);
const MAIL = ["--from", "me@example.com", "--to", "ada@example.net"];

let parent: string;
let whole: string;
beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), "mailstead-secret-"));
  whole = join(parent, "whole");
  await mailstead(["project", "create", "Shop", "--data", whole]);
  await mailstead(["domain", "add", "example.com", "--verified", "--data", whole]);
}, CHILD_LIMIT_MS);
afterAll(() => rmSync(parent, { recursive: true, force: true }));

/** A copy of the installation. */
function restored(name: string): string {
  const data = join(parent, name);
  cpSync(whole, data, { recursive: true });
  return data;
}

/** One line that says what is wrong, one that says what to do. */
function expectRefusal({ code, stdout, stderr }: Ran, wrong: RegExp, mend: RegExp): void {
  expect([code, stdout]).toEqual([1, ""]);
  const [first = "", second = "", ...rest] = stderr.trimEnd().split("\n");
  expect(first).toMatch(wrong);
  expect(second).toMatch(mend);
  expect(rest).toEqual([]);
}

describe("a restore that forgot the file secret", () => {
  const COMMANDS = [
    ["serve", "--port", "0"],
    ["migrate"],
    ["project", "create", "Other"],
    ["key", "list"],
    ["domain", "list"],
    ["send", ...MAIL],
  ];

  test(
    "stops every command, and none makes another secret",
    async () => {
      const data = restored("forgotten");
      rmSync(join(data, "secret"));
      for (const words of COMMANDS) {
        const ran = await mailstead([...words, "--data", data]);
        expectRefusal(ran, /^mailstead: .*secret is missing/, /^Restore the file secret.*--secret/);
      }
      expect(existsSync(join(data, "secret"))).toBe(false);
    },
    CHILD_LIMIT_MS,
  );

  test(
    "does not stop a command that is given the secret",
    async () => {
      const data = restored("given");
      rmSync(join(data, "secret"));
      const words = ["key", "list", "--json", "--data", data, "--secret", OTHER_SECRET];
      expect((await mailstead(words)).code).toBe(0);
    },
    CHILD_LIMIT_MS,
  );
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

  test(
    "what needs the stored keys says that they cannot be opened, and what to do",
    async () => {
      const data = restored("wrong");
      writeFileSync(join(data, "secret"), OTHER_SECRET);
      for (const words of REFUSED) {
        const ran = await mailstead([...words, "--data", data]);
        expectRefusal(ran, /DKIM key of example\.com cannot be opened/, /^Restore.*domain remove/);
      }
    },
    CHILD_LIMIT_MS,
  );

  test(
    "the doctor tells",
    async () => {
      const data = restored("ill");
      writeFileSync(join(data, "secret"), OTHER_SECRET);
      // Nobody answers there: only what is looked at in the folder counts here.
      const { code, stdout } = await mailstead(["doctor", "--data", data, "--dns", "127.0.0.1:9"]);
      expect(code).toBe(1);
      expect(stdout).toMatch(
        /^fail {2}secret: a stored DKIM key of example\.com cannot be opened/m,
      );
    },
    CHILD_LIMIT_MS,
  );

  test(
    "where the old one is lost, the domain is removed and added again",
    async () => {
      const data = restored("lost");
      writeFileSync(join(data, "secret"), OTHER_SECRET);
      for (const verb of ["remove", "add"]) {
        const ran = await mailstead(["domain", verb, "example.com", "--data", data]);
        expect([verb, ran.code, ran.stderr]).toEqual([verb, 0, ""]);
      }
    },
    CHILD_LIMIT_MS,
  );
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

  test(
    "is said with the folder's name, and leaves nothing behind",
    async () => {
      const data = join(parent, "mistyped");
      for (const words of COMMANDS) {
        const ran = await mailstead([...words, "--data", data]);
        expectRefusal(ran, /no installation in the data folder .*mistyped\.$/, /--data.*serve/);
      }
      const { stderr } = await mailstead(["key", "list", "--json", "--data", data]);
      expect(valueAt(JSON.parse(stderr), "error.code")).toBe("DATA_FOLDER");
      expect(existsSync(data)).toBe(false);
    },
    CHILD_LIMIT_MS,
  );
});
