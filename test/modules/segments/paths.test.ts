/** Paths into data: nested keys, and keys with any characters, which must never become SQL. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { type TestApp, testApp } from "../../support/app.ts";
import { addContact, findMatching } from "./crowd.ts";

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});
afterAll(() => t.close());
afterEach(() => {
  t.db.sqlite.run("DELETE FROM contacts");
});

async function expectOnlyMatch(data: Record<string, unknown>, path: string) {
  const seq = addContact(t, { data });
  const other = addContact(t, { data: { other: 1 } });
  const find = (operator: string, value?: unknown) => {
    const filter = { field: `data.${path}`, operator, value };
    return findMatching(t, { logic: "AND", groups: [{ filters: [filter] }] }, [seq, other]);
  };
  expect(await find("equals", "here")).toEqual([seq]);
  expect(await find("exists")).toEqual([seq]);
  expect(await find("contains", "er")).toEqual([seq]);
  expect(await find("in", ["here", "there"])).toEqual([seq]);
  expect(await find("notExists")).toEqual([other]);
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

describe("a key is found", () => {
  for (const key of keys) {
    test(JSON.stringify(key).slice(0, 40), async () => {
      const written = key.replaceAll(".", "\\.");
      await expectOnlyMatch({ [key]: "here" }, written);
      await expectOnlyMatch({ outer: { [key]: "here" } }, `outer.${written}`);
      await expectOnlyMatch({ [key]: { inner: "here" } }, `${written}.inner`);
      expect(t.countRows("contacts")).toBe(6);
    });
  }

  test("with a dot, written with a backslash", async () => {
    await expectOnlyMatch({ "a.b": "here" }, "a\\.b");
    await expectOnlyMatch({ "a.b": { "c.d": "here" } }, "a\\.b.c\\.d");
    await expectOnlyMatch({ "a\\": { b: "here" } }, "a\\\\.b");
  });
});

describe("a path", () => {
  const filter = (path: string, operator = "exists") => ({
    logic: "AND" as const,
    groups: [{ filters: [{ field: `data.${path}`, operator }] }],
  });

  test("matches nested keys, and a key that contains the dots, which comes first", async () => {
    const nested = addContact(t, { data: { a: { b: 1 } } });
    const flat = addContact(t, { data: { "a.b": 1 } });
    const both = addContact(t, { data: { "a.b": 2, a: { b: 1 } } });
    const all = [nested, flat, both];
    const equalsOne = { field: "data.a.b", operator: "equals", value: 1 };
    const condition = { logic: "AND" as const, groups: [{ filters: [equalsOne] }] };
    expect(await findMatching(t, filter("a.b"), all)).toEqual(all);
    expect(await findMatching(t, condition, all)).toEqual([nested, flat]);
    expect(await findMatching(t, filter("a.b", "notExists"), all)).toEqual([]);
  });

  test("passes through objects only", async () => {
    const seqs = [
      { a: { 0: "here" } },
      { a: ["here"] },
      { a: "here" },
      { a: null },
      { a: { b: { 0: "deeper" } } },
    ].map((data) => addContact(t, { data }));
    expect(await findMatching(t, filter("a.0"), seqs)).toEqual(seqs.slice(0, 1));
  });

  test("may have 40 levels", async () => {
    let data: Record<string, unknown> = { k: "here" };
    for (let i = 1; i < 40; i++) data = { k: data };
    await expectOnlyMatch(data, Array.from({ length: 40 }, () => "k").join("."));
  });
});
