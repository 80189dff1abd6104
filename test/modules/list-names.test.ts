/** The lists that are filtered by a part of a name or an address. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type TestApp, testApp } from "../support/app.ts";
import { listAt, valueAt } from "../support/json.ts";
import { chain, delay } from "./workflows/graphs.ts";

const LISTS = [
  { path: "/workflows", filter: "name", body: (name: string) => ({ name, ...chain(delay("a")) }) },
  { path: "/segments", filter: "name", body: (name: string) => ({ name, type: "STATIC" }) },
  {
    path: "/webhooks",
    filter: "url",
    body: (name: string) => ({ url: `https://${name}.example/in?a=100%25`, events: ["email.*"] }),
  },
] as const;

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
  const other = await t.makeProject("other");
  for (const { path, body } of LISTS) {
    for (const name of ["welcome", "newsletter", "well-known"]) {
      await t.create(path, body(name), "data.id");
    }
    await t.create(path, body("welfare"), "data.id", { key: other.secretKey });
  }
});
afterAll(() => t.close());

describe.each([...LISTS])("$path", ({ path, filter, body }) => {
  const found = async (text: string) => {
    const { body } = await t.call("GET", `${path}?${filter}=${encodeURIComponent(text)}`);
    const items = listAt(body, "data.items").map((item) => valueAt(item, filter));
    return { items, total: valueAt(body, "data.total") };
  };
  const shown = (name: string) => Reflect.get(body(name), filter);

  test("has the items whose name contains a text, newest first", async () => {
    const expected = ["well-known", "welcome"].map(shown);
    expect(await found("WEL")).toEqual({ items: expected, total: 2 });
    expect(await found("ewslet")).toEqual({ items: [shown("newsletter")], total: 1 });
    expect(await found("nothing")).toEqual({ items: [], total: 0 });
  });

  test("takes the wildcards of LIKE as they are", async () => {
    expect((await found("w%e")).total).toBe(0);
    expect((await found("_elcome")).total).toBe(0);
  });
});
