/** Templates and segments that a workflow or its running executions need cannot be deleted. */

import { beforeEach, describe, expect, test } from "bun:test";
import { type Automation, automationPerTest } from "../../support/automation.ts";
import { expectError } from "../../support/refusal.ts";
import { chain, graph, step, trigger } from "./graphs.ts";

const EMPTY = { steps: [], transitions: [] };

let a: Automation;
const next = automationPerTest();
beforeEach(async () => {
  a = await next();
});

const wait = step("wait", "WAIT_FOR_EVENT", { eventName: "paid" });
const sending = (templateId: string) => chain(wait, step("mail", "SEND_EMAIL", { templateId }));
const isContact = { field: "email", operator: "contains", value: "@" };
const memberOf = (id: string) => ({ field: `segment.${id}`, operator: "memberOf" });
const all = (...filters: object[]) => ({ logic: "AND", groups: [{ filters }] });
const nested = (levels: number): object =>
  levels === 1
    ? all(isContact)
    : { logic: "AND", groups: [{ filters: [isContact], conditions: nested(levels - 1) }] };
const testing = (segmentId: string) =>
  graph(
    [trigger(), wait, step("check", "CONDITION", memberOf(segmentId)), step("in", "EXIT")],
    ["start>wait", "wait>check", "check>in:yes"],
  );

const segment = () => a.t.create("/segments", { name: "All", condition: nested(1) }, "data.id");
const change = async (workflow: string, body: object) =>
  expect((await a.t.call("PATCH", `/workflows/${workflow}`, body)).status).toBe(200);

/** Checks that the object cannot be deleted, and that one use of it is shown. */
async function expectUsed(path: string): Promise<void> {
  const answer = await a.t.call("DELETE", path);
  expectError(answer, { status: 409, code: "CONFLICT" });
  expect(answer.text("error.message")).toEndWith('is used by workflow "Flow".');
  const users = (await a.t.call("GET", `${path}/usage`)).at("data.users");
  expect(users).toMatchObject([{ kind: "workflow", name: "Flow" }]);
}

async function expectUnused(path: string): Promise<void> {
  expect((await a.t.call("GET", `${path}/usage`)).at("data.users")).toEqual([]);
  expect((await a.t.call("DELETE", path)).status).toBe(204);
}

describe("while an execution waits", () => {
  test("the template of a later step in its version cannot be deleted", async () => {
    const template = await a.template();
    const flow = await a.workflow(sending(template));
    await a.track("signed-up");
    await expectUsed(`/templates/${template}`);
    await change(flow, EMPTY);
    await expectUsed(`/templates/${template}`);
    await a.track("paid");
    expect((await a.only(flow)).status).toBe("COMPLETED");
    expect(a.mails()).toHaveLength(1);
    await expectUnused(`/templates/${template}`);
  });

  test("the segment of a later condition in its version cannot be deleted", async () => {
    const id = await segment();
    const flow = await a.workflow(testing(id));
    await a.track("signed-up");
    await change(flow, EMPTY);
    await expectUsed(`/segments/${id}`);
    await a.track("paid");
    const { status, steps } = await a.only(flow);
    expect([status, steps.at(-2)]).toEqual(["EXITED", "check COMPLETED:yes"]);
    await expectUnused(`/segments/${id}`);
  });

  test("its version limits the change of a segment", async () => {
    const id = await segment();
    const flow = await a.workflow(testing(id));
    await a.track("signed-up");
    await change(flow, EMPTY);
    const patch = () => a.t.call("PATCH", `/segments/${id}`, { condition: nested(10) });
    const refused = await patch();
    const errors = [["condition", "too_big"]] as const;
    expectError(refused, { status: 422, code: "VALIDATION_ERROR", errors });
    expect(refused.text("error.message")).toContain('does not fit the workflow "Flow"');
    await a.track("paid");
    expect((await patch()).status).toBe(200);
  });

  test("a workflow that uses a template in two versions is named once", async () => {
    const template = await a.template();
    const flow = await a.workflow(sending(template));
    await a.track("signed-up");
    await change(flow, sending(template));
    await change(flow, chain(step("now", "SEND_EMAIL", { templateId: template })));
    await expectUsed(`/templates/${template}`);
  });
});

describe("an event of a segment", () => {
  const startingFrom = (eventName: string) => graph([trigger(eventName), wait], ["start>wait"]);
  const waitingFor = (eventName: string) => chain(step("event", "WAIT_FOR_EVENT", { eventName }));

  test.each([
    ["starts it", startingFrom("segment.all.entry"), true],
    ["starts it", startingFrom("segment.all.exit"), true],
    ["starts it, but it is disabled", startingFrom("segment.all.entry"), false],
    ["is awaited in it", waitingFor("segment.all.exit"), true],
  ])("is a use of the segment by a workflow if it %s", async (_, flow, enabled) => {
    const id = await segment();
    const workflow = await a.workflow(flow, { enabled });
    await expectUsed(`/segments/${id}`);
    await change(workflow, { trigger: { type: "EVENT", eventName: "signed-up" }, ...EMPTY });
    await expectUnused(`/segments/${id}`);
  });

  test("keeps its name when the segment is renamed", async () => {
    const id = await segment();
    await a.workflow(startingFrom("segment.all.entry"));
    expect((await a.t.call("PATCH", `/segments/${id}`, { name: "Other" })).at("data.slug")).toBe(
      "all",
    );
    await expectUsed(`/segments/${id}`);
  });

  test("is recorded as long as a workflow uses it", async () => {
    const id = await segment();
    const patch = (body: object) => a.t.call("PATCH", `/segments/${id}`, body);
    expect((await patch({ trackMembership: true })).status).toBe(200);
    const flow = await a.workflow(startingFrom("segment.all.entry"));
    const errors: [string, string][] = [["trackMembership", "invalid_value"]];
    const refused = await patch({ name: "Other", trackMembership: false });
    expectError(refused, { status: 422, code: "VALIDATION_ERROR", errors });
    expect(refused.text("error.errors.0.message")).toEndWith('are used by workflow "Flow"');
    expect((await a.t.call("GET", `/segments/${id}`)).at("data")).toMatchObject({
      name: "All",
      trackMembership: true,
    });
    await change(flow, { trigger: { type: "EVENT", eventName: "signed-up" }, ...EMPTY });
    expect((await patch({ trackMembership: false })).status).toBe(200);
  });

  test("is no longer used by an execution that it started", async () => {
    const id = await a.t.create("/segments", { name: "All", type: "STATIC" }, "data.id");
    await a.t.call("PATCH", `/segments/${id}`, { trackMembership: true });
    const flow = await a.workflow(startingFrom("segment.all.entry"));
    const emails = ["ada@example.net"];
    await a.t.call("POST", `/segments/${id}/members`, { emails, createMissing: true });
    await a.settle();
    expect((await a.only(flow)).status).toBe("WAITING");
    await change(flow, { trigger: { type: "EVENT", eventName: "signed-up" } });
    expect((await a.only(flow)).status).toBe("WAITING");
    await expectUnused(`/segments/${id}`);
  });

  test("is used by an execution that waits for it in its version", async () => {
    const id = await segment();
    const flow = await a.workflow(waitingFor("segment.all.entry"));
    await a.track("signed-up");
    await change(flow, EMPTY);
    await expectUsed(`/segments/${id}`);
  });

  test("and a condition on the segment in one workflow are one use", async () => {
    const id = await segment();
    const check = step("check", "CONDITION", memberOf(id));
    await a.workflow(graph([trigger("segment.all.entry"), check], ["start>check"]));
    await expectUsed(`/segments/${id}`);
  });

  test("is not used by a workflow that another segment or another event starts", async () => {
    const id = await segment();
    await segment();
    for (const eventName of ["segment.all-2.entry", "segment.all", "segment.all.entry2"]) {
      await a.workflow(startingFrom(eventName));
    }
    await expectUnused(`/segments/${id}`);
  });
});

test("versions between that of an execution and the current one use nothing", async () => {
  const [first, second] = [await a.template(), await a.template({ name: "Second" })];
  const flow = await a.workflow(sending(first));
  await a.track("signed-up");
  await change(flow, sending(second));
  await change(flow, EMPTY);
  await expectUnused(`/templates/${second}`);
  await expectUsed(`/templates/${first}`);
});

test.each(["cancelled", "deleted with its workflow"])(
  "an execution that was %s uses nothing",
  async (end) => {
    const template = await a.template();
    const flow = await a.workflow(sending(template));
    await a.track("signed-up");
    await change(flow, EMPTY);
    if (end === "cancelled") await a.t.call("POST", `/workflows/${flow}/executions/cancel`);
    else await a.t.call("DELETE", `/workflows/${flow}`);
    await a.settle();
    await expectUnused(`/templates/${template}`);
  },
);
