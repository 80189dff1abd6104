/** The segments of a contact. */

import { beforeEach, expect, test } from "bun:test";
import type { TestApp } from "../../support/app.ts";
import { listAt, valueAt } from "../../support/json.ts";
import { projectPerTest } from "../../support/project-per-test.ts";

const projects = projectPerTest();
let t: TestApp;
let id: string;
beforeEach(async () => {
  t = await projects.next();
  id = await t.create("/contacts", { email: "ada@x.io", data: { plan: "pro" } }, "id");
});

const planIs = (value: string) => ({
  logic: "AND",
  groups: [{ filters: [{ field: "data.plan", operator: "equals", value }] }],
});
const create = (body: object) => t.create("/segments", body, "data.id");
const read = (query = "", contactId = id) =>
  t.call("GET", `/contacts/${contactId}/segments${query}`);
async function names(query = ""): Promise<unknown[]> {
  const answer = await read(query);
  expect(answer.status).toBe(200);
  return listAt(answer.body, "data.items").map((item) => valueAt(item, "name"));
}

test("has static and dynamic segments of which the contact is a member now", async () => {
  const list = await create({ name: "List", type: "STATIC" });
  await create({ name: "Other list", type: "STATIC" });
  const pro = await create({ name: "Pro", condition: planIs("pro") });
  await create({ name: "Free", condition: planIs("free"), trackMembership: true });
  await t.call("POST", `/segments/${list}/members`, { emails: ["ada@x.io"] });
  expect((await read()).at("data")).toEqual({
    items: [
      { id: pro, name: "Pro", slug: "pro", type: "DYNAMIC" },
      { id: list, name: "List", slug: "list", type: "STATIC" },
    ],
    nextCursor: null,
    hasMore: false,
    total: 2,
  });
  await t.call("PATCH", `/contacts/${id}`, { data: { plan: "free" } });
  expect(await names()).toEqual(["Free", "List"]);
  await t.call("DELETE", `/segments/${list}`);
  expect(await names()).toEqual(["Free"]);
});

test("pages through more segments than one statement reads", async () => {
  const expected: string[] = [];
  for (let i = 0; i < 60; i++) {
    const isTheirs = i % 3 === 0;
    await create({ name: `S${i}`, condition: planIs(isTheirs ? "pro" : "free") });
    if (isTheirs) expected.unshift(`S${i}`);
  }
  const first = await read("?limit=15");
  expect(first.at("data")).toMatchObject({ total: 20, hasMore: true });
  const cursor = first.text("data.nextCursor");
  expect([...(await names("?limit=15")), ...(await names(`?limit=15&cursor=${cursor}`))]).toEqual(
    expected,
  );
});
