/**
 * Backtests of workflows. test/proofs/models/backtests.ts compares them with live runs of random graphs
 * and events.
 */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Automation, DAY, startAutomation } from "../../support/automation.ts";
import { listAt, stringAt, valueAt } from "../../support/json.ts";
import { backtest, lived, moveClock, replayed } from "./live-and-replayed.ts";

let a: Automation;
let templateId: string;
beforeAll(async () => {
  a = await startAutomation({ config: { sendRate: 1 } });
  templateId = await a.template();
});
afterAll(() => a.close());

const TRIGGER_ONLY = {
  trigger: { type: "EVENT", eventName: "go" },
  steps: [],
  transitions: [],
};
const BROKEN_STEP = { id: "mail", type: "SEND_EMAIL", config: { templateId: "none" } };

test("an event that the workflow caused happens once", async () => {
  const awaits = { eventName: "contact.unsubscribed", timeout: 3_600 };
  const id = await a.workflow({
    trigger: { type: "EVENT", eventName: "leaves" },
    steps: [
      { id: "leave", type: "UPDATE_CONTACT", config: { subscriptionAction: "unsubscribe" } },
      { id: "left", type: "WAIT_FOR_EVENT", config: awaits },
      { id: "again", type: "WAIT_FOR_EVENT", config: awaits },
    ],
    transitions: [
      { from: "leave", to: "left" },
      { from: "left", to: "again" },
    ],
  });
  await a.track("leaves", undefined, "leaver@example.com");
  await moveClock(a, DAY);
  expect(lived(a, id).branches).toEqual({ "again:timeout": 1 });
  expect(replayed(valueAt(await backtest(a, id), "result"))).toEqual(lived(a, id));
});

test("a backtest tries a changed workflow, of which nothing is stored", async () => {
  const id = await a.workflow(
    { trigger: { type: "EVENT", eventName: "nobody.does" }, steps: [], transitions: [] },
    { enabled: false },
  );
  for (const email of ["one@example.com", "two@example.com"]) {
    await a.track("changed.go", undefined, email);
    await a.advance(DAY);
  }
  const stored = () => {
    const { workflows, workflow_versions, workflow_executions, contacts, events } = a.t.contents();
    return { workflows, workflow_versions, workflow_executions, contacts, events };
  };
  const before = stored();
  const workflow = {
    trigger: { type: "EVENT", eventName: "changed.go" },
    steps: [
      { id: "hello", type: "SEND_EMAIL", config: { templateId } },
      { id: "wait", type: "DELAY", config: { amount: 36, unit: "hours" } },
      { id: "again", type: "SEND_EMAIL", config: { templateId } },
    ],
    transitions: [
      { from: "hello", to: "wait" },
      { from: "wait", to: "again" },
    ],
  };
  const found = await backtest(a, id, { days: 30, workflow });
  expect(stored()).toEqual(before);
  expect(valueAt(found, "progress")).toEqual({ done: 2, total: 2 });
  expect(valueAt(found, "result.started")).toBe(2);
  const [mails] = listAt(found, "result.mails");
  expect(mails).toMatchObject({ templateId, total: 3, suppressed: 0 });
  const entered = listAt(found, "result.steps").map((step) => [
    stringAt(step, "stepId"),
    valueAt(step, "entered"),
  ]);
  expect(Object.fromEntries(entered)).toEqual({ trigger: 2, hello: 2, wait: 2, again: 1 });
  const [example] = listAt(found, "result.examples");
  expect(example).toMatchObject({ contactEmail: "one@example.com", status: "COMPLETED" });
});

test.each([
  ["days", { days: 0 }, 422],
  ["days", { days: 366 }, 422],
  ["workflow.steps.0.config.templateId", { days: 1, workflow: { steps: [BROKEN_STEP] } }, 422],
])("a backtest refuses a wrong %s", async (field, input, status) => {
  const id = await a.workflow(TRIGGER_ONLY);
  const answer = await a.t.call("POST", `/workflows/${id}/backtest`, input);
  expect([answer.status, answer.at("error.errors.0.field")]).toEqual([status, field]);
});

test("a workflow that is only started by hand has nothing to replay", async () => {
  const id = await a.workflow({ trigger: { type: "MANUAL" }, steps: [], transitions: [] });
  const answer = await a.t.call("POST", `/workflows/${id}/backtest`, { days: 1 });
  expect([answer.status, answer.at("error.code")]).toEqual([409, "INVALID_STATE"]);
});

test("a project has one backtest at a time, which can be cancelled", async () => {
  const id = await a.workflow(TRIGGER_ONLY);
  expect((await a.t.call("POST", `/workflows/${id}/backtest/cancel`)).status).toBe(409);
  await a.track("go");
  const [first, second] = await Promise.all([
    a.t.call("POST", `/workflows/${id}/backtest`, { days: 1 }),
    a.t.call("POST", `/workflows/${id}/backtest`, { days: 1 }),
  ]);
  expect([first.status, second.status].toSorted((x, y) => x - y)).toEqual([200, 409]);
  const cancelled = await a.t.call("POST", `/workflows/${id}/backtest/cancel`);
  expect(cancelled.at("data.status")).toBe("CANCELLED");
});
