/** Conditions on how often an event happened, and with which data. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { listAt } from "../../support/json.ts";
import { type TestApp, testApp } from "../../support/app.ts";

let t: TestApp;
const EVENTS: [email: string, data: object | undefined][] = [
  ["ada", { plan: "pro", order: { total: 20 } }],
  ["ada", { plan: "free", order: { total: 200 } }],
  ["ada", { plan: "free" }],
  ["bob", { plan: "free", order: { total: 50 }, at: "2026-02-27T00:00:00Z" }],
  ["bob", undefined],
  ["cy", { plan: null, tags: ["a", "b"] }],
];

beforeAll(async () => {
  t = await testApp();
  await t.create("/contacts", { email: "dan@x.test", data: { plan: "pro" } }, "id");
  for (const [name, data] of EVENTS) {
    await t.call("POST", "/v1/track", { event: "bought", email: `${name}@x.test`, data });
  }
  await t.call("POST", "/v1/track", { event: "other", email: "dan@x.test", data: { plan: "pro" } });
});
afterAll(() => t.close());

const one = (filter: object) => ({
  logic: "AND",
  groups: [{ filters: [{ field: "event.bought", ...filter }] }],
});

async function found(condition: object): Promise<string[]> {
  const answer = await t.call("POST", "/segments/preview", { condition });
  expect([answer.status, answer.at("error")]).toEqual([200, undefined]);
  const members = listAt(answer.body, "data.members");
  const emails = members.map((each) => String(Reflect.get(Object(each), "email")));
  return emails.map((email) => email.split("@")[0] ?? "").toSorted();
}

const withProperty = (property: string, name: string, rest: object = {}) => ({
  operator: "triggeredWith",
  property,
  test: name,
  ...rest,
});

const cases: [filter: object, names: string[]][] = [
  [{ operator: "triggeredAtLeast", value: 1 }, ["ada", "bob", "cy"]],
  [{ operator: "triggeredAtLeast", value: 2 }, ["ada", "bob"]],
  [{ operator: "triggeredAtLeast", value: 4 }, []],
  [{ operator: "triggeredLessThan", value: 2 }, ["cy", "dan"]],
  [{ operator: "triggeredLessThan", value: 1 }, ["dan"]],
  [withProperty("plan", "equals", { value: "pro" }), ["ada"]],
  [withProperty("plan", "equals", { value: "free" }), ["ada", "bob"]],
  [withProperty("plan", "notExists"), ["bob", "cy"]],
  [withProperty("order.total", "greaterThan", { value: 100 }), ["ada"]],
  [withProperty("order.total", "lessThanOrEqual", { value: 50 }), ["ada", "bob"]],
  [withProperty("tags", "contains", { value: "b" }), ["cy"]],
  [withProperty("plan", "in", { value: ["pro", "max"] }), ["ada"]],
  [withProperty("at", "within", { value: 7, unit: "days" }), ["bob"]],
];

test.each(cases)("%j", async (filter, names) => {
  expect(await found(one(filter))).toEqual(names);
  const nobody = { field: "email", operator: "equals", value: "nobody@x.test" };
  const groups = [...one(filter).groups, { filters: [nobody] }];
  expect(await found({ logic: "OR", groups })).toEqual(names);
});

test("is stored and shown with its members", async () => {
  const condition = one(withProperty("order.total", "greaterThan", { value: 100 }));
  const id = await t.create("/segments", { name: "Big", condition }, "data.id");
  expect((await t.call("GET", `/segments/${id}`)).at("data.condition")).toEqual(condition);
});

test.each([
  [{ operator: "triggeredAtLeast" }, "value"],
  [{ operator: "triggeredAtLeast", value: 0 }, "value"],
  [{ operator: "triggeredWith", test: "equals", value: 1 }, "property"],
  [{ operator: "triggeredWith", property: "a..b", test: "equals", value: 1 }, "property"],
  [{ operator: "triggeredWith", property: "a", test: "triggered" }, "test"],
  [{ operator: "triggeredWith", property: "a", test: "greaterThan" }, "value"],
])("%j is refused", async (filter, member) => {
  const answer = await t.call("POST", "/segments", { name: "S", condition: one(filter) });
  expect([answer.status, answer.at("error.errors.0.field")]).toEqual([
    422,
    `condition.groups.0.filters.0.${member}`,
  ]);
});
