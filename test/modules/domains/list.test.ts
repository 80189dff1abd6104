import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type TestApp, testApp } from "../../support/app.ts";
import { valueAt, listAt } from "../../support/json.ts";

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
  for (const domain of ["a.example", "b.example", "c.example"]) {
    await t.create("/domains", { domain }, "data.id");
  }
});
afterAll(() => t.close());

async function names(query: string): Promise<unknown[]> {
  const answer = await t.call("GET", `/domains${query}`);
  expect(answer.status).toBe(200);
  return listAt(answer.body, "data.items").map((item) => valueAt(item, "domain"));
}

describe("GET /domains", () => {
  test("lists the project's domains, newest first", async () => {
    expect(await names("")).toEqual(["c.example", "b.example", "a.example", "acme.test"]);
  });

  test("filters by status", async () => {
    expect(await names("?status=VERIFIED")).toEqual(["acme.test"]);
    expect(await names("?status=FAILED")).toEqual([]);
  });

  test("pages without repeating or skipping", async () => {
    const first = await t.call("GET", "/domains?limit=3");
    expect(first.at("data.hasMore")).toBe(true);
    expect(first.at("data.total")).toBe(4);
    const cursor = first.text("data.nextCursor");
    expect(await names(`?limit=3&cursor=${cursor}`)).toEqual(["acme.test"]);
  });
});

describe("GET /domains/{id}", () => {
  test("returns the same domain as POST", async () => {
    const made = await t.call("POST", "/domains", { domain: "d.example" });
    const got = await t.call("GET", `/domains/${made.text("data.id")}`);
    expect(got.status).toBe(200);
    expect(got.body).toEqual(made.body);
  });
});
