import { beforeEach, describe, expect, test } from "bun:test";
import type { TestApp, TestResponse } from "../../support/app.ts";
import { listAt, stringAt } from "../../support/json.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { expectError } from "../../support/refusal.ts";
import { chain, delay, step } from "../workflows/graphs.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const call = (method: string, path: string, body?: unknown) =>
  t.call(method, `/plunk/workflows${path}`, body);
const required = { name: "Welcome", eventName: "signed_up" };
const create = (body: object = {}) => t.create("/plunk/workflows", { ...required, ...body }, "id");
const names = (answer: TestResponse) =>
  listAt(answer.body, "data").map((item) => stringAt(item, "name"));
const waiting = () =>
  t.create("/workflows", { name: "Wait", enabled: true, ...chain(delay("d")) }, "data.id");

test("POST creates a disabled workflow that its event starts", async () => {
  const answer = await call("POST", "", required);
  const now = new Date(t.clock.now()).toISOString();
  const workflow = {
    id: answer.at("id"),
    name: "Welcome",
    description: null,
    triggerType: "EVENT",
    triggerConfig: { eventName: "signed_up" },
    enabled: false,
    allowReentry: false,
    projectId: t.project.id,
    createdAt: now,
    updatedAt: now,
  };
  expect([answer.status, answer.body]).toEqual([201, workflow]);
  const listed = await call("GET", "");
  expect(listed.body).toEqual({
    data: [workflow],
    total: 1,
    page: 1,
    pageSize: 20,
    totalPages: 1,
  });
});

test("GET shows the steps, each with its transitions", async () => {
  const templateId = await t.create(
    "/templates",
    { name: "n", subject: "s", body: "b", type: "MARKETING" },
    "data.id",
  );
  const condition = step("c", "CONDITION", {
    field: "subscribed",
    operator: "equals",
    value: true,
  });
  const graph = chain(condition, step("m", "SEND_EMAIL", { templateId }));
  graph.transitions = [
    { from: "start", to: "c" },
    { from: "c", to: "m", branch: "yes" },
  ];
  const id = await t.create("/workflows", { name: "w", ...graph }, "data.id");
  const answer = await call("GET", `/${id}`);
  expect(answer.status).toBe(200);
  const [, ofCondition, mail] = listAt(answer.body, "steps");
  expect(ofCondition).toMatchObject({
    id: "c",
    workflowId: id,
    type: "CONDITION",
    templateId: null,
    outgoingTransitions: [
      { fromStepId: "c", toStepId: "m", condition: { branch: "yes" }, priority: 0 },
    ],
    incomingTransitions: [{ fromStepId: "start", toStepId: "c", condition: null }],
  });
  expect(mail).toMatchObject({ id: "m", templateId, outgoingTransitions: [] });
});

test("PATCH changes the trigger, and takes back what was read", async () => {
  const id = await create();
  const answer = await call("PATCH", `/${id}`, {
    triggerType: "EVENT",
    triggerConfig: { eventName: "paid" },
    enabled: true,
  });
  expect([answer.status, answer.at("triggerConfig"), answer.at("enabled")]).toEqual([
    200,
    { eventName: "paid" },
    true,
  ]);
  const same = await call("PATCH", `/${id}`, answer.body);
  expect([same.status, same.at("triggerConfig.eventName")]).toEqual([200, "paid"]);
});

test("an execution is started for a contact, read and cancelled", async () => {
  const id = await waiting();
  const contactId = await t.create("/contacts", { email: "ada@x.io" }, "id");
  const started = await call("POST", `/${id}/executions`, { contactId, context: { a: 1 } });
  expect(started.status).toBe(201);
  expect(started.body).toEqual({
    id: started.at("id"),
    workflowId: id,
    contactId,
    status: expect.any(String),
    currentStepId: expect.any(String),
    exitReason: null,
    context: { a: 1 },
    startedAt: new Date(t.clock.now()).toISOString(),
    completedAt: null,
  });
  const path = `/${id}/executions/${started.text("id")}`;
  expect((await call("GET", path)).at("contactId")).toBe(contactId);
  expectError(await call("POST", `/${id}/executions`, { contactId }), {
    status: 409,
    code: "CONFLICT",
  });
  const cancelled = await call("DELETE", path);
  expect([cancelled.status, cancelled.at("status")]).toEqual([200, "CANCELLED"]);
  expectError(await call("DELETE", path), { status: 400, code: "INVALID_STATE" });
});

test("the executions of a workflow are listed in pages, with contact and step", async () => {
  const id = await waiting();
  for (const email of ["ada@x.io", "bob@x.io"]) {
    const contactId = await t.create("/contacts", { email }, "id");
    await call("POST", `/${id}/executions`, { contactId });
  }
  const page = await call("GET", `/${id}/executions?status=RUNNING&pageSize=1`);
  expect(page.body).toEqual({
    executions: [expect.objectContaining({ workflowId: id, status: "RUNNING" })],
    total: 2,
    page: 1,
    pageSize: 1,
    totalPages: 2,
  });
  expect(page.at("executions.0")).toMatchObject({
    contact: { id: page.at("executions.0.contactId"), email: "bob@x.io" },
    currentStep: { id: page.at("executions.0.currentStepId"), type: expect.any(String) },
  });
  const next = await call("GET", `/${id}/executions?pageSize=1&page=2`);
  expect(next.at("executions.0.contact.email")).toBe("ada@x.io");
  await t.call("DELETE", `/contacts/${next.text("executions.0.contactId")}`);
  const ended = await call("GET", `/${id}/executions?status=CANCELLED`);
  expect(ended.at("executions.0")).toMatchObject({ contactId: null, contact: null });
});

test("a duplicate is disabled and has the same steps", async () => {
  const id = await waiting();
  const copy = await call("POST", `/${id}/duplicate`);
  expect([copy.status, copy.at("name"), copy.at("enabled")]).toEqual([201, "Wait copy", false]);
  const [first, second] = await Promise.all(
    [id, copy.text("id")].map((each) => t.call("GET", `/workflows/${each}`)),
  );
  expect(second?.at("data.steps")).toEqual(first?.at("data.steps"));
  expect(second?.at("data.transitions")).toEqual(first?.at("data.transitions"));
  expect(names(await call("GET", "?status=active"))).toEqual(["Wait"]);
  expect(names(await call("GET", "?status=disabled"))).toEqual(["Wait copy"]);
});

test("cancel-all ends all executions, and DELETE removes the workflow", async () => {
  const id = await waiting();
  for (const email of ["ada@x.io", "bob@x.io"]) {
    const contactId = await t.create("/contacts", { email }, "id");
    await call("POST", `/${id}/executions`, { contactId });
  }
  const all = await call("POST", `/${id}/executions/cancel-all`);
  expect([all.status, all.body]).toEqual([200, { cancelled: 2 }]);
  const deleted = await call("DELETE", `/${id}`);
  expect([deleted.status, deleted.body]).toEqual([204, undefined]);
  expect(names(await call("GET", ""))).toEqual([]);
});

test("the list is searched and sorted", async () => {
  await create({ name: "Beta", description: "an OFFER" });
  await create({ name: "Alpha" });
  expect(names(await call("GET", "?search=offer"))).toEqual(["Beta"]);
  expect(names(await call("GET", "?sort=name&dir=asc"))).toEqual(["Alpha", "Beta"]);
  expect(names(await call("GET", "?pageSize=1&page=2"))).toEqual(["Beta"]);
});

describe("requests that are refused", () => {
  const bare: [path: string, body: object, error: string][] = [
    ["", { eventName: "e" }, "name is required"],
    ["", { name: "n" }, "eventName is required"],
    ["/any/executions", {}, "contactId is required"],
  ];
  test.each(bare)("POST %s %j is 400 with the text %s", async (path, body, error) => {
    const answer = await call("POST", path, body);
    expect([answer.status, answer.body]).toEqual([400, { error }]);
  });

  const faulty: [body: object, field: string, code: string][] = [
    [{ triggerType: "SCHEDULE" }, "triggerType", "invalid_value"],
    [{ triggerConfig: {} }, "triggerConfig.eventName", "required"],
    [{ enabled: "yes" }, "enabled", "invalid_type"],
  ];
  test.each(faulty)("PATCH is 422 for %j", async (body, field, code) => {
    const answer = await call("PATCH", `/${await create()}`, body);
    expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors: [[field, code]] });
  });

  test("an execution of a disabled workflow is 400", async () => {
    const contactId = await t.create("/contacts", { email: "ada@x.io" }, "id");
    const answer = await call("POST", `/${await create()}/executions`, { contactId });
    expectError(answer, { status: 400, code: "INVALID_STATE" });
  });

  const missing: [method: string, path: string, body: object | undefined][] = [
    ["GET", "", undefined],
    ["PATCH", "", { name: "n" }],
    ["DELETE", "", undefined],
    ["POST", "/executions", { contactId: "none" }],
    ["POST", "/executions/cancel-all", undefined],
    ["POST", "/duplicate", undefined],
    ["GET", "/executions", undefined],
    ["GET", "/executions/none", undefined],
    ["DELETE", "/executions/none", undefined],
  ];
  test.each(missing)("%s of an unknown workflow%s is 404", async (method, path, body) => {
    const answer = await call(method, `/none${path}`, body);
    expectError(answer, { status: 404, code: "WORKFLOW_NOT_FOUND" });
  });
});
