import { beforeEach, expect, spyOn, test } from "bun:test";
import type { TestApp } from "../../support/app.ts";
import { listAt, valueAt } from "../../support/json.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { plansOfReads } from "../../support/reads.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const post = (email: string, data: object) => t.create("/contacts", { email, data }, "id");
const fields = async (key?: string) =>
  (await t.call("GET", "/contacts/fields", undefined, key === undefined ? {} : { key })).at("data");

test("the list of fields is empty without contacts", async () => {
  expect(await fields()).toEqual({ items: [], total: 0, contacts: 0 });
});

test("lists the keys with their types and the number of contacts that have them", async () => {
  await post("a@x.io", { plan: "pro", age: 36, vip: true, tags: ["a"], address: { city: "Rome" } });
  await post("b@x.io", { plan: "free", age: "unknown" });
  await post("c@x.io", { plan: "free", age: 20 });
  await post("d@x.io", {});
  const field = (key: string, types: string[], count: number) => {
    return { key, type: types[0], types, areDates: false, count, coverage: count / 4 };
  };
  expect(await fields()).toEqual({
    items: [
      field("age", ["number", "string"], 3),
      field("plan", ["string"], 3),
      field("address", ["object"], 1),
      field("tags", ["array"], 1),
      field("vip", ["boolean"], 1),
    ],
    total: 5,
    contacts: 4,
  });
});

test("knows the fields whose values are all dates, or empty", async () => {
  await post("a@x.io", {
    joined: "2030-01-31",
    seen: "2030-01-31T10:00:00.5Z",
    plan: "2030-01-31",
  });
  await post("b@x.io", { joined: "", seen: "2030-01-31 10:00", plan: "pro", note: "", year: 2030 });
  await post("c@x.io", { joined: "2029-12-31", seen: "2030-01-31T10:00+02:00", at: "10:00" });
  const areDates = new Map<unknown, unknown>();
  for (const field of listAt(await fields(), "items"))
    areDates.set(valueAt(field, "key"), valueAt(field, "areDates"));
  expect(Object.fromEntries(areDates)).toEqual({
    joined: true,
    seen: true,
    plan: false,
    note: false,
    year: false,
    at: false,
  });
});

test("is not cached if there are few contacts", async () => {
  // The time stands still, so that the count takes no time on a busy machine as well.
  const clock = spyOn(performance, "now").mockReturnValue(performance.now());
  const id = await post("a@x.io", { plan: "pro" });
  expect(await fields()).toMatchObject({ total: 1 });
  await t.call("PATCH", `/contacts/${id}`, { data: { plan: null, age: 1, city: "Rome" } });
  expect(await fields()).toMatchObject({ total: 2 });
  await t.call("DELETE", `/contacts/${id}`);
  expect(await fields()).toEqual({ items: [], total: 0, contacts: 0 });
  clock.mockRestore();
});

test("lists only the thousand most frequent keys", async () => {
  const many = Object.fromEntries(Array.from({ length: 1500 }, (_, i) => [`key-${i}`, i]));
  await post("a@x.io", many);
  await post("b@x.io", { "key-1499": 1 });
  const answer = await t.call("GET", "/contacts/fields");
  expect(answer.at("data.total")).toBe(1500);
  expect(answer.at("data.items.0.key")).toBe("key-1499");
  expect(answer.at("data.items.999.key")).toBeDefined();
  expect(answer.at("data.items.1000")).toBeUndefined();
});

test("counts only the newest 10,000 contacts if asked to", async () => {
  await post("oldest@x.io", { legacy: 1 });
  t.db.sqlite.run(
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 9999)
     INSERT INTO contacts (id, project_seq, email, is_subscribed, data, created_at, updated_at)
     SELECT 'id' || n, project_seq, n || '@x.io', 1, '{"plan":"pro"}', created_at, updated_at
     FROM contacts, numbers WHERE project_seq = ?`,
    [t.project.seq],
  );
  const newest = async () => (await t.call("GET", "/contacts/fields?counted=NEWEST")).at("data");
  expect(await newest()).toMatchObject({ total: 2, contacts: 10_000 });
  await post("newest@x.io", { plan: "pro" });
  const plan = {
    key: "plan",
    type: "string",
    types: ["string"],
    areDates: false,
    count: 10_000,
    coverage: 1,
  };
  expect(await newest()).toEqual({ items: [plan], total: 1, contacts: 10_000 });
  expect(await fields()).toMatchObject({ total: 2, contacts: 10_001 });
});

test("reads the contacts of the project by their index", async () => {
  await post("a@x.io", { plan: "pro" });
  const plans = await plansOfReads(t.app.app, () => fields());
  expect(plans.map((plan) => plan.split("\n")[0])).toEqual([
    "SEARCH contacts USING INDEX contacts_page (project_seq=? AND seq>? AND seq<?)",
    "SEARCH contacts USING COVERING INDEX contacts_page (project_seq=? AND seq>? AND seq<?)",
  ]);
});
