/** Who starts, who does not, and who is stopped. */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type Automation, HOUR, MINUTE, startAutomation } from "../../support/automation.ts";
import { chain, delay, graph, step, trigger } from "./graphs.ts";

let a: Automation;
beforeEach(async () => {
  a = await startAutomation();
});
afterEach(() => a.close());

const statuses = async (id: string) => (await a.executions(id)).map(({ status }) => status);

describe("re-entry", () => {
  test("off: one execution per contact ever", async () => {
    const id = await a.workflow(chain(step("end", "EXIT")));
    await a.track("signed-up");
    await a.track("signed-up");
    await a.track("signed-up", {}, "bob@example.net");
    expect(await statuses(id)).toEqual(["EXITED", "EXITED"]);
  });

  test("on: one at a time", async () => {
    const id = await a.workflow(chain(delay("wait", 1, "hours")), { allowReentry: true });
    await a.track("signed-up");
    await a.track("signed-up");
    expect(await statuses(id)).toEqual(["WAITING"]);
    await a.advance(HOUR);
    await a.track("signed-up");
    expect(await statuses(id)).toEqual(["COMPLETED", "WAITING"]);
  });

  test("an event that ends an execution may start the next", async () => {
    const again = step("wait", "WAIT_FOR_EVENT", { eventName: "signed-up" });
    const id = await a.workflow(chain(again), { allowReentry: true });
    for (let i = 0; i < 3; i++) await a.track("signed-up");
    expect(await statuses(id)).toEqual(["COMPLETED", "COMPLETED", "WAITING"]);
  });
});

describe("what a workflow goes by", () => {
  test("disabled, it starts nothing more; what is under way goes on", async () => {
    const id = await a.workflow(chain(delay("wait", 1, "hours")));
    await a.track("signed-up");
    await a.t.call("PATCH", `/workflows/${id}`, { enabled: false });
    await a.track("signed-up", {}, "bob@example.net");
    expect(await statuses(id)).toEqual(["WAITING"]);
    await a.advance(HOUR);
    expect(await statuses(id)).toEqual(["COMPLETED"]);
  });

  test("changed, executions continue on the version that they started with", async () => {
    const id = await a.workflow(
      chain(delay("wait", 1, "hours"), step("a", "EXIT", { reason: "old" })),
    );
    await a.track("signed-up");
    await a.t.call("PATCH", `/workflows/${id}`, chain(step("b", "EXIT", { reason: "new" })));
    await a.track("signed-up", {}, "bob@example.net");
    expect(a.t.countRows("workflow_versions")).toBe(2);
    await a.advance(HOUR);
    const walked = await a.executions(id);
    expect(walked.map(({ exitReason }) => exitReason)).toEqual(["old", "new"]);
    // Once nobody is on it, the old version goes.
    expect(a.t.countRows("workflow_versions")).toBe(1);
  });

  test("events from before it was there start nothing", async () => {
    await a.track("signed-up");
    const id = await a.workflow(chain(step("end", "EXIT")));
    await a.track("other");
    expect(await statuses(id)).toEqual([]);
  });

  test("of another project's events it knows nothing", async () => {
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
  ])("starts by %s", async (event, cause) => {
    const id = await a.workflow(graph([trigger(event), step("end", "EXIT")], ["start>end"]));
    await cause();
    await a.settle();
    expect(await statuses(id)).toEqual(["EXITED"]);
  });
});

describe("loops through events of its own", () => {
  const toggle = (id: string, action: string) =>
    step(id, "UPDATE_CONTACT", { subscriptionAction: action });

  test("a workflow that starts itself stops after 20 rounds, says why, and may again later", async () => {
    const loop = graph(
      [trigger("contact.subscribed"), toggle("off", "unsubscribe"), toggle("on", "subscribe")],
      ["start>off", "off>on"],
    );
    const id = await a.workflow(loop, { allowReentry: true });
    await a.t.call("POST", "/contacts", { email: "ada@example.net" });
    await a.settle();
    const walked = await a.executions(id);
    expect(walked).toHaveLength(21);
    expect(walked.slice(0, 20).every(({ status }) => status === "COMPLETED")).toBe(true);
    expect(walked[20]).toMatchObject({ status: "FAILED", steps: [] });
    expect(walked[20]?.error).toContain(
      '"contact.subscribed" started or continued this workflow 20 times',
    );
    // Told once.
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

  test("two that start each other stop as well", async () => {
    const flow = (event: string, action: string) =>
      a.workflow(graph([trigger(event), toggle("t", action)], ["start>t"]), { allowReentry: true });
    const first = await flow("contact.subscribed", "unsubscribe");
    const second = await flow("contact.unsubscribed", "subscribe");
    await a.t.call("POST", "/contacts", { email: "ada@example.net" });
    await a.settle();
    expect(await a.executions(first)).toHaveLength(21);
    expect(await a.executions(second)).toHaveLength(20);
  });

  test("so does one that waits for what it causes", async () => {
    const wait = step("wait", "WAIT_FOR_EVENT", { eventName: "contact.subscribed" });
    const loop = graph(
      [trigger(), toggle("off", "unsubscribe"), toggle("on", "subscribe"), wait],
      ["start>off", "off>on", "on>wait", "wait>off"],
    );
    const id = await a.workflow(loop);
    await a.track("signed-up");
    const walked = await a.only(id);
    expect(walked.status).toBe("FAILED");
    expect(walked.error).toContain("20 times within an hour");
    expect(walked.steps.filter((text) => text === "wait COMPLETED")).toHaveLength(20);
  });

  test("what callers track may happen as often as they like", async () => {
    const id = await a.workflow(chain(step("end", "EXIT")), { allowReentry: true });
    for (let i = 0; i < 25; i++) await a.track("signed-up");
    expect(await statuses(id)).toHaveLength(25);
  });

  test("a round with a delay in it is no fault", async () => {
    const id = await a.workflow(
      graph(
        [trigger(), delay("wait", 1, "minutes"), toggle("off", "unsubscribe")],
        ["start>wait", "wait>off", "off>wait"],
      ),
    );
    await a.track("signed-up");
    for (let i = 0; i < 30; i++) await a.advance(MINUTE);
    const walked = await a.only(id);
    expect(walked.status).toBe("WAITING");
    expect(walked.steps).toHaveLength(61);
  });
});

test("a fault of ours fails one execution, is logged, and holds up nobody", async () => {
  const id = await a.workflow(chain(delay("wait", 1, "hours"), step("end", "EXIT")));
  await a.track("signed-up", {}, "ada@example.net");
  await a.track("signed-up", {}, "bob@example.net");
  // As nothing of ours writes it.
  a.t.db.sqlite.run("UPDATE workflow_executions SET current_step_id = 'nowhere' WHERE seq = 1");
  await a.advance(HOUR);
  const [first, second] = await a.executions(id);
  expect(first).toMatchObject({ status: "FAILED" });
  expect(first?.error).toContain("not in its graph");
  expect(second).toMatchObject({ status: "EXITED" });
});
