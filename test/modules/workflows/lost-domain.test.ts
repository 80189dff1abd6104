/** Tests SEND_EMAIL steps while the sender's domain has lost its verification. */

import { beforeEach, expect, test } from "bun:test";
import { type Automation, DAY, HOUR, MINUTE, automationPerTest } from "../../support/automation.ts";
import { chain, delay, step } from "./graphs.ts";
import { updateRows } from "../../support/project-per-test.ts";

const LOST = "The sender's domain acme.test is not verified any more.";

let a: Automation;
const next = automationPerTest();
beforeEach(async () => {
  a = await next();
});

const setStatus = (status: "VERIFIED" | "FAILED") =>
  updateRows(a.t, "domains", "status = ?", status);

/** Starts an execution that reaches its SEND_EMAIL step now, after the domain was lost. */
async function startWithLostDomain(): Promise<string> {
  const templateId = await a.template();
  const id = await a.workflow(
    chain(step("mail", "SEND_EMAIL", { templateId }), delay("pause", 1, "hours")),
  );
  setStatus("FAILED");
  await a.track("signed-up");
  return id;
}

test("waits and shows why", async () => {
  const id = await startWithLostDomain();
  const execution = await a.only(id);
  expect(execution).toMatchObject({
    status: "WAITING",
    currentStepId: "mail",
    steps: ["start COMPLETED"],
  });
  expect(execution.error).toStartWith(LOST);
  expect(execution.error).toContain("mailstead domain verify acme.test");
  expect(a.mails()).toEqual([]);
});

test("sends one mail after the domain is verified again", async () => {
  const id = await startWithLostDomain();
  await a.advance(MINUTE);
  await a.advance(2 * MINUTE);
  expect(await a.only(id)).toMatchObject({ status: "WAITING", currentStepId: "mail" });
  setStatus("VERIFIED");
  await a.advance(4 * MINUTE - 1);
  expect(a.mails()).toEqual([]);
  await a.advance(1);
  expect(await a.only(id)).toMatchObject({
    status: "WAITING",
    currentStepId: "pause",
    error: null,
    steps: ["start COMPLETED", "mail COMPLETED"],
  });
  expect(a.mails()).toEqual(["ada@example.net Hello"]);
});

test("is tried again at least once an hour for three days", async () => {
  const id = await startWithLostDomain();
  const nextTryMs = () =>
    (a.t.db.sqlite
      .query<{ at: number }, [number]>(
        "SELECT due_at AS at FROM workflow_executions WHERE project_seq = ?",
      )
      .get(a.t.project.seq)?.at ?? Infinity) - a.t.clock.now();
  for (const ms of [...Array.from({ length: 12 }, () => HOUR), DAY, DAY, 12 * HOUR]) {
    await a.advance(ms);
    expect(nextTryMs()).toBeLessThanOrEqual(HOUR);
  }
  expect(await a.only(id)).toMatchObject({ status: "WAITING", currentStepId: "mail" });
  setStatus("VERIFIED");
  await a.advance(HOUR);
  expect(a.mails()).toEqual(["ada@example.net Hello"]);
});

test("fails after the lifetime of a transactional mail, exactly at its end", async () => {
  const id = await startWithLostDomain();
  for (const ms of [DAY, DAY, DAY, 23 * HOUR]) await a.advance(ms);
  await a.advance(HOUR - 1);
  expect(await a.only(id)).toMatchObject({ status: "WAITING", currentStepId: "mail" });
  await a.advance(1);
  const execution = await a.only(id);
  expect(execution).toMatchObject({
    status: "FAILED",
    currentStepId: "mail",
    steps: ["start COMPLETED", "mail FAILED"],
  });
  expect(execution.error).toStartWith(LOST);
  expect(execution.error).toMatch(/That was the last of \d+ tries\.$/);
  expect(execution.details[1]).toMatchObject({ error: execution.error });
  setStatus("VERIFIED");
  await a.advance(DAY);
  expect(a.mails()).toEqual([]);
});

test("the last try sends the mail if the domain is verified again by then", async () => {
  const id = await startWithLostDomain();
  for (const ms of [DAY, DAY, DAY, 23 * HOUR]) await a.advance(ms);
  setStatus("VERIFIED");
  await a.advance(HOUR);
  expect(await a.only(id)).toMatchObject({ currentStepId: "pause", error: null });
  expect(a.mails()).toEqual(["ada@example.net Hello"]);
});

test("a domain that belongs to another project is no reason to wait", async () => {
  const { project } = await a.t.makeProject("stranger");
  const templateId = await a.template();
  const id = await a.workflow(chain(step("mail", "SEND_EMAIL", { templateId })));
  setStatus("FAILED");
  updateRows(a.t, "domains", "project_seq = ?", project.seq);
  await a.track("signed-up");
  const execution = await a.only(id);
  expect(execution.status).toBe("FAILED");
  expect(execution.error).toContain("domain acme.test is not a verified domain");
});

test("waits across a restart of the runner with the same time of the next try", async () => {
  const id = await startWithLostDomain();
  const dueAt = () =>
    a.t.db.sqlite
      .query("SELECT due_at FROM workflow_executions WHERE project_seq = ?")
      .all(a.t.project.seq);
  const before = dueAt();
  await a.t.app.automation.stop();
  await a.t.app.automation.start();
  await a.settle();
  expect(dueAt()).toEqual(before);
  setStatus("VERIFIED");
  await a.advance(HOUR);
  expect(await a.only(id)).toMatchObject({ currentStepId: "pause", error: null });
  expect(a.mails()).toHaveLength(1);
});

test("a contact who unsubscribes meanwhile gets no marketing mail", async () => {
  const id = await startWithLostDomain();
  await a.t.call("PATCH", `/contacts/${a.contactId()}`, { subscribed: false });
  setStatus("VERIFIED");
  await a.advance(HOUR);
  expect(await a.only(id)).toMatchObject({ steps: ["start COMPLETED", "mail SKIPPED"] });
  expect(a.mails()).toEqual([]);
});
