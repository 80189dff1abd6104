/** Errors of the system, as commands show them. */

import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { explainSystemError } from "../../src/lib/system-errors.ts";
import { mailstead } from "../support/command-line.ts";

const folder = mkdtempSync(join(tmpdir(), "system-errors-"));
const file = join(folder, "file");
writeFileSync(file, "");
afterAll(() => rmSync(folder, { recursive: true }));

function errorOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return null;
}

const withCode = (code: string, path?: string) => Object.assign(new Error(code), { code, path });

test.each([
  ["a missing file", errorOf(() => readFileSync(join(folder, "none"))), "/none does not exist."],
  ["a folder in place of a file", errorOf(() => readFileSync(folder)), "is needed."],
  ["a file in place of a folder", errorOf(() => mkdirSync(join(file, "x"))), "is in a file."],
  ["a name that is taken", errorOf(() => mkdirSync(file)), "/file exists already."],
  ["a permission", withCode("EACCES", "/backup"), "The permission for /backup is missing."],
  ["a full disk", withCode("ENOSPC"), "The disk is full."],
  ["a full database", withCode("SQLITE_FULL"), "The disk is full."],
])("%s is explained", (_, error, message) => {
  expect(explainSystemError(error)?.message).toEndWith(message);
});

test.each([[new Error("a fault of ours")], [withCode("SQLITE_CONSTRAINT")], ["a text"]])(
  "%p is not",
  (error) => {
    expect(explainSystemError(error)).toBeNull();
  },
);

test("a command shows the explanation in place of a stack", async () => {
  const data = join(folder, "data");
  await mailstead(["project", "create", "Shop", "--data", data]);
  const { code, stderr } = await mailstead(["backup", join(file, "copy"), "--data", data]);
  expect([code, stderr]).toEqual([
    1,
    `mailstead: ${join(file, "copy")} is not a folder, or is in a file.\nName another place.\n`,
  ]);
});

test("an empty argument is refused before anything is written", async () => {
  const { code, stderr } = await mailstead(["backup", ""]);
  expect([code, stderr.split("\n")[0]]).toEqual([
    2,
    "mailstead: FOLDER must not be empty: Folder for the copy, which is created if it is missing",
  ]);
});
