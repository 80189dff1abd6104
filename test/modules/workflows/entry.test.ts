/** Tests which events start an execution, re-entry, versions and the loop limit. */

import { beforeEach, describe, expect, test } from "bun:test";
import { type Automation, HOUR, MINUTE, automationPerTest } from "../../support/automation.ts";
import { chain, delay, graph, step, trigger } from "./graphs.ts";

let a: Automation;
const next = automationPerTest();
beforeEach(async () => {
  a = await next();
});

const statuses = async (id: string) => (await a.executions(id)).map(({ status }) => status);

describe("re-entry", () => {
  test("that is off allows one execution per contact ever", async () => {
    const id = await a.workflow(chain(step("end", "EXIT")));
    await a.track("signed-up");
    await a.track("signed-up");
    await a.track("signed-up", {}, "bob@example.net");
    expect(await statuses(id)).toEqual(["EXITED", "EXITED"]);
  });

  test("that is on allows one active execution at a time", async () => {
    const id = await a.workflow(chain(delay("wait", 1, "hours")), { allowReentry: true });
    await a.track("signed-up");
    await a.track("signed-up");
    expect(await statuses(id)).toEqual(["WAITING"]);
    await a.advance(HOUR);
    await a.track("signed-up");
    expect(await statuses(id)).toEqual(["COMPLETED", "WAITING"]);
  });

  test("lets the event that ends an execution start the next one", async () => {
    const again = step("wait", "WAIT_FOR_EVENT", { eventName: "signed-up" });
    const id = await a.workflow(chain(again), { allowReentry: true });
    for (let i = 0; i < 3; i++) await a.track("signed-up");
    expect(await statuses(id)).toEqual(["COMPLETED", "COMPLETED", "WAITING"]);
  });
});

describe("a workflow", () => {
  test("that is disabled starts no execution, and active executions continue", async () => {
    const id = await a.workflow(chain(delay("wait", 1, "hours")));
    await a.track("signed-up");
    await a.t.call("PATCH", `/workflows/${id}`, { enabled: false });
    await a.track("signed-up", {}, "bob@example.net");
    expect(await statuses(id)).toEqual(["WAITING"]);
    await a.advance(HOUR);
    expect(await statuses(id)).toEqual(["COMPLETED"]);
  });

  test("that is changed continues active executions with their old version", async () => {
    const id = await a.workflow(
      chain(delay("wait", 1, "hours"), step("a", "EXIT", { reason: "old" })),
    );
    await a.track("signed-up");
    await a.t.call("PATCH", `/workflows/${id}`, chain(step("b", "EXIT", { reason: "new" })));
    await a.track("signed-up", {}, "bob@example.net");
    const versions = () =>
      a.t.db.sqlite
        .query(
          "SELECT 1 FROM workflow_versions JOIN workflows w ON w.seq = workflow_seq WHERE w.id = ?",
        )
        .all(id);
    expect(versions()).toHaveLength(2);
    await a.advance(HOUR);
    const executions = await a.executions(id);
    expect(executions.map(({ exitReason }) => exitReason)).toEqual(["old", "new"]);
    // The old version has no active execution any more, but it can be restored.
    expect(versions()).toHaveLength(2);
  });

  test("is not started by events that were recorded before it was created", async () => {
    await a.track("signed-up");
    const id = await a.workflow(chain(step("end", "EXIT")));
    await a.track("other");
    expect(await statuses(id)).toEqual([]);
  });

  test("is not started by events of another project", async () => {
    const id = await a.workflow(chain(step("end", "EXIT")));
    const other = await a.t.makeProject("other");
    const body = { event: "signed-up", email: "ada@example.net" };
    await a.t.call("POST", "/v1/track", body, { key: other.secretKey });
    await a.settle();
    expect(await statuses(id)).toEqual([]);
  });

  test.each([
    ["contact.subscribed", () => a.t.call("POST", "/contacts", { email: "ada@example.net" })],
    [
      "segment.pros.entry",
      async () => {
        const condition = {
          logic: "AND",
          groups: [{ filters: [{ field: "data.plan", operator: "equals", value: "pro" }] }],
        };
        const body = { name: "Pros", condition, trackMembership: true };
        await a.t.call("POST", "/segments", body);
        await a.t.app.segments.recompute();
        await a.t.call("POST", "/contacts", { email: "ada@example.net", data: { plan: "pro" } });
        await a.t.app.segments.recompute();
      },
    ],
    [
      "email.sent",
      async () => {
        const to = "ada@example.net";
        await a.t.call("POST", "/v1/send", { to, from: "x@acme.test", subject: "s", body: "b" });
        await a.t.deliver();
      },
    ],
  ])("is started by %s", async (event, cause) => {
    const id = await a.workflow(graph([trigger(event), step("end", "EXIT")], ["start>end"]));
    await cause();
    await a.settle();
    expect(await statuses(id)).toEqual(["EXITED"]);
  });
});

describe("a loop through events that workflows cause", () => {
  const toggle = (id: string, action: string) =>
    step(id, "UPDATE_CONTACT", { subscriptionAction: action });

  test("is stopped after 20 executions within an hour, reported once, and allowed again later", async () => {
    const loop = graph(
      [trigger("contact.subscribed"), toggle("off", "unsubscribe"), toggle("on", "subscribe")],
      ["start>off", "off>on"],
    );
    const id = await a.workflow(loop, { allowReentry: true });
    await a.t.call("POST", "/contacts", { email: "ada@example.net" });
    await a.settle();
    const execution = await a.executions(id);
    expect(execution).toHaveLength(21);
    expect(execution.slice(0, 20).every(({ status }) => status === "COMPLETED")).toBe(true);
    expect(execution[20]).toMatchObject({ status: "FAILED", steps: [] });
    expect(execution[20]?.error).toContain(
      '"contact.subscribed" started or continued this workflow 20 times',
    );
    // The loop is reported only once.
    await a.t.call("PATCH", `/contacts/${a.contactId()}`, { subscribed: false });
    await a.t.call("PATCH", `/contacts/${a.contactId()}`, { subscribed: true });
    await a.settle();
    expect(await a.executions(id)).toHaveLength(21);
    await a.advance(HOUR);
    await a.t.call("PATCH", `/contacts/${a.contactId()}`, { subscribed: false });
    await a.t.call("PATCH", `/contacts/${a.contactId()}`, { subscribed: true });
    await a.settle();
    expect((await a.executions(id)).length).toBeGreaterThan(21);
  });

  test("of two workflows that start each other is stopped", async () => {
    const flow = (event: string, action: string) =>
      a.workflow(graph([trigger(event), toggle("t", action)], ["start>t"]), { allowReentry: true });
    const first = await flow("contact.subscribed", "unsubscribe");
    const second = await flow("contact.unsubscribed", "subscribe");
    await a.t.call("POST", "/contacts", { email: "ada@example.net" });
    await a.settle();
    expect(await a.executions(first)).toHaveLength(21);
    expect(await a.executions(second)).toHaveLength(20);
  });

  test("of a workflow that waits for an event that it causes is stopped", async () => {
    const wait = step("wait", "WAIT_FOR_EVENT", { eventName: "contact.subscribed" });
    const loop = graph(
      [trigger(), toggle("off", "unsubscribe"), toggle("on", "subscribe"), wait],
      ["start>off", "off>on", "on>wait", "wait>off"],
    );
    const id = await a.workflow(loop);
    await a.track("signed-up");
    const execution = await a.only(id);
    expect(execution.status).toBe("FAILED");
    expect(execution.error).toContain("20 times within an hour");
    expect(execution.steps.filter((text) => text === "wait COMPLETED")).toHaveLength(20);
  });

  test("is not assumed for events that callers track", async () => {
    const id = await a.workflow(chain(step("end", "EXIT")), { allowReentry: true });
    for (let i = 0; i < 25; i++) await a.track("signed-up");
    expect(await statuses(id)).toHaveLength(25);
  });

  test("is not assumed for a cycle with a delay", async () => {
    const id = await a.workflow(
      graph(
        [trigger(), delay("wait", 1, "minutes"), toggle("off", "unsubscribe")],
        ["start>wait", "wait>off", "off>wait"],
      ),
    );
    await a.track("signed-up");
    for (let i = 0; i < 30; i++) await a.advance(MINUTE);
    const execution = await a.only(id);
    expect(execution.status).toBe("WAITING");
    expect(execution.steps).toHaveLength(61);
  });
});

test("a defect fails one execution and does not delay the others", async () => {
  const id = await a.workflow(chain(delay("wait", 1, "hours"), step("end", "EXIT")));
  await a.track("signed-up", {}, "ada@example.net");
  await a.track("signed-up", {}, "bob@example.net");
  // A state that the program never writes.
  const [broken] = await a.executions(id);
  a.t.db.sqlite.run("UPDATE workflow_executions SET current_step_id = 'nowhere' WHERE id = ?", [
    broken?.id ?? "",
  ]);
  await a.advance(HOUR);
  const [first, second] = await a.executions(id);
  expect(first).toMatchObject({ status: "FAILED" });
  expect(first?.error).toContain("not in its graph");
  expect(second).toMatchObject({ status: "EXITED" });
});
