/** The executions of a contact in all workflows. */

import { beforeEach, expect, test } from "bun:test";
import { createKey } from "../../../src/modules/keys.ts";
import { type Automation, automationPerTest } from "../../support/automation.ts";
import { listAt, valueAt } from "../../support/json.ts";
import { plansOfReads } from "../../support/reads.ts";
import { expectError } from "../../support/refusal.ts";
import { chain, step } from "./graphs.ts";

let a: Automation;
const next = automationPerTest();
beforeEach(async () => {
  a = await next();
});

const WAIT = chain(step("wait", "WAIT_FOR_EVENT", { eventName: "bought" }));
const read = (contactId: string, query = "") =>
  a.t.call("GET", `/contacts/${contactId}/executions${query}`);

test("lists the executions of one contact page by page, newest first, with the workflow", async () => {
  const first = await a.workflow(WAIT);
  const second = await a.workflow(WAIT);
  await a.t.call("PATCH", `/workflows/${second}`, { name: "Second" });
  await a.track("signed-up", {}, "ada@example.net");
  await a.track("signed-up", {}, "bob@example.net");
  const ada = a.contactId("ada@example.net");
  const all = await read(ada);
  expect(all.at("data")).toMatchObject({ total: 2, hasMore: false });
  const workflows = listAt(all.body, "data.items").map((item) => valueAt(item, "workflowId"));
  expect(new Set(workflows)).toEqual(new Set([first, second]));
  const ofSecond = listAt(all.body, "data.items").find(
    (item) => valueAt(item, "workflowId") === second,
  );
  expect(ofSecond).toEqual({
    id: valueAt(ofSecond, "id"),
    workflowId: second,
    workflowName: "Second",
    contactId: ada,
    contactEmail: "ada@example.net",
    status: "WAITING",
    currentStepId: "wait",
    context: {},
    startedAt: "2026-03-02T10:00:00.000Z",
    completedAt: null,
    exitReason: null,
    error: null,
  });
  const page = await read(ada, "?limit=1");
  const next = await read(ada, `?limit=1&cursor=${page.text("data.nextCursor")}`);
  expect([page.at("data.items.0.id"), next.at("data.items.0.id")]).toEqual([
    all.at("data.items.0.id"),
    all.at("data.items.1.id"),
  ]);
  expect(next.at("data")).toMatchObject({ total: 2, hasMore: false, nextCursor: null });
  await a.track("bought", {}, "ada@example.net");
  expect((await read(ada, "?status=COMPLETED")).at("data.total")).toBe(2);
  expect((await read(ada, "?status=WAITING")).at("data.items")).toEqual([]);
});

test("shows a key for contacts the names of the context only", async () => {
  await a.workflow(WAIT);
  await a.track("signed-up", { pin: "4829" }, "ada@example.net");
  const fields = { kind: "SECRET", name: "c", scope: "CONTACTS", expiresAt: null } as const;
  const { text } = await a.t.app.writer.write(() =>
    createKey(a.t.app.app, a.t.project.seq, fields),
  );
  const path = `/contacts/${a.contactId("ada@example.net")}/executions`;
  const contextFor = async (options: { key?: string }) =>
    (await a.t.call("GET", path, undefined, options)).at("data.items.0.context");
  expect([await contextFor({ key: text }), await contextFor({})]).toEqual([
    { pin: "(hidden)" },
    { pin: "4829" },
  ]);
});

test("leaves out deleted workflows, and refuses unknown contacts and statuses", async () => {
  const id = await a.workflow(WAIT);
  await a.track("signed-up", {}, "ada@example.net");
  const ada = a.contactId("ada@example.net");
  await a.t.call("DELETE", `/workflows/${id}`);
  expect((await read(ada)).at("data")).toMatchObject({ items: [], total: 0 });
  expectError(await read("nobody"), { status: 404, code: "CONTACT_NOT_FOUND" });
  expectError(await read(ada, "?status=LOST"), {
    status: 422,
    code: "VALIDATION_ERROR",
    errors: [["status", "invalid_value"]],
  });
});

test("lists the workflows that a contact never entered, with the last event that would start them", async () => {
  const entered = await a.workflow(WAIT);
  await a.track("signed-up", {}, "ada@example.net");
  await a.t.call("DELETE", `/workflows/${await a.workflow(WAIT)}`);
  const late = await a.workflow(WAIT);
  const other = await a.workflow({ ...WAIT, name: "Other", enabled: false });
  await a.t.call("PATCH", `/workflows/${other}`, {
    trigger: { type: "EVENT", eventName: "never-seen" },
  });
  const unentered = (id: string) => a.t.call("GET", `/contacts/${id}/unentered-workflows`);
  const found = await unentered(a.contactId("ada@example.net"));
  const createdAt = "2026-03-02T10:00:00.000Z";
  expect(found.at("data.items")).toEqual([
    {
      id: late,
      name: found.at("data.items.0.name"),
      enabled: true,
      triggerType: "EVENT",
      eventName: "signed-up",
      createdAt,
      lastEventAt: createdAt,
    },
    {
      id: other,
      name: "Other",
      enabled: false,
      triggerType: "EVENT",
      eventName: "never-seen",
      createdAt,
      lastEventAt: null,
    },
  ]);
  expect(JSON.stringify(found.body)).not.toContain(entered);
  expectError(await unentered("nobody"), { status: 404, code: "CONTACT_NOT_FOUND" });
});

test("reads only the executions of the contact", async () => {
  await a.track("signed-up", {}, "ada@example.net");
  const ada = a.contactId("ada@example.net");
  const plans = await plansOfReads(a.t.app.app, () => read(ada, "?status=WAITING&limit=1"));
  expect(plans).toHaveLength(2);
  for (const plan of plans) {
    expect(plan).toContain("workflow_executions_contact (contact_seq=?)");
    expect(plan).not.toContain("SCAN");
  }
});
