/** `mailstead backup`. A copy that is made beside a server: process.test.ts. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mailstead } from "../support/command-line.ts";
import { valueAt } from "../support/json.ts";

let parent: string;
let data: string;
beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), "mailstead-backup-"));
  data = join(parent, "data");
  await mailstead(["project", "create", "Shop", "--data", data]);
});
afterAll(() => rmSync(parent, { recursive: true, force: true }));

test("the copy is an installation, and its folder is relative to that of the caller", async () => {
  const words = ["backup", "copies/today", "--data", "data", "--json"];
  const made = await mailstead(words, {}, { cwd: parent });
  const target = join(parent, "copies", "today");
  expect([made.code, valueAt(made.json, "database")]).toEqual([0, join(target, "mailstead.db")]);
  expect(readdirSync(target).toSorted()).toEqual(["mailstead.db", "secret"]);
  expect(readFileSync(join(target, "secret"))).toEqual(readFileSync(join(data, "secret")));
  const listed = await mailstead(["project", "list", "--json", "--data", target]);
  expect(valueAt(listed.json, "projects.0.name")).toBe("Shop");
});

test("an existing file is not overwritten, and nothing is written beside it", async () => {
  const target = mkdtempSync(join(parent, "used-"));
  writeFileSync(join(target, "secret"), "mine");
  const { code, stderr } = await mailstead(["backup", target, "--data", data]);
  expect(code).toBe(1);
  expect(stderr).toContain(`${join(target, "secret")} exists already.`);
  expect(readdirSync(target)).toEqual(["secret"]);
  expect(readFileSync(join(target, "secret"), "utf8")).toBe("mine");
});

test("a secret that is a setting is in the copy", async () => {
  const folder = join(parent, "given");
  const secret = "a secret from the environment, long enough";
  const environment = { MAILSTEAD_SECRET: secret };
  await mailstead(["project", "create", "P", "--data", folder], environment);
  const target = join(parent, "given-copy");
  expect(await mailstead(["backup", target, "--data", folder], environment)).toMatchObject({
    code: 0,
  });
  expect(readFileSync(join(target, "secret"), "utf8")).toBe(`${secret}\n`);
});

test.each([
  ["no folder", ["backup"], 2, "FOLDER"],
  ["no installation", ["backup", "/tmp/never"], 1, "There is no installation in the data folder"],
])("%s is refused", async (_, words, code, text) => {
  const ran = await mailstead([...words, "--data", join(parent, "missing")]);
  expect([ran.code, ran.stderr]).toEqual([code, expect.stringContaining(text)]);
});
