/** Tests the effects and the failures of each type of step. */

import { beforeEach, describe, expect, test } from "bun:test";
import { simpleParser } from "mailparser";
import { type Automation, DAY, MINUTE, automationPerTest } from "../../support/automation.ts";
import { chain, delay, graph, step, trigger } from "./graphs.ts";
import { waitUntil } from "../../support/eventually.ts";
import { updateRows } from "../../support/project-per-test.ts";

let a: Automation;
const next = automationPerTest();
beforeEach(async () => {
  a = await next();
});

describe("SEND_EMAIL", () => {
  test("enqueues a mail with the data of contact and event, and stores its id with the step", async () => {
    const templateId = await a.template({
      type: "TRANSACTIONAL",
      subject: "{{ name }} ordered {{ order }}",
      body: "<p>{{ order }} for {{ name }}</p>",
    });
    const id = await a.workflow(chain(step("mail", "SEND_EMAIL", { templateId })));
    await a.t.call("POST", "/contacts", { email: "ada@example.net", data: { name: "Ada" } });
    await a.track("signed-up", { order: { value: "A-1", persistent: false } });
    const execution = await a.only(id);
    expect(execution).toMatchObject({
      status: "COMPLETED",
      currentStepId: null,
      context: { order: "A-1" },
      steps: ["start COMPLETED", "mail COMPLETED"],
    });
    await a.t.deliver();
    const emails = await a.t.call("GET", "/emails");
    const emailId = emails.text("data.items.0.id");
    expect(emails.at("data.items.0")).toMatchObject({
      to: "ada@example.net",
      subject: "Ada ordered A-1",
      status: "SENT",
      source: "WORKFLOW",
      templateId,
      workflowExecutionId: execution.id,
    });
    expect(execution.details[1]).toEqual({ emailId });
    const raw = (await a.t.call("GET", `/emails/${emailId}/raw`)).text("");
    expect((await simpleParser(raw)).html).toContain("A-1 for Ada");
  });

  test("waits for a subject that takes long, which a thread renders, and sends each mail once", async () => {
    const slow = "{% for i in (1..12000) %}{% assign x = i | times: 3 %}{% endfor %}";
    const templateId = await a.template({
      type: "TRANSACTIONAL",
      subject: `${slow}For {{ name }} {{ unsubscribeUrl | size }}`,
    });
    const id = await a.workflow(
      chain(
        step("mail", "SEND_EMAIL", { templateId }),
        step("again", "SEND_EMAIL", { templateId }),
      ),
    );
    await a.track("signed-up", { name: "Ada" });
    const waiting = await a.only(id);
    expect([waiting.status, waiting.currentStepId]).toEqual(["WAITING", "mail"]);
    expect(waiting.error).toBe("Its subject takes long, so it is rendered by a thread.");
    await waitUntil(() => a.mails().length === 2);
    await a.settle();
    expect((await a.only(id)).steps).toEqual([
      "start COMPLETED",
      "mail COMPLETED",
      "again COMPLETED",
    ]);
    const [first, second] = a.mails();
    expect(first).toMatch(/^ada@example\.net For Ada \d+$/);
    expect(second).toBe(first);
  });

  test("skips marketing mail to an unsubscribed contact and continues", async () => {
    const templateId = await a.template();
    const id = await a.workflow(
      chain(
        delay("wait", 1, "hours"),
        step("mail", "SEND_EMAIL", { templateId }),
        step("end", "EXIT"),
      ),
    );
    await a.track("signed-up");
    await a.t.call("PATCH", `/contacts/${a.contactId()}`, { subscribed: false });
    await a.advance(60 * MINUTE);
    expect(await a.only(id)).toMatchObject({
      status: "EXITED",
      steps: ["start COMPLETED", "wait COMPLETED", "mail SKIPPED", "end COMPLETED"],
      details: [null, null, { reason: "ada@example.net is not subscribed." }, null],
    });
    expect(a.mails()).toEqual([]);
  });

  test("stores a suppressed mail for a suppressed address and sends nothing", async () => {
    const templateId = await a.template();
    const id = await a.workflow(chain(step("mail", "SEND_EMAIL", { templateId })));
    await a.t.call("POST", "/suppressions", { email: "ada@example.net" });
    await a.track("signed-up");
    expect(await a.only(id)).toMatchObject({ status: "COMPLETED" });
    expect(a.mails()).toEqual(["ada@example.net Hello SUPPRESSED"]);
    expect(a.t.eventNames()).toContain("email.suppressed");
  });

  test("sends to a custom address with the contact's data", async () => {
    const templateId = await a.template({
      type: "TRANSACTIONAL",
      subject: "{{ contact.email }} is here: {{ plan }}",
    });
    const recipient = { type: "CUSTOM", email: "Team@acme.test" };
    await a.workflow(chain(step("mail", "SEND_EMAIL", { templateId, recipient })));
    await a.track("signed-up", { plan: "pro" });
    expect(a.mails()).toEqual(["team@acme.test ada@example.net is here: pro"]);
  });

  test.each([
    [
      "a template that was deleted",
      (templateId: string) => a.t.db.sqlite.run("DELETE FROM templates WHERE id = ?", [templateId]),
      "does not exist any more",
    ],
    [
      "a template without a sender",
      () => updateRows(a.t, "templates", "from_address = NULL"),
      "names no sender",
    ],
    [
      "a domain that was never verified",
      () => updateRows(a.t, "domains", "status = 'FAILED', verified_at = NULL"),
      "domain acme.test is not a verified domain",
    ],
    [
      "a subject that is empty for this contact",
      () => updateRows(a.t, "templates", "subject = '{{ nothing }}'"),
      "The subject is empty once it is rendered.",
    ],
  ])("fails with %s", async (_, spoil, error) => {
    const templateId = await a.template();
    const id = await a.workflow(
      chain(delay("wait"), step("mail", "SEND_EMAIL", { templateId }), step("end", "EXIT")),
    );
    await a.track("signed-up");
    spoil(templateId);
    await a.advance(2 * DAY);
    const execution = await a.only(id);
    expect(execution).toMatchObject({
      status: "FAILED",
      currentStepId: "mail",
      steps: ["start COMPLETED", "wait COMPLETED", "mail FAILED"],
    });
    expect(execution.error).toContain(error);
    expect(execution.details[2]).toEqual({ error: execution.error });
    expect(a.mails()).toEqual([]);
  });
});

describe("DELAY", () => {
  test("lasts from the start of the step, to the millisecond", async () => {
    const id = await a.workflow(chain(delay("first", 10, "minutes"), delay("second", 1, "hours")));
    await a.track("signed-up");
    expect(await a.only(id)).toMatchObject({ status: "WAITING", currentStepId: "first" });
    await a.advance(10 * MINUTE - 1);
    expect(await a.only(id)).toMatchObject({ currentStepId: "first" });
    await a.advance(1);
    expect(await a.only(id)).toMatchObject({ currentStepId: "second" });
    await a.advance(60 * MINUTE - 1);
    expect(await a.only(id)).toMatchObject({ currentStepId: "second" });
    await a.advance(1);
    expect(await a.only(id)).toMatchObject({ status: "COMPLETED", currentStepId: null });
  });

  test("ends the overdue delays of each contact in order after the clock jumped by a day", async () => {
    const sending = async (subject: string) =>
      step("mail", "SEND_EMAIL", {
        templateId: await a.template({ type: "TRANSACTIONAL", subject }),
      });
    await a.workflow(chain(delay("wait", 3, "hours"), await sending("three")));
    await a.workflow(chain(delay("wait", 1, "hours"), await sending("one")));
    await a.track("signed-up", {}, "ada@example.net");
    await a.advance(MINUTE);
    await a.track("signed-up", {}, "bob@example.net");
    await a.advance(DAY);
    for (const contact of ["ada@example.net", "bob@example.net"]) {
      const mails = a.mails().filter((mail) => mail.startsWith(contact));
      expect(mails.map((mail) => mail.split(" ")[1])).toEqual(["one", "three"]);
    }
  });
});

describe("CONDITION", () => {
  const yesNo = (config: Record<string, unknown>) =>
    graph(
      [
        trigger(),
        step("ask", "CONDITION", config),
        step("yes", "EXIT", { reason: "yes" }),
        step("no", "EXIT", { reason: "no" }),
      ],
      ["start>ask", "ask>yes:yes", "ask>no:no"],
    );

  test.each([
    [{ field: "data.plan", operator: "equals", value: "pro" }, "yes"],
    [{ field: "data.plan", operator: "equals", value: "free" }, "no"],
    [{ field: "context.amount", operator: "greaterThan", value: 10 }, "yes"],
    [{ field: "context.amount", operator: "greaterThan", value: "2026-01-31" }, "no"],
    [{ field: "context.missing", operator: "notEquals", value: 1 }, "no"],
    [{ field: "email", operator: "endsWith", value: "@EXAMPLE.net" }, "yes"],
    [{ field: "subscribed", operator: "equals", value: true }, "yes"],
    [{ field: "event.signed-up", operator: "triggeredWithin", value: 1, unit: "days" }, "yes"],
    [{ field: "email.opened", operator: "triggered" }, "no"],
    [{ field: "createdAt", operator: "olderThan", value: 1, unit: "days" }, "no"],
    [
      {
        condition: {
          logic: "OR",
          groups: [
            { filters: [{ field: "data.plan", operator: "equals", value: "free" }] },
            { filters: [{ field: "event.signed-up", operator: "triggered" }] },
          ],
        },
      },
      "yes",
    ],
  ])("%j chooses %s", async (config, branch) => {
    const id = await a.workflow(yesNo(config));
    await a.track("signed-up", { plan: "pro", amount: 11 });
    expect(await a.only(id)).toMatchObject({
      status: "EXITED",
      exitReason: branch,
      steps: ["start COMPLETED", `ask COMPLETED:${branch}`, `${branch} COMPLETED`],
    });
  });

  test("chooses the first of several branches that matches, otherwise default", async () => {
    const branches = [
      { id: "small", operator: "lessThan", value: 10 },
      { id: "medium", operator: "lessThan", value: 100 },
    ];
    const id = await a.workflow(
      graph(
        [
          trigger(),
          step("ask", "CONDITION", { mode: "multi", field: "context.amount", branches }),
          step("m", "EXIT", { reason: "medium" }),
          step("d", "EXIT", { reason: "default" }),
        ],
        ["start>ask", "ask>m:medium", "ask>d:default"],
      ),
    );
    await a.track("signed-up", { amount: 20 }, "ada@example.net");
    await a.track("signed-up", { amount: 200 }, "bob@example.net");
    await a.track("signed-up", { amount: 2 }, "eve@example.net");
    const execution = await a.executions(id);
    expect(execution.map(({ exitReason }) => exitReason)).toEqual(["medium", "default", null]);
    // A branch without a transition ends the execution.
    expect(execution[2]).toMatchObject({
      status: "COMPLETED",
      steps: ["start COMPLETED", "ask COMPLETED:small"],
    });
  });

  test("fails if its segment was deleted", async () => {
    const condition = {
      logic: "AND",
      groups: [{ filters: [{ field: "subscribed", operator: "equals", value: true }] }],
    };
    const segment = await a.t.create("/segments", { name: "All", condition }, "data.id");
    const id = await a.workflow(yesNo({ field: `segment.${segment}`, operator: "memberOf" }));
    await a.track("signed-up", {}, "ada@example.net");
    updateRows(a.t, "segments", "deleted_at = 1");
    await a.track("signed-up", {}, "bob@example.net");
    const [before, after] = await a.executions(id);
    expect(before).toMatchObject({ status: "EXITED", exitReason: "yes" });
    expect(after).toMatchObject({
      status: "FAILED",
      error: "config.field: names no segment of this project",
    });
  });
});

describe("UPDATE_CONTACT", () => {
  test("merges data and changes the subscription, and records the event", async () => {
    const updates = { plan: "pro", old: null };
    const id = await a.workflow(
      chain(step("set", "UPDATE_CONTACT", { updates, subscriptionAction: "unsubscribe" })),
    );
    await a.t.call("POST", "/contacts", { email: "ada@example.net", data: { old: 1, kept: true } });
    await a.track("signed-up");
    expect(await a.only(id)).toMatchObject({ status: "COMPLETED" });
    const contact = await a.t.call("GET", `/contacts/${a.contactId()}`);
    expect(contact.body).toMatchObject({ subscribed: false, data: { kept: true, plan: "pro" } });
    expect(a.t.eventNames()).toEqual(["contact.subscribed", "signed-up", "contact.unsubscribed"]);
  });

  test("fails if the data would be too large", async () => {
    const id = await a.workflow(
      chain(step("set", "UPDATE_CONTACT", { updates: { more: "x".repeat(40_000) } })),
    );
    await a.t.call("POST", "/contacts", {
      email: "ada@example.net",
      data: { much: "y".repeat(40_000) },
    });
    await a.track("signed-up");
    expect(await a.only(id)).toMatchObject({
      status: "FAILED",
      error: "data: must take at most 64 KiB as JSON",
    });
  });
});

test("EXIT ends the execution with its reason", async () => {
  const id = await a.workflow(chain(step("end", "EXIT", { reason: "Enough." })));
  await a.track("signed-up");
  expect(await a.only(id)).toMatchObject({ status: "EXITED", exitReason: "Enough.", error: null });
});

test("an event with too much data for the context fails the execution, and the error says so", async () => {
  const id = await a.workflow(chain(step("wait", "WAIT_FOR_EVENT", { eventName: "bought" })));
  const much = { value: "x".repeat(40_000), persistent: false };
  await a.track("signed-up", { first: much });
  await a.track("bought", { second: much });
  const execution = await a.only(id);
  expect(execution).toMatchObject({ status: "FAILED", currentStepId: "wait" });
  expect(execution.steps).toEqual(["start COMPLETED", "wait FAILED"]);
  expect(execution.error).toContain("64 KiB");
});

test("deleting a contact cancels its executions and deletes their data", async () => {
  const id = await a.workflow(chain(step("wait", "WAIT_FOR_EVENT", { eventName: "bought" })));
  await a.track("signed-up", { secret: "rosebud" });
  await a.t.call("DELETE", `/contacts/${a.contactId()}`);
  await a.settle();
  expect(await a.only(id)).toMatchObject({
    status: "CANCELLED",
    contactId: null,
    exitReason: "The contact was deleted.",
    context: {},
  });
  expect(JSON.stringify(a.t.contents()["workflow_executions"])).not.toContain("rosebud");
  await a.advance(DAY);
  expect(await a.only(id)).toMatchObject({ status: "CANCELLED" });
});
