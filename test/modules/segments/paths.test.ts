/** Paths into data: nested ones, and keys with any characters, which are data and never SQL. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { type TestApp, testApp } from "../../support/app.ts";
import { addContact, whoMeets } from "./crowd.ts";

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});
afterAll(() => t.close());
afterEach(() => {
  t.db.sqlite.run("DELETE FROM contacts");
});

async function findsOnly(data: Record<string, unknown>, path: string) {
  const seq = addContact(t, { data });
  const other = addContact(t, { data: { other: 1 } });
  const ask = (operator: string, value?: unknown) => {
    const filter = { field: `data.${path}`, operator, value };
    return whoMeets(t, { logic: "AND", groups: [{ filters: [filter] }] }, [seq, other]);
  };
  expect(await ask("equals", "here")).toEqual([seq]);
  expect(await ask("exists")).toEqual([seq]);
  expect(await ask("contains", "er")).toEqual([seq]);
  expect(await ask("in", ["here", "there"])).toEqual([seq]);
  expect(await ask("notExists")).toEqual([other]);
}

const keys = [
  "plan",
  "Plan",
  "two words",
  " leading",
  "trailing ",
  "it's",
  'say "hi"',
  '"',
  "'; DROP TABLE contacts; --",
  "$",
  "$.x",
  "[0]",
  "a[0]",
  "]",
  "#-1",
  "*",
  "a/b",
  "a\\b",
  "\\n",
  "\n",
  "\t",
  "\u0001",
  "\u007f",
  "\u2028",
  "größe",
  "日本語",
  "👩‍👩‍👧",
  "__proto__x",
  "constructor",
  "toString",
  "0",
  "-1",
  "?",
  "?1",
  ":name",
  "@p",
  "%s",
  "x".repeat(1000),
];

describe("a key", () => {
  for (const key of keys) {
    test(JSON.stringify(key).slice(0, 40), async () => {
      const written = key.replaceAll(".", "\\.");
      await findsOnly({ [key]: "here" }, written);
      await findsOnly({ outer: { [key]: "here" } }, `outer.${written}`);
      await findsOnly({ [key]: { inner: "here" } }, `${written}.inner`);
      expect(t.countRows("contacts")).toBe(6);
    });
  }

  test("a dot within a key is written with a backslash", async () => {
    await findsOnly({ "a.b": "here" }, "a\\.b");
    await findsOnly({ "a.b": { "c.d": "here" } }, "a\\.b.c\\.d");
    await findsOnly({ "a\\": { b: "here" } }, "a\\\\.b");
  });
});

describe("a path", () => {
  const filter = (path: string, operator = "exists") => ({
    logic: "AND" as const,
    groups: [{ filters: [{ field: `data.${path}`, operator }] }],
  });

  test("is nested, and not a key with a dot", async () => {
    const nested = addContact(t, { data: { a: { b: 1 } } });
    const flat = addContact(t, { data: { "a.b": 1 } });
    expect(await whoMeets(t, filter("a.b"), [nested, flat])).toEqual([nested]);
    expect(await whoMeets(t, filter("a.b", "notExists"), [nested, flat])).toEqual([flat]);
  });

  test("goes through objects, and through nothing else", async () => {
    const seqs = [
      { a: { 0: "here" } },
      { a: ["here"] },
      { a: "here" },
      { a: null },
      { a: { b: { 0: "deeper" } } },
    ].map((data) => addContact(t, { data }));
    expect(await whoMeets(t, filter("a.0"), seqs)).toEqual(seqs.slice(0, 1));
  });

  test("of 40 levels", async () => {
    let data: Record<string, unknown> = { k: "here" };
    for (let i = 1; i < 40; i++) data = { k: data };
    await findsOnly(data, Array.from({ length: 40 }, () => "k").join("."));
  });
});
