/** Tests the endpoints of executions. */

import { beforeEach, describe, expect, test } from "bun:test";
import { type Automation, HOUR, automationPerTest } from "../../support/automation.ts";
import { listAt } from "../../support/json.ts";
import { expectError } from "../../support/refusal.ts";
import { chain, delay, step } from "./graphs.ts";

let a: Automation;
const next = automationPerTest();
beforeEach(async () => {
  a = await next();
});

const waiting = () => a.workflow(chain(step("wait", "WAIT_FOR_EVENT", { eventName: "bought" })));

async function contact(email = "ada@example.net"): Promise<string> {
  return (await a.t.call("POST", "/contacts", { email })).text("id");
}

const begin = (id: string, body: unknown, key?: string) =>
  a.t.call("POST", `/workflows/${id}/executions`, body, key === undefined ? {} : { key });

describe("GET /workflows/{id}/executions", () => {
  test("lists executions page by page, newest first, with exact totals", async () => {
    const id = await waiting();
    for (let i = 0; i < 5; i++) await a.track("signed-up", {}, `p${i}@example.net`);
    await a.track("bought", {}, "p1@example.net");
    const first = await a.t.call("GET", `/workflows/${id}/executions?limit=3`);
    expect(first.at("data")).toMatchObject({ total: 5, hasMore: true });
    const cursor = first.text("data.nextCursor");
    const rest = await a.t.call("GET", `/workflows/${id}/executions?limit=3&cursor=${cursor}`);
    expect(rest.at("data")).toMatchObject({ total: 5, hasMore: false, nextCursor: null });
    expect(listAt(first.body, "data.items")).toHaveLength(3);
    expect(listAt(rest.body, "data.items")).toHaveLength(2);
    expect(first.at("data.items.0")).toEqual({
      id: first.text("data.items.0.id"),
      workflowId: id,
      contactId: a.contactId("p4@example.net"),
      contactEmail: "p4@example.net",
      status: "WAITING",
      currentStepId: "wait",
      context: {},
      startedAt: "2026-03-02T10:00:00.000Z",
      completedAt: null,
      exitReason: null,
      error: null,
    });
    const done = await a.t.call("GET", `/workflows/${id}/executions?status=COMPLETED`);
    expect(done.at("data")).toMatchObject({
      total: 1,
      items: [
        { contactId: a.contactId("p1@example.net"), completedAt: "2026-03-02T10:00:00.000Z" },
      ],
    });
    const none = await a.t.call("GET", `/workflows/${id}/executions?status=FAILED`);
    expect(none.at("data")).toEqual({ items: [], nextCursor: null, hasMore: false, total: 0 });
  });

  test("refuses an unknown status", async () => {
    const id = await waiting();
    const answer = await a.t.call("GET", `/workflows/${id}/executions?status=DONE`);
    const errors = [["status", "invalid_value"]] as const;
    expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors });
  });
});

test("GET …/executions/{id} shows the steps with names and times", async () => {
  const id = await a.workflow(chain({ ...delay("wait", 1, "hours"), name: "An hour" }));
  await a.track("signed-up");
  await a.advance(HOUR);
  const [execution] = await a.executions(id);
  const answer = await a.t.call("GET", `/workflows/${id}/executions/${execution?.id ?? ""}`);
  expect(answer.at("data.steps")).toEqual([
    {
      id: `${execution?.id ?? ""}.1`,
      stepId: "start",
      type: "TRIGGER",
      name: "TRIGGER",
      outcome: "COMPLETED",
      branch: null,
      detail: null,
      startedAt: "2026-03-02T10:00:00.000Z",
      completedAt: "2026-03-02T10:00:00.000Z",
    },
    {
      id: `${execution?.id ?? ""}.2`,
      stepId: "wait",
      type: "DELAY",
      name: "An hour",
      outcome: "COMPLETED",
      branch: null,
      detail: null,
      startedAt: "2026-03-02T10:00:00.000Z",
      completedAt: "2026-03-02T11:00:00.000Z",
    },
  ]);
});

describe("POST /workflows/{id}/executions", () => {
  test("starts an execution with the given context", async () => {
    const id = await waiting();
    const contactId = await contact();
    const answer = await begin(id, { contactId, context: { plan: "pro" } });
    expect(answer.status).toBe(201);
    expect(answer.at("data")).toMatchObject({
      status: "RUNNING",
      contactId,
      context: { plan: "pro" },
    });
    await a.settle();
    expect(await a.only(id)).toMatchObject({ status: "WAITING", currentStepId: "wait" });
    await a.track("bought", { n: 1 });
    expect(await a.only(id)).toMatchObject({ status: "COMPLETED", context: { plan: "pro", n: 1 } });
  });

  test("starts one execution per Idempotency-Key", async () => {
    const id = await waiting();
    const body = { contactId: await contact() };
    const headers = { "idempotency-key": "one" };
    const first = await a.t.call("POST", `/workflows/${id}/executions`, body, { headers });
    const again = await a.t.call("POST", `/workflows/${id}/executions`, body, { headers });
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.text("data.id")).toBe(first.text("data.id"));
  });

  test("responds 409 if the contact may not enter", async () => {
    const id = await waiting();
    const contactId = await contact();
    await begin(id, { contactId });
    expectError(await begin(id, { contactId }), { status: 409, code: "CONFLICT" });
    await a.t.call("PATCH", `/workflows/${id}`, { allowReentry: true });
    expectError(await begin(id, { contactId }), { status: 409, code: "CONFLICT" });
    await a.settle();
    await a.track("bought");
    expect((await begin(id, { contactId })).status).toBe(201);
  });

  test("responds 409 if the workflow is not enabled", async () => {
    const id = await a.workflow(chain(step("end", "EXIT")), { enabled: false });
    const answer = await begin(id, { contactId: await contact() });
    expectError(answer, { status: 409, code: "INVALID_STATE" });
  });

  test.each([
    ["no contact", {}, "contactId", "required"],
    ["a contact that is not a string", { contactId: 1 }, "contactId", "invalid_type"],
    ["a context that is a list", { contactId: "x", context: [] }, "context", "invalid_type"],
    [
      "a context that is too large",
      { contactId: "x", context: { a: "x".repeat(70_000) } },
      "context",
      "too_big",
    ],
  ] as const)("refuses %s", async (_, body, field, code) => {
    const id = await waiting();
    const answer = await begin(id, body);
    expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors: [[field, code]] });
    expect(a.t.countRows("workflow_executions")).toBe(0);
  });

  test("responds 404 for an unknown contact", async () => {
    const answer = await begin(await waiting(), { contactId: "x" });
    expectError(answer, { status: 404, code: "CONTACT_NOT_FOUND" });
  });
});

describe("a request to cancel", () => {
  test("ends an execution, and its later steps do not run", async () => {
    const templateId = await a.template();
    const mail = step("mail", "SEND_EMAIL", { templateId });
    const id = await a.workflow(chain(delay("wait", 1, "hours"), mail));
    await a.track("signed-up");
    const { id: executionId } = await a.only(id);
    const path = `/workflows/${id}/executions/${executionId}/cancel`;
    const answer = await a.t.call("POST", path);
    expect(answer.status).toBe(200);
    expect(answer.at("data")).toMatchObject({
      status: "CANCELLED",
      currentStepId: "wait",
      exitReason: "Cancelled by hand.",
      completedAt: new Date(a.t.clock.now()).toISOString(),
    });
    expectError(await a.t.call("POST", path), { status: 409, code: "INVALID_STATE" });
    await a.advance(HOUR);
    expect(a.mails()).toEqual([]);
  });

  test("ends all active executions", async () => {
    const id = await waiting();
    for (let i = 0; i < 4; i++) await a.track("signed-up", {}, `p${i}@example.net`);
    await a.track("bought", {}, "p0@example.net");
    const answer = await a.t.call("POST", `/workflows/${id}/executions/cancel`);
    expect(answer.at("data")).toEqual({ cancelled: 3 });
    await a.track("bought", {}, "p1@example.net");
    const statuses = (await a.executions(id)).map(({ status }) => status);
    expect(statuses).toEqual(["COMPLETED", "CANCELLED", "CANCELLED", "CANCELLED"]);
  });
});

test("another project cannot read or change executions", async () => {
  const id = await waiting();
  const contactId = await contact();
  await a.track("signed-up");
  const { id: executionId } = await a.only(id);
  const { secretKey: key } = await a.t.makeProject("stranger");
  const before = a.t.contents();
  const cases: [string, string, unknown?][] = [
    ["GET", `/workflows/${id}/executions`],
    ["GET", `/workflows/${id}/executions/${executionId}`],
    ["POST", `/workflows/${id}/executions`, { contactId }],
    ["POST", `/workflows/${id}/executions/cancel`],
    ["POST", `/workflows/${id}/executions/${executionId}/cancel`],
  ];
  for (const [method, path, body] of cases) {
    const answer = await a.t.call(method, path, body, { key });
    expectError(answer, { status: 404, code: "WORKFLOW_NOT_FOUND" });
  }
  expect(a.t.contents()).toEqual(before);
  // A workflow of the other project does not help either.
  const own = await a.t.create(
    "/workflows",
    { name: "Own", enabled: true, ...chain(step("end", "EXIT")) },
    "data.id",
    { key },
  );
  expectError(await begin(own, { contactId }, key), { status: 404, code: "CONTACT_NOT_FOUND" });
  const foreign = await a.t.call("GET", `/workflows/${own}/executions/${executionId}`, undefined, {
    key,
  });
  expectError(foreign, { status: 404, code: "EXECUTION_NOT_FOUND" });
});
