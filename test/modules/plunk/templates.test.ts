import { beforeEach, describe, expect, test } from "bun:test";
import type { TestApp, TestResponse } from "../../support/app.ts";
import { listAt, stringAt } from "../../support/json.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { expectError } from "../../support/refusal.ts";
import { chain, step } from "../workflows/graphs.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const call = (method: string, path: string, body?: unknown) =>
  t.call(method, `/plunk/templates${path}`, body);
const required = { name: "Welcome", subject: "Hi", body: "<p>Hi</p>", from: "hi@acme.test" };
const create = (body: object = {}) => t.create("/plunk/templates", { ...required, ...body }, "id");
const names = (answer: TestResponse) =>
  listAt(answer.body, "data").map((item) => stringAt(item, "name"));
const now = () => new Date(t.clock.now()).toISOString();
const OWN_LINK = '<a href="{{ unsubscribeUrl }}">no more</a>';

describe("POST /plunk/templates", () => {
  const created: [what: string, given: object, shown: object][] = [
    ["the required fields, as MARKETING", {}, { type: "MARKETING" }],
    ["the type TRANSACTIONAL", { type: "TRANSACTIONAL" }, { type: "TRANSACTIONAL" }],
    [
      "the type HEADLESS, as MARKETING",
      { type: "HEADLESS", body: OWN_LINK },
      { type: "MARKETING", body: OWN_LINK },
    ],
    [
      "all fields",
      { description: "d", fromName: "Acme", replyTo: "r@acme.test" },
      { description: "d", fromName: "Acme", replyTo: "r@acme.test", type: "MARKETING" },
    ],
  ];
  test.each(created)("creates a template with %s", async (_, given, shown) => {
    const answer = await call("POST", "", { ...required, ...given });
    const body = {
      ...required,
      description: null,
      fromName: null,
      replyTo: null,
      ...shown,
      id: answer.at("id"),
      projectId: t.project.id,
      createdAt: now(),
      updatedAt: now(),
    };
    expect([answer.status, answer.body]).toEqual([201, body]);
    expect((await call("GET", `/${answer.text("id")}`)).body).toEqual(body);
  });
});

describe("requests that are refused", () => {
  test.each(["name", "subject", "body", "from"])("without %s it is 400", async (field) => {
    const answer = await call("POST", "", { ...required, [field]: undefined });
    expect([answer.status, answer.body]).toEqual([400, { error: `${field} is required` }]);
  });

  const faulty: [what: string, body: object, field: string, code: string][] = [
    ["an unknown type", { type: "NEWS" }, "type", "invalid_value"],
    ["HEADLESS without its link", { type: "HEADLESS" }, "body", "invalid_value"],
    ["a faulty address", { from: "hi" }, "from", "invalid_format"],
    ["a faulty template", { body: "{% if %}" }, "body", "invalid_format"],
    ["a field of other services", { html: "<p>" }, "html", "unknown_field"],
  ];
  test.each(faulty)("POST with %s is 422", async (_, body, field, code) => {
    const answer = await call("POST", "", { ...required, ...body });
    expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors: [[field, code]] });
    expect(t.countRows("templates")).toBe(0);
  });

  test.each(faulty)("PATCH with %s is 422", async (_, body, field, code) => {
    const id = await create();
    const before = (await call("GET", `/${id}`)).body;
    const answer = await call("PATCH", `/${id}`, body);
    expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors: [[field, code]] });
    expect((await call("GET", `/${id}`)).body).toEqual(before);
  });

  test("a sender whose domain is not verified is 403", async () => {
    const from = "hi@other.test";
    const posted = await call("POST", "", { ...required, from });
    expectError(posted, { status: 403, code: "DOMAIN_NOT_VERIFIED" });
    const patched = await call("PATCH", `/${await create()}`, { from });
    expectError(patched, { status: 403, code: "DOMAIN_NOT_VERIFIED" });
  });

  const missing: [method: string, path: string, body: object | undefined][] = [
    ["GET", "/none", undefined],
    ["PATCH", "/none", { name: "n" }],
    ["DELETE", "/none", undefined],
    ["POST", "/none/duplicate", undefined],
  ];
  test.each(missing)("%s %s is 404", async (method, path, body) => {
    expectError(await call(method, path, body), { status: 404, code: "TEMPLATE_NOT_FOUND" });
  });

  test("a list of HEADLESS templates, a page below 1, and an unknown filter are 422", async () => {
    for (const [query, field, code] of [
      ["type=HEADLESS", "type", "invalid_value"],
      ["page=0", "page", "too_small"],
      ["pageSize=x", "pageSize", "invalid_type"],
      ["status=DRAFT", "status", "unknown_field"],
    ] as const) {
      const answer = await call("GET", `?${query}`);
      expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors: [[field, code]] });
    }
  });
});

test("a template is changed, copied and deleted", async () => {
  const id = await create();
  const patched = await call("PATCH", `/${id}`, { subject: "Ho", type: "TRANSACTIONAL" });
  expect([patched.status, patched.at("subject"), patched.at("type")]).toEqual([
    200,
    "Ho",
    "TRANSACTIONAL",
  ]);
  const copied = await call("POST", `/${id}/duplicate`);
  expect([copied.status, copied.at("name"), copied.at("subject")]).toEqual([
    201,
    "Welcome copy",
    "Ho",
  ]);
  const deleted = await call("DELETE", `/${id}`);
  expect([deleted.status, deleted.body]).toEqual([204, undefined]);
  expect(names(await call("GET", ""))).toEqual(["Welcome copy"]);
});

describe("GET /plunk/templates", () => {
  beforeEach(async () => {
    await create({ name: "Beta", subject: "offer" });
    t.clock.advance(1);
    await create({ name: "Alpha", description: "an OFFER" });
    t.clock.advance(1);
    await create({ name: "Gamma", type: "TRANSACTIONAL" });
  });

  test("answers numbered pages", async () => {
    const first = await call("GET", "?pageSize=2");
    expect(names(first)).toEqual(["Gamma", "Alpha"]);
    const { data: _, ...page } = Object(first.body);
    expect(page).toEqual({ total: 3, page: 1, pageSize: 2, totalPages: 2 });
    expect(names(await call("GET", "?pageSize=2&page=2"))).toEqual(["Beta"]);
    const after = await call("GET", "?pageSize=2&page=3");
    expect([names(after), after.at("total")]).toEqual([[], 3]);
  });

  const filtered: [query: string, expected: string[]][] = [
    ["search=offer", ["Alpha", "Beta"]],
    ["type=MARKETING", ["Alpha", "Beta"]],
    ["limit=1", ["Gamma"]],
    ["sort=name&dir=asc", ["Alpha", "Beta", "Gamma"]],
    ["sort=createdAt&dir=asc", ["Beta", "Alpha", "Gamma"]],
    ["sort=shoes&dir=up&pageSize=900", ["Gamma", "Alpha", "Beta"]],
  ];
  test.each(filtered)("?%s", async (query, expected) => {
    expect(names(await call("GET", `?${query}`))).toEqual(expected);
  });
});

describe("POST /plunk/templates/bulk-update", () => {
  test("deletes all of the templates", async () => {
    const ids = [await create(), await create(), await create()];
    const given = [ids[0], ids[1], ids[1]];
    const answer = await call("POST", "/bulk-update", { ids: given, delete: true });
    expect([answer.status, answer.body]).toEqual([200, { deleted: 2 }]);
    expect(t.countRows("templates")).toBe(1);
  });

  test("deletes nothing without `delete`", async () => {
    const answer = await call("POST", "/bulk-update", { ids: [await create()] });
    expect([answer.status, answer.body]).toEqual([200, { updated: 0 }]);
    expect(t.countRows("templates")).toBe(1);
  });

  test("deletes none if one is unknown or in use", async () => {
    const [free, used] = [await create(), await create()];
    const unknown = await call("POST", "/bulk-update", { ids: [free, "none"], delete: true });
    expectError(unknown, { status: 404, code: "TEMPLATE_NOT_FOUND" });
    const graph = chain(step("mail", "SEND_EMAIL", { templateId: used }));
    await t.create("/workflows", { name: "w", ...graph }, "data.id");
    const inUse = await call("POST", "/bulk-update", { ids: [free, used], delete: true });
    expectError(inUse, { status: 409, code: "CONFLICT" });
    expect(t.countRows("templates")).toBe(2);
  });

  test("refuses no ids and too many", async () => {
    for (const ids of [[], Array.from({ length: 1001 }, () => "x")]) {
      const answer = await call("POST", "/bulk-update", { ids, delete: true });
      expect([answer.status, answer.at("error.errors.0.field")]).toEqual([422, "ids"]);
    }
  });
});
