import { beforeEach, describe, expect, test } from "bun:test";
import type { TestApp } from "../../support/app.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { expectError } from "../../support/refusal.ts";

const projects = projectPerTest();
let t: TestApp;
let contactId: string;
beforeEach(async () => {
  t = await projects.next();
  contactId = await t.create("/contacts", { email: "ada@x.io", subscribed: false }, "id");
});

const call = (method: string, path: string, body?: unknown) =>
  t.call(method, `/plunk${path}`, body);
const track = (body: object) => call("POST", "/events/track", body);

test("an event is recorded for the contact with an id, and listed", async () => {
  const data = { plan: "pro", order: { value: 7, persistent: false } };
  const answer = await track({ name: " paid ", contactId, data });
  const event = {
    id: answer.at("id"),
    name: "paid",
    data: { plan: "pro", order: 7 },
    contactId,
    emailId: null,
    projectId: t.project.id,
    createdAt: new Date(t.clock.now()).toISOString(),
  };
  expect([answer.status, answer.body]).toEqual([201, event]);
  await track({ name: "paid", contactId });
  await track({ name: "left", contactId });
  const listed = await call("GET", "/events?eventName=paid&limit=5");
  expect([listed.at("events.0.data"), listed.at("events.1")]).toEqual([null, event]);
  expect((await call("GET", "/events/names")).body).toEqual({ eventNames: ["paid", "left"] });
});

describe("POST /plunk/events/track refuses", () => {
  test("a request without a name with 400", async () => {
    const answer = await track({ contactId });
    expect([answer.status, answer.body]).toEqual([400, { error: "name is required" }]);
  });

  const faulty: [body: object, field: string, code: string][] = [
    [{ name: "paid", contactId: undefined }, "contactId", "required"],
    [{ name: "email.sent" }, "name", "reserved_event"],
    [{ name: "paid", emailId: "some" }, "emailId", "invalid_value"],
    [{ name: "paid", data: "some" }, "data", "invalid_type"],
  ];
  test.each(faulty)("%j with 422", async (body, field, code) => {
    const answer = await track({ contactId, ...body });
    expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors: [[field, code]] });
    expect(t.countRows("events")).toBe(0);
  });

  test("an unknown contact with 404", async () => {
    const answer = await track({ name: "paid", contactId: "none" });
    expectError(answer, { status: 404, code: "CONTACT_NOT_FOUND" });
  });
});

test("the domains of the project are in a bare array", async () => {
  await t.call("POST", "/domains", { domain: "news.example.com" });
  const answer = await call("GET", "/domains/project/current");
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject([
    { domain: "news.example.com", verified: false, projectId: t.project.id },
    { domain: "acme.test", verified: true },
  ]);
});

test("a domain is checked", async () => {
  const id = await t.create("/domains", { domain: "news.example.com" }, "data.id");
  const answer = await call("GET", `/domains/${id}/verify`);
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({
    domain: "news.example.com",
    tokens: [expect.stringContaining("._domainkey.news.example.com"), expect.any(String)],
    status: "Pending",
    verified: false,
  });
  const unknown = await call("GET", "/domains/none/verify");
  expectError(unknown, { status: 404, code: "DOMAIN_NOT_FOUND" });
});
