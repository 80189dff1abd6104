import { beforeEach, describe, expect, test } from "bun:test";
import type { TestApp, TestResponse } from "../../support/app.ts";
import { waitUntilRead } from "../../support/eventually.ts";
import { listAt, stringAt } from "../../support/json.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { expectError } from "../../support/refusal.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const call = (method: string, path: string, body?: unknown) =>
  t.call(method, `/plunk${path}`, body);
const create = (body: object) => t.create("/plunk/contacts", body, "id");
const emails = (answer: TestResponse) =>
  listAt(answer.body, "data").map((contact) => stringAt(contact, "email"));

describe("POST /plunk/contacts", () => {
  test("answers 201 with a new contact, bare and with _meta", async () => {
    const answer = await call("POST", "/contacts", { email: "Ada@x.io", data: { plan: "pro" } });
    const now = new Date(t.clock.now()).toISOString();
    expect([answer.status, answer.body]).toEqual([
      201,
      {
        id: answer.at("id"),
        email: "ada@x.io",
        subscribed: true,
        data: { plan: "pro" },
        createdAt: now,
        updatedAt: now,
        _meta: { isNew: true, isUpdate: false },
      },
    ]);
  });

  test("answers 200 with an existing contact, which keeps its subscription", async () => {
    const id = await create({ email: "ada@x.io", subscribed: false, data: { a: 1, b: 2 } });
    const answer = await call("POST", "/contacts", { email: "ada@x.io", data: { b: null, c: "" } });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ id, subscribed: false, data: { a: 1 } });
    expect(answer.at("data.c")).toBeUndefined();
    expect(answer.at("_meta")).toEqual({ isNew: false, isUpdate: true });
  });

  test("stores one contact for a repeated Idempotency-Key", async () => {
    const headers = { "idempotency-key": "one" };
    const send = () => t.call("POST", "/plunk/contacts", { email: "ada@x.io" }, { headers });
    const [first, second] = [await send(), await send()];
    expect([second.status, second.body]).toEqual([201, first.body]);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
  });
});

describe("requests that are refused", () => {
  const bare: [method: string, path: string, body: unknown, error: string][] = [
    ["POST", "/contacts", {}, "email is required"],
    ["POST", "/contacts", { subscribed: true }, "email is required"],
    ["POST", "/contacts/lookup", {}, "emails must be a non-empty array"],
    ["POST", "/contacts/lookup", { emails: [] }, "emails must be a non-empty array"],
    [
      "POST",
      "/contacts/lookup",
      { emails: Array.from({ length: 501 }, (_, i) => `${i}@x.io`) },
      "emails must have at most 500 addresses",
    ],
    ["POST", "/contacts/bulk-delete", {}, "mode is required"],
    ["POST", "/contacts/bulk-delete", { mode: "ids" }, "contactIds is required"],
  ];
  test.each(bare)("%s %s %j is 400 with the text %s", async (method, path, body, error) => {
    const answer = await call(method, path, body);
    expect([answer.status, answer.body]).toEqual([400, { error }]);
  });

  const refused: [method: string, path: string, body: unknown, field: string, code: string][] = [
    ["POST", "/contacts", { email: "ada" }, "email", "invalid_format"],
    ["POST", "/contacts", { email: "a@x.io", subscribed: "yes" }, "subscribed", "invalid_type"],
    ["POST", "/contacts", { email: "a@x.io", data: [] }, "data", "invalid_type"],
    ["POST", "/contacts", { email: "a@x.io", optedOut: true }, "optedOut", "unknown_field"],
    ["POST", "/contacts/lookup", { emails: [1] }, "emails.0", "invalid_type"],
    ["POST", "/contacts/bulk-delete", { mode: "all" }, "mode", "invalid_value"],
    [
      "POST",
      "/contacts/bulk-delete",
      { mode: "query", filter: {}, excludeIds: ["a"] },
      "excludeIds",
      "invalid_value",
    ],
    [
      "POST",
      "/contacts/bulk-delete",
      { mode: "query", contactIds: ["a"] },
      "contactIds",
      "invalid_value",
    ],
    ["POST", "/contacts/bulk-delete", { mode: "query", search: "a@" }, "search", "unknown_field"],
    ["POST", "/contacts/bulk-delete", { mode: "query", query: {} }, "query", "unknown_field"],
    [
      "POST",
      "/contacts/bulk-delete",
      { mode: "query", filter: { serach: "a@" } },
      "filter.serach",
      "unknown_field",
    ],
    ["GET", "/contacts?limit=some", undefined, "limit", "invalid_type"],
    ["GET", "/contacts?limit=0", undefined, "limit", "too_small"],
    ["GET", "/contacts?cursor=x", undefined, "cursor", "invalid_value"],
    ["GET", "/contacts?status=active", undefined, "status", "unknown_field"],
  ];
  test.each(refused)("%s %s %j is 422 for %s", async (method, path, body, field, code) => {
    const before = t.countRows("contacts");
    const answer = await call(method, path, body);
    expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors: [[field, code]] });
    expect(t.countRows("contacts")).toBe(before);
  });

  test.each(["GET", "PATCH", "DELETE"])("%s of an unknown contact is 404", async (method) => {
    const answer = await call(method, "/contacts/none", method === "PATCH" ? {} : undefined);
    expectError(answer, { status: 404, code: "CONTACT_NOT_FOUND" });
  });

  test("an address that another contact has is 409", async () => {
    await create({ email: "bob@x.io" });
    const id = await create({ email: "ada@x.io" });
    const answer = await call("PATCH", `/contacts/${id}`, { email: "bob@x.io" });
    expectError(answer, { status: 409, code: "CONFLICT" });
  });

  test("a request without a key is 401, and one with a public key 403", async () => {
    expect((await t.call("GET", "/plunk/contacts", undefined, { key: null })).status).toBe(401);
    const { publicKey: key } = t;
    expect((await t.call("GET", "/plunk/contacts", undefined, { key })).status).toBe(403);
  });
});

describe("GET /plunk/contacts", () => {
  test("answers pages whose cursor leads to the end", async () => {
    for (const name of ["ada", "bob", "carl"]) await create({ email: `${name}@x.io` });
    const first = await call("GET", "/contacts?limit=2");
    expect(first.body).toEqual({
      data: expect.any(Array),
      cursor: expect.any(String),
      items: first.at("data"),
      nextCursor: first.at("cursor"),
      hasMore: true,
      total: 3,
    });
    expect([emails(first), first.at("hasMore"), first.at("total")]).toEqual([
      ["carl@x.io", "bob@x.io"],
      true,
      3,
    ]);
    const second = await call("GET", `/contacts?limit=2&cursor=${first.text("cursor")}`);
    expect([emails(second), second.at("hasMore"), second.at("cursor")]).toEqual([
      ["ada@x.io"],
      false,
      null,
    ]);
  });

  const filtered: [query: string, expected: string[]][] = [
    ["search=BO", ["bob@x.io"]],
    ["subscribed=false", ["ada@x.io"]],
    ["sort=email&dir=asc", ["ada@x.io", "bob@x.io"]],
    ["sort=email", ["bob@x.io", "ada@x.io"]],
    ["sort=createdAt&dir=asc", ["ada@x.io", "bob@x.io"]],
    ["sort=shoes&dir=up", ["bob@x.io", "ada@x.io"]],
    ["limit=500", ["bob@x.io", "ada@x.io"]],
  ];
  test.each(filtered)("?%s", async (query, expected) => {
    await create({ email: "ada@x.io", subscribed: false });
    await create({ email: "bob@x.io" });
    expect(emails(await call("GET", `/contacts?${query}`))).toEqual(expected);
  });
});

test("a contact is read, changed and deleted", async () => {
  const id = await create({ email: "ada@x.io", data: { plan: "pro", city: "Rome" } });
  const patched = await call("PATCH", `/contacts/${id}`, {
    subscribed: false,
    data: { plan: null, city: "" },
  });
  expect(patched.status).toBe(200);
  expect(patched.body).toMatchObject({ id, subscribed: false });
  expect(patched.at("data")).toEqual({ city: "Rome" });
  const read = await call("GET", `/contacts/${id}`);
  expect([read.status, read.body]).toEqual([200, patched.body]);
  // A client may send back what it has read.
  const same = await call("PATCH", `/contacts/${id}`, read.body);
  expect([same.status, same.at("data")]).toEqual([200, { city: "Rome" }]);
  const deleted = await call("DELETE", `/contacts/${id}`);
  expect([deleted.status, deleted.body]).toEqual([204, undefined]);
  expect((await call("GET", `/contacts/${id}`)).status).toBe(404);
});

test("lookup parts the addresses, in the caller's spelling", async () => {
  await create({ email: "ada@x.io" });
  const answer = await call("POST", "/contacts/lookup", {
    emails: ["ADA@x.io", "bob@x.io", "no address", " ada@x.io "],
  });
  expect([answer.status, answer.body]).toEqual([
    200,
    { found: ["ADA@x.io", " ada@x.io "], notFound: ["bob@x.io", "no address"] },
  ]);
});

describe("bulk actions", () => {
  async function run(path: string, body: object): Promise<TestResponse> {
    await t.start();
    const queued = await call("POST", `/contacts/${path}`, body);
    expect(queued.status).toBe(202);
    const id = queued.text("jobId");
    expect(queued.body).toEqual({
      message: `Bulk ${path.slice("bulk-".length)} queued successfully`,
      jobId: id,
    });
    await waitUntilRead(async () => (await progress(id)).at("state") === "completed");
    return progress(id);
  }
  const progress = (id: string) => call("GET", `/contacts/bulk/${id}`);

  test("unsubscribe by id", async () => {
    const ids = [await create({ email: "ada@x.io" }), await create({ email: "bob@x.io" })];
    const contactIds = [...ids, "00000000-0000-7000-8000-000000000000"];
    const job = await run("bulk-unsubscribe", { mode: "ids", contactIds });
    expect(job.body).toEqual({
      id: job.at("id"),
      state: "completed",
      progress: 100,
      result: {
        operation: "unsubscribe",
        totalRequested: 3,
        successCount: 2,
        unchangedCount: 0,
        failureCount: 1,
        errors: [{ contactId: contactIds[2], email: "", error: expect.any(String) }],
      },
      data: { projectId: t.project.id, operation: "unsubscribe" },
      failedReason: null,
    });
    expect(emails(await call("GET", "/contacts?subscribed=false"))).toHaveLength(2);
  });

  test("subscribe by id without a mode, as in the older reference", async () => {
    const id = await create({ email: "ada@x.io", subscribed: false });
    const job = await run("bulk-subscribe", { contactIds: [id] });
    expect(job.at("result.successCount")).toBe(1);
  });

  test("delete by a filter", async () => {
    await create({ email: "ada@x.io", subscribed: false });
    await create({ email: "bob@x.io" });
    const job = await run("bulk-delete", { mode: "query", filter: { subscribed: false } });
    expect(job.at("result.successCount")).toBe(1);
    expect(emails(await call("GET", "/contacts"))).toEqual(["bob@x.io"]);
  });

  test("an unknown job is 404", async () => {
    expect((await progress("none")).status).toBe(404);
  });
});

test("the public routes answer below the prefix as they do without it", async () => {
  const sent = await call("POST", "/v1/send", {
    to: "ada@x.io",
    from: "hi@acme.test",
    subject: "Hi",
    body: "<p>Hi</p>",
  });
  expect([sent.status, sent.at("success"), sent.at("emails.0.contact.email")]).toEqual([
    200,
    true,
    "ada@x.io",
  ]);
  const { publicKey: key } = t;
  const event = { event: "signed_up", email: "ada@x.io" };
  const tracked = await t.call("POST", "/plunk/v1/track", event, { key });
  expect([tracked.status, tracked.at("data.contact")]).toEqual([
    200,
    sent.at("emails.0.contact.id"),
  ]);
  expect(tracked.headers.get("access-control-allow-origin")).toBe("*");
  const verified = await call("POST", "/v1/verify", { email: "ada@@x.io" });
  expect([verified.status, verified.at("data.valid"), verified.at("valid")]).toEqual([
    200,
    false,
    false,
  ]);
  const refused = await call("POST", "/v1/send", { to: "ada@x.io", subject: "Hi", html: "<p>" });
  expect([refused.status, refused.at("code"), refused.text("message")]).toEqual([
    422,
    422,
    refused.text("error.message"),
  ]);
});

test("a change is in the audit log as the change of a contact", async () => {
  const id = await create({ email: "ada@x.io" });
  await call("PATCH", `/contacts/${id}`, { subscribed: false });
  const rows = t.db.sqlite
    .query("SELECT action, object_type, object_id FROM audit ORDER BY seq DESC LIMIT 2")
    .values();
  expect(rows).toEqual([
    ["updateContact", "contact", id],
    ["upsertContact", "contact", id],
  ]);
});
