/**
 * The default sender of a project, which is used if neither request nor template names a sender.
 */

import { beforeEach, describe, expect, test } from "bun:test";
import { simpleParser } from "mailparser";
import { changeProject } from "../../../src/modules/projects.ts";
import type { TestApp } from "../../support/app.ts";
import { automationPerTest } from "../../support/automation.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { expectError } from "../../support/refusal.ts";
import { chain, step } from "../workflows/graphs.ts";
import { inboxParts } from "../../support/inbox-parts.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const SHOP = { address: "orders@acme.test", name: "Shop" };
const mail = { to: "ada@example.com", subject: "Hi", body: "<p>Hi</p>" };
const TEMPLATE = { name: "t", subject: "s", body: "b", type: "TRANSACTIONAL" };

function setSender(sender: { address: string; name: string | null } | null, app = t) {
  return app.app.writer.write(() => void changeProject(app.app.app, app.project, { sender }));
}

/** Sends a mail and returns its From header. */
async function fromOf(fields: object): Promise<string | undefined> {
  const id = await t.create("/v1/send", { ...mail, ...fields }, "data.emails.0.email");
  await t.deliver();
  const { body } = await t.call("GET", `/emails/${id}/raw`);
  return (await simpleParser(String(body))).from?.text;
}

describe("POST /v1/send", () => {
  beforeEach(() => setSender(SHOP));

  test("uses the default sender without a sender in the request or the template", async () => {
    const template = (fields: object) =>
      t.create("/templates", { ...TEMPLATE, ...fields }, "data.id");
    const cases: [fields: object, from: string][] = [
      [{}, '"Shop" <orders@acme.test>'],
      [{ name: "Returns" }, '"Returns" <orders@acme.test>'],
      [{ from: "a@acme.test" }, "a@acme.test"],
      [{ from: { email: "a@acme.test", name: "A" } }, '"A" <a@acme.test>'],
      [{ template: await template({ from: "t@acme.test" }) }, "t@acme.test"],
      [{ template: await template({ fromName: "News" }) }, '"News" <orders@acme.test>'],
    ];
    for (const [fields, from] of cases) {
      expect([fields, await fromOf(fields)]).toEqual([fields, from]);
    }
    await setSender({ ...SHOP, name: null });
    expect(await fromOf({})).toBe("orders@acme.test");
  });

  test("refuses a default sender whose domain is not verified, and stores nothing", async () => {
    await setSender({ ...SHOP, address: "orders@elsewhere.test" });
    await inboxParts(t.app.app).indexer.caughtUp(); // It changes rows after mail was captured.
    const before = t.contents();
    const answer = await t.call("POST", "/v1/send", mail);
    expectError(answer, { status: 403, code: "DOMAIN_NOT_VERIFIED" });
    expect(t.contents()).toEqual(before);
    expect(t.eventNames()).toEqual([]);
  });

  test("does not use the default sender of another project", async () => {
    const { secretKey: key } = await t.makeProject("other");
    const answer = await t.call("POST", "/v1/send", mail, { key });
    const errors = [["from", "required"]] as const;
    expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors });
  });

  test("requires a sender again once the default sender is removed", async () => {
    await setSender(null);
    const errors = [["from", "required"]] as const;
    for (const fields of [{}, { template: await t.create("/templates", TEMPLATE, "data.id") }]) {
      const answer = await t.call("POST", "/v1/send", { ...mail, ...fields });
      expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors });
    }
  });

  test("reports a missing sender with other errors only without a default sender", async () => {
    const faulty = { to: "ada@example.com", subject: 5, body: "b" };
    const sendFaulty = async () => t.call("POST", "/v1/send", faulty);
    expectError(await sendFaulty(), {
      status: 422,
      code: "VALIDATION_ERROR",
      errors: [["subject", "invalid_type"]],
    });
    await setSender(null);
    expectError(await sendFaulty(), {
      status: 422,
      code: "VALIDATION_ERROR",
      errors: [
        ["subject", "invalid_type"],
        ["from", "required"],
      ],
    });
  });
});

describe("the domain of the default sender", () => {
  test("is not removed while it is in use", async () => {
    await setSender({ address: "orders@shop.test", name: null });
    const id = await t.create("/domains", { domain: "shop.test" }, "data.id");
    const refused = await t.call("DELETE", `/domains/${id}`);
    expectError(refused, { status: 409, code: "CONFLICT" });
    expect(refused.text("error.message")).toContain("the default sender of the project");
    await setSender(null);
    expect((await t.call("DELETE", `/domains/${id}`)).status).toBe(204);
  });
});

describe("SEND_EMAIL with a template that names no sender", () => {
  const nextAutomation = automationPerTest();
  async function executeWorkflow(sender: { address: string; name: string | null } | null) {
    const a = await nextAutomation();
    await setSender(sender, a.t);
    const templateId = await a.template({ from: null, type: "TRANSACTIONAL" });
    const id = await a.workflow(chain(step("mail", "SEND_EMAIL", { templateId })));
    await a.track("signed-up");
    const only = await a.only(id);
    await a.t.deliver();
    const from = (await a.t.call("GET", "/emails")).at("data.items.0.from");
    const names = a.t.eventNames();
    return { status: only.status, error: only.error, from, names };
  }

  test("uses the default sender", async () => {
    const { status, from, names } = await executeWorkflow(SHOP);
    expect([status, from]).toEqual(["COMPLETED", "orders@acme.test"]);
    expect(names).toEqual(["contact.subscribed", "signed-up", "email.sent"]);
  });

  test("fails without a default sender or with one whose domain is not verified", async () => {
    expect(await executeWorkflow(null)).toMatchObject({
      status: "FAILED",
      error: 'The template "Hello" names no sender, and its project has no default sender.',
      from: undefined,
    });
    const { status, error } = await executeWorkflow({ address: "a@elsewhere.test", name: null });
    expect(status).toBe("FAILED");
    expect(error).toContain("elsewhere.test");
  });
});
