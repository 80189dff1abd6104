/** Placeholders for keys of the data, in each request and job that renders a template. */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type ParsedMail, simpleParser } from "mailparser";
import { type Automation, automationPerTest } from "../support/automation.ts";
import { settleEventLoop } from "../support/eventually.ts";
import { startWebServer, type WebServer } from "../support/web-server.ts";
import { chain, step } from "./workflows/graphs.ts";

const nextAutomation = automationPerTest();
let a: Automation;
let server: WebServer;
beforeEach(async () => {
  server = await startWebServer();
  a = await nextAutomation();
});
afterEach(() => server.close());

const SUBJECT = "{{ First Name ?? friend }} {{ a.b }} {{ Plan Name }}";
const BODY = `<p>{{&nbsp;First Name&nbsp;}} {{ R&amp;D }} {{ Mother&#39;s Name }} {{ a.b }}
  {{ Plan Name ?? plan ?? &quot;none&quot; }} {{ plunk_email }} [{{ Unknown Key }}]</p>`;
const DATA = { "First Name": "Ada <3", "R&D": "x", "Mother's Name": "Eve", "a.b": 7 };
const HTML = "Ada &lt;3 x Eve 7";

const template = (rest: object = {}) =>
  a.template({ subject: SUBJECT, body: BODY, type: "TRANSACTIONAL", ...rest });
const contact = (data: object = DATA) =>
  a.t.create("/contacts", { email: "ada@example.net", data }, "id");

async function lastMail(): Promise<ParsedMail> {
  await a.t.deliver();
  const row = a.t.db.sqlite
    .query<{ raw: Uint8Array }, []>(
      "SELECT raw FROM captured_messages ORDER BY email_seq DESC LIMIT 1",
    )
    .get();
  return simpleParser(Buffer.from(row?.raw ?? []), { skipTextToHtml: true });
}

async function expectMail(subject: string, rest: string): Promise<void> {
  const mail = await lastMail();
  expect(mail.subject?.trimEnd()).toBe(subject);
  expect(String(mail.html)).toContain(`<p>${HTML}\n  ${rest}`);
}

describe("placeholders render the keys", () => {
  test("of a request with a stored template, and of its contact", async () => {
    await contact();
    const body = { to: "ada@example.net", template: await template() };
    expect((await a.t.call("POST", "/v1/send", { ...body, data: {} })).status).toBe(200);
    await expectMail("Ada <3 7", "none ada@example.net []</p>");
    const data = { "Plan Name": "Pro", "a.b": 8 };
    expect((await a.t.call("POST", "/v1/send", { ...body, data })).status).toBe(200);
    const mail = await lastMail();
    expect(mail.subject).toBe("Ada <3 8 Pro");
  });

  test("of a request with its own body", async () => {
    const request = { to: "ada@example.net", from: "news@acme.test", subject: SUBJECT, body: BODY };
    expect((await a.t.call("POST", "/v1/send", { ...request, data: DATA })).status).toBe(200);
    await expectMail("Ada <3 7", "none ada@example.net []</p>");
  });

  test("of a preview", async () => {
    const id = await template();
    const contactId = await contact();
    const data = { plan: "Pro" };
    const answer = await a.t.call("POST", `/templates/${id}/preview`, { contactId, data });
    expect(answer.at("data.subject")).toBe("Ada <3 7 ");
    expect(answer.text("data.html")).toContain(`${HTML}\n  Pro ada@example.net []`);
  });

  test("of an event, in the mail of a workflow", async () => {
    const templateId = await template();
    await a.workflow(chain(step("mail", "SEND_EMAIL", { templateId })));
    await a.track("signed-up", { ...DATA, "Plan Name": { value: "Pro", persistent: false } });
    await expectMail("Ada <3 7 Pro", "Pro ada@example.net []</p>");
  });

  test("of the contact, in the mails and test mails of a campaign", async () => {
    await contact();
    const campaign = await a.t.create(
      "/campaigns",
      { name: "C", subject: SUBJECT, body: BODY, from: "news@acme.test", audienceType: "ALL" },
      "data.id",
    );
    const email = "ada@example.net";
    expect((await a.t.call("POST", `/campaigns/${campaign}/test`, { email })).status).toBeLessThan(
      300,
    );
    await expectMail("[TEST] Ada <3 7", "none ada@example.net []</p>");
    expect((await a.t.call("POST", `/campaigns/${campaign}/send`, {})).status).toBe(204);
    for (let i = 0; i < 5; i++) {
      await a.t.app.campaigns.tick();
      await settleEventLoop();
    }
    await expectMail("Ada <3 7", "none ada@example.net []</p>");
  });

  test("of the event and the contact, in a WEBHOOK step", async () => {
    await contact();
    const body = { who: "{{ First Name }}", plan: "{{ Plan Name ?? none }}", id: "{{ plunk_id }}" };
    const url = `${server.origin}/{{ a.b }}/{{ context.Plan Name }}/{{ event.data.a.c }}`;
    const headers = { "x-plan": "{{&nbsp;Plan Name&nbsp;}}" };
    await a.workflow(chain(step("call", "WEBHOOK", { url, method: "POST", body, headers })));
    await a.track("signed-up", { "Plan Name": "Pro", "a.c": 9 });
    const [request] = server.requests;
    expect(request?.path).toBe("/7/Pro/9");
    expect(request?.headers["x-plan"]).toBe("Pro");
    expect(JSON.parse(request?.body ?? "")).toEqual({
      who: "Ada <3",
      plan: "Pro",
      id: a.contactId(),
    });
  });
});

describe("keys of a contact do not replace variables", () => {
  const data = {
    "order.total": "0",
    "project.name": "evil",
    "data.name": "evil",
    "contact.email": "evil",
    "email.x": "evil",
    plunk_id: "evil",
    own: { "a.b": 1 },
    "own.c": 2,
  };

  test("of a request and of the service", async () => {
    await contact(data);
    const answer = await a.t.call("POST", "/v1/send", {
      to: "ada@example.net",
      from: "news@acme.test",
      subject: "{{ order.total }} {{ project.name }} [{{ data.name }}{{ email.x }}] {{ plunk_id }}",
      body: "<p>{{ own.a.b }} {{ own.c }} {{ data.order.total }}</p>",
      data: { order: { total: 5 } },
    });
    expect(answer.status).toBe(200);
    const mail = await lastMail();
    expect(mail.subject).toBe(`5 acme [] ${a.contactId()}`);
    expect(String(mail.html)).toContain("<p>1 2 5</p>");
  });

  test("of a webhook's response, if an event has a key with its name", async () => {
    server.answer = () => ({
      headers: { "content-type": "application/json" },
      body: '{"id":"good"}',
    });
    const url = `${server.origin}/{{ context.webhook.id }}/{{ webhook.id }}`;
    const ask = step("ask", "WEBHOOK", { url: server.origin, method: "GET" });
    await a.workflow(chain(ask, step("call", "WEBHOOK", { url, method: "GET" })));
    await a.track("signed-up", { "webhook.id": "evil" });
    expect(server.requests.map(({ path }) => path)).toEqual(["/", "/good/good"]);
  });

  test("of an event, in a WEBHOOK step", async () => {
    await contact(data);
    const url = `${server.origin}/{{ contact.email }}/{{ order.total }}`;
    await a.workflow(chain(step("call", "WEBHOOK", { url, method: "GET" })));
    await a.track("signed-up", { order: { total: 5 } });
    expect(server.requests[0]?.path).toContain("/ada");
    expect(server.requests[0]?.path).toEndWith("example.net/5");
  });
});

test("POST /templates reports syntax errors in Liquid, but accepts unknown keys", async () => {
  const answer = await a.t.call("POST", "/templates", {
    name: "T",
    type: "MARKETING",
    subject: "{{ First Name | upcas }}",
    body: "<p>{{ Some Key (new) }}</p>\n{% if %}",
  });
  expect(answer.status).toBe(422);
  expect(answer.at("error.errors.0")).toMatchObject({
    field: "subject",
    message: "has a syntax error in line 1, column 1: undefined filter: upcas",
  });
  expect(answer.at("error.errors.1")).toMatchObject({
    field: "body",
    message: expect.stringContaining("line 2, column 6"),
  });
});
