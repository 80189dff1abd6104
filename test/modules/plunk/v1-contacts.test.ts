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
  t.call(method, `/plunk/v1/contacts${path}`, body);
const create = (body: object) => t.create("/plunk/v1/contacts", body, "id");
const now = () => new Date(t.clock.now()).toISOString();
const emails = (body: unknown) => listAt(body, "").map((contact) => stringAt(contact, "email"));

test("POST creates a contact, whose data is a JSON text", async () => {
  const answer = await call("POST", "", { email: "Ada@x.io", data: { plan: "pro" } });
  const contact = {
    id: answer.at("id"),
    email: "ada@x.io",
    subscribed: true,
    data: '{"plan":"pro"}',
    createdAt: now(),
    updatedAt: now(),
  };
  expect([answer.status, answer.body]).toEqual([200, { success: true, ...contact }]);
  const read = await call("GET", `/${answer.text("id")}`);
  expect([read.status, read.body]).toEqual([200, contact]);
});

test("POST of an address that exists is 409, and changes nothing", async () => {
  const id = await create({ email: "ada@x.io", subscribed: false });
  const answer = await call("POST", "", { email: "ADA@x.io", subscribed: true });
  expectError(answer, { status: 409, code: "CONFLICT" });
  // Older clients read the top level.
  expect([answer.at("code"), answer.text("message")]).toEqual([409, answer.text("error.message")]);
  expect((await call("GET", `/${id}`)).at("subscribed")).toBe(false);
});

test("GET answers all contacts in an array, or the newest", async () => {
  for (let i = 0; i < 101; i++) await t.create("/contacts", { email: `${i}@x.io` }, "id");
  const all = await call("GET", "");
  expect([all.status, emails(all.body).length, emails(all.body)[100]]).toEqual([
    200,
    101,
    "0@x.io",
  ]);
  expect(emails((await call("GET", "?limit=2")).body)).toEqual(["100@x.io", "99@x.io"]);
  expect((await call("GET", "/count")).body).toEqual({ count: 101 });
  t.db.sqlite.run("UPDATE contact_counts SET total = 10001 WHERE project_seq = ?", [t.project.seq]);
  expectError(await call("GET", ""), { status: 400, code: "BAD_REQUEST" });
  expect((await call("GET", "?limit=2")).status).toBe(200);
});

describe("PUT", () => {
  test("finds the contact by its address", async () => {
    const id = await create({ email: "ada@x.io", data: { a: "1", b: "2" } });
    const data = { a: "", c: "3" };
    const answer = await call("PUT", "", { email: "ada@x.io", subscribed: false, data });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ success: true, id, subscribed: false });
    expect(JSON.parse(answer.text("data"))).toEqual({ b: "2", c: "3" });
  });

  test("changes the address of the contact with an id", async () => {
    const id = await create({ email: "ada@x.io" });
    const answer = await call("PUT", "", { id, email: "eve@x.io" });
    expect([answer.status, answer.at("id"), answer.at("email")]).toEqual([200, id, "eve@x.io"]);
  });
});

test("DELETE takes the id in the body and answers the contact", async () => {
  const id = await create({ email: "ada@x.io" });
  const answer = await call("DELETE", "", { id });
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({ success: true, id, email: "ada@x.io" });
  expect((await call("GET", "")).body).toEqual([]);
});

test("subscribe and unsubscribe take an id or an address", async () => {
  const id = await create({ email: "ada@x.io" });
  const out = await call("POST", "/unsubscribe", { email: "ada@x.io" });
  expect([out.status, out.body]).toEqual([200, { success: true, contact: id, subscribed: false }]);
  const back = await call("POST", "/subscribe", { id });
  expect([back.status, back.body]).toEqual([200, { success: true, contact: id, subscribed: true }]);
  expect(t.eventNames().slice(-2)).toEqual(["contact.unsubscribed", "contact.subscribed"]);
});

describe("requests that are refused", () => {
  const faulty: [method: string, path: string, body: object, field: string, code: string][] = [
    ["POST", "", {}, "email", "required"],
    ["POST", "", { email: "ada" }, "email", "invalid_format"],
    ["PUT", "", { subscribed: true }, "id", "required"],
    ["PUT", "", { id: 1 }, "id", "invalid_type"],
    ["DELETE", "", {}, "id", "required"],
    ["POST", "/subscribe", {}, "id", "required"],
    ["POST", "/unsubscribe", { email: 1 }, "email", "invalid_type"],
  ];
  test.each(faulty)("%s %s %j is 422 for %s", async (method, path, body, field, code) => {
    const answer = await call(method, path, body);
    expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors: [[field, code]] });
  });

  const missing: [method: string, path: string, body: object | undefined][] = [
    ["GET", "/none", undefined],
    ["PUT", "", { email: "none@x.io" }],
    ["DELETE", "", { id: "none" }],
    ["POST", "/subscribe", { id: "none" }],
    ["POST", "/unsubscribe", { email: "none@x.io" }],
  ];
  test.each(missing)("%s %s %j is 404", async (method, path, body) => {
    expectError(await call(method, path, body), { status: 404, code: "CONTACT_NOT_FOUND" });
  });
});
