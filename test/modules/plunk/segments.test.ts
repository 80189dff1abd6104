import { beforeEach, describe, expect, test } from "bun:test";
import type { TestApp } from "../../support/app.ts";
import { listAt, stringAt } from "../../support/json.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { expectError } from "../../support/refusal.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const call = (method: string, path: string, body?: unknown) =>
  t.call(method, `/plunk/segments${path}`, body);
const where = (...filters: object[]) => ({ logic: "AND", groups: [{ filters }] });
const isPro = where({ field: "data.plan", operator: "equals", value: "pro" });
const create = (body: object = {}) =>
  t.create("/plunk/segments", { name: "Pro", condition: isPro, ...body }, "id");
const createStatic = () => t.create("/plunk/segments", { name: "Few", type: "STATIC" }, "id");
const contact = (email: string, plan = "pro") =>
  t.create("/contacts", { email, data: { plan } }, "id");
const emails = (body: unknown) => listAt(body, "data").map((member) => stringAt(member, "email"));

describe("POST /plunk/segments", () => {
  test("answers 201 with the bare segment and its members' number", async () => {
    await contact("ada@x.io");
    const now = new Date(t.clock.now()).toISOString();
    const answer = await call("POST", "", { name: "Pro", condition: isPro });
    expect([answer.status, answer.body]).toEqual([
      201,
      {
        id: answer.at("id"),
        name: "Pro",
        description: null,
        type: "DYNAMIC",
        condition: isPro,
        trackMembership: false,
        memberCount: 1,
        projectId: t.project.id,
        createdAt: now,
        updatedAt: now,
      },
    ]);
    expect((await call("GET", `/${answer.text("id")}`)).body).toEqual(answer.body);
  });

  test("ignores the condition of a STATIC segment", async () => {
    const answer = await call("POST", "", { name: "Few", type: "STATIC", condition: isPro });
    expect([answer.status, answer.at("condition")]).toEqual([201, null]);
  });

  test("takes the names of Plunk's operators, also in nested conditions", async () => {
    const id = await createStatic();
    const condition = {
      logic: "OR",
      groups: [
        {
          filters: [{ field: `segment.${id}`, operator: "notMemberOfSegment" }],
          conditions: where({ field: `segment.${id}`, operator: "memberOfSegment" }),
        },
      ],
    };
    const answer = await call("POST", "", { name: "Nested", condition });
    expect([answer.status, answer.at("condition")]).toEqual([201, condition]);
  });

  const events: [field: string, stored: string][] = [
    ["purchase", "event.purchase"],
    ["event.purchase", "event.purchase"],
    ["email.opened", "email.opened"],
  ];
  test.each(events)("takes %s as the field of a test of an event", async (field, stored) => {
    const filter = { operator: "triggeredWithin", value: 30, unit: "days" };
    const condition = where({ field, ...filter });
    const answer = await call("POST", "", { name: "Recent", condition });
    expect(answer.at("condition")).toEqual(where({ field: stored, ...filter }));
  });
});

describe("requests that are refused", () => {
  const bare: [method: string, path: string, body: object, error: string][] = [
    ["POST", "", { condition: isPro }, "name is required"],
    ["POST", "", { name: "Pro" }, "condition is required"],
    ["POST", "/any/members", {}, "emails must be a non-empty array"],
    ["DELETE", "/any/members", { emails: [] }, "emails must be a non-empty array"],
  ];
  test.each(bare)("%s %s %j is 400 with the text %s", async (method, path, body, error) => {
    const answer = await call(method, path, body);
    expect([answer.status, answer.body]).toEqual([400, { error }]);
  });

  const faulty: [status: number, body: object, field: string, code: string][] = [
    [400, { condition: { logic: "AND" } }, "condition.groups", "required"],
    [
      400,
      { condition: where({ field: "age", operator: "equals", value: 1 }) },
      "condition.groups.0.filters.0.field",
      "invalid_value",
    ],
    [422, { trackMembership: "yes" }, "trackMembership", "invalid_type"],
    [422, { dryRun: true }, "dryRun", "unknown_field"],
  ];
  test.each(faulty)("POST and PATCH are %d for %j", async (status, body, field, code) => {
    const expected = { status, code: "VALIDATION_ERROR", errors: [[field, code]] } as const;
    expectError(await call("POST", "", { name: "Pro", condition: isPro, ...body }), expected);
    expect(t.countRows("segments")).toBe(0);
    expectError(await call("PATCH", `/${await create()}`, body), expected);
  });

  const missing: [method: string, path: string, body: object | undefined][] = [
    ["GET", "", undefined],
    ["PATCH", "", { name: "n" }],
    ["DELETE", "", undefined],
    ["GET", "/contacts", undefined],
    ["POST", "/members", { emails: ["a@x.io"] }],
    ["DELETE", "/members", { emails: ["a@x.io"] }],
    ["POST", "/refresh", undefined],
    ["POST", "/compute", undefined],
  ];
  test.each(missing)("%s of an unknown segment%s is 404", async (method, path, body) => {
    const answer = await call(method, `/none${path}`, body);
    expectError(answer, { status: 404, code: "SEGMENT_NOT_FOUND" });
  });

  test("members of a DYNAMIC segment and a page that is too deep are refused", async () => {
    const id = await create();
    const added = await call("POST", `/${id}/members`, { emails: ["a@x.io"] });
    expectError(added, { status: 409, code: "CONFLICT" });
    const page = await call("GET", `/${id}/contacts?page=101&pageSize=100`);
    const errors = [["page", "too_big"]] as const;
    expectError(page, { status: 422, code: "VALIDATION_ERROR", errors });
  });
});

test("a segment is changed, takes back what was read, and is deleted", async () => {
  await contact("ada@x.io", "free");
  const id = await create();
  const isFree = where({ field: "data.plan", operator: "equals", value: "free" });
  const patched = await call("PATCH", `/${id}`, { name: "Free", condition: isFree });
  expect(patched.status).toBe(200);
  expect(patched.body).toMatchObject({ name: "Free", condition: isFree, memberCount: 1 });
  const same = await call("PATCH", `/${id}`, patched.body);
  expect([same.status, same.at("name")]).toEqual([200, "Free"]);
  const deleted = await call("DELETE", `/${id}`);
  expect([deleted.status, deleted.body]).toEqual([204, undefined]);
  expect((await call("GET", "")).body).toEqual([]);
});

test("all segments are in one array, newest first", async () => {
  for (let i = 0; i < 101; i++) {
    await t.create("/segments", { name: `s${i}`, type: "STATIC" }, "data.id");
  }
  const answer = await call("GET", "");
  const names = listAt(answer.body, "").map((segment) => stringAt(segment, "name"));
  expect([names.length, names[0], names[100]]).toEqual([101, "s100", "s0"]);
});

test("members are added and removed by email, and shown in numbered pages", async () => {
  await contact("ada@x.io");
  await contact("bob@x.io");
  const id = await createStatic();
  const given = ["ADA@x.io", "bob@x.io", "carl@x.io"];
  const added = await call("POST", `/${id}/members`, { emails: given });
  expect([added.status, added.body]).toEqual([
    200,
    { added: 2, created: 0, notFound: ["carl@x.io"] },
  ]);
  const created = await call("POST", `/${id}/members`, {
    emails: ["carl@x.io"],
    createMissing: true,
    subscribed: false,
  });
  expect(created.body).toEqual({ added: 1, created: 1, notFound: [] });
  const carl = await t.call("GET", "/contacts?search=carl");
  expect(carl.at("contacts.0.subscribed")).toBe(false);

  const first = await call("GET", `/${id}/contacts?pageSize=2`);
  expect([emails(first.body), first.at("total"), first.at("totalPages")]).toEqual([
    ["carl@x.io", "bob@x.io"],
    3,
    2,
  ]);
  expect(emails((await call("GET", `/${id}/contacts?pageSize=2&page=2`)).body)).toEqual([
    "ada@x.io",
  ]);
  expect(emails((await call("GET", `/${id}/contacts?pageSize=2&page=3`)).body)).toEqual([]);

  const removed = await call("DELETE", `/${id}/members`, { emails: ["ada@x.io", "no@x.io"] });
  expect([removed.status, removed.body]).toEqual([200, { removed: 1 }]);
  expect((await call("POST", `/${id}/refresh`)).body).toEqual({ memberCount: 2 });
  expect((await call("POST", `/${id}/compute`)).body).toEqual({ added: 0, removed: 0, total: 2 });
});
