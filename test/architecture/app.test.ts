/** The application is a list of modules; `src/app.ts` only creates and connects them. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { sources } from "../support/sources.ts";
import { testApp, type TestApp } from "../support/app.ts";

const MAX_LINES = 120;

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});
afterAll(() => t.close());

function repeated(names: readonly string[]): string[] {
  return names.filter((name, i) => names.indexOf(name) !== i);
}

test(`app.ts has at most ${MAX_LINES} lines`, () => {
  const app = sources.find(({ file }) => file === "app.ts");
  expect(app?.text.trimEnd().split("\n").length).toBeLessThanOrEqual(MAX_LINES);
});

test("every module of the list has a name of its own", () => {
  const names = t.app.modules.map(({ name }) => name);
  expect(names).toContain("campaigns");
  expect(names).not.toContain("");
  expect(repeated(names)).toEqual([]);
});

test("the list of recurring work names each once, with its interval", () => {
  const names = t.app.recurring.map(({ name }) => name);
  expect(repeated(names)).toEqual([]);
  expect(names).toEqual(
    expect.arrayContaining(["clock", "campaigns", "webhooks", "database files"]),
  );
});
