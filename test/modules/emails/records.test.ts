/** `GET /emails`, `GET /emails/{id}` and `GET /emails/{id}/raw`. */

import { beforeEach, describe, expect, test } from "bun:test";
import { simpleParser } from "mailparser";
import type { Outcome } from "../../../src/outbox/outcome.ts";
import { addSuppression } from "../../../src/modules/suppressions.ts";
import { type TestApp, testApp } from "../../support/app.ts";
import { valueAt, listAt } from "../../support/json.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { expectError } from "../../support/refusal.ts";
import { ACCEPTED, DEFERRED, testTransport } from "../../support/transport.ts";

/** Nothing is sent here, because no test starts this application. */
const projects = projectPerTest();
/** The mails of this application get the outcome that a test sets. */
const transport = testTransport({ answer: ACCEPTED });
const sending = projectPerTest({ transport });
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
  transport.answer = ACCEPTED;
});

const now = (app = t) => new Date(app.clock.now()).toISOString();
const mail = { to: "ada@example.com", from: "a@acme.test", subject: "Hi", body: "<p>Hi</p>" };
const send = (fields: object = {}, app = t) =>
  app.create("/v1/send", { ...mail, ...fields }, "data.emails.0.email");
const get = async (id: string, app = t) => (await app.call("GET", `/emails/${id}`)).at("data");

const nothingYet = {
  sentAt: null,
  deliveredAt: null,
  openedAt: null,
  clickedAt: null,
  bouncedAt: null,
  complainedAt: null,
  lastError: null,
};

describe("an email record", () => {
  test("has every field, null if it has no value yet", async () => {
    const id = await send();
    const contactId = (await t.call("GET", "/contacts")).at("contacts.0.id");
    expect(await get(id)).toEqual({
      id,
      contactId,
      to: "ada@example.com",
      recipientType: "TO",
      tags: {},
      scheduledAt: null,
      addressees: null,
      from: "a@acme.test",
      subject: "Hi",
      status: "QUEUED",
      source: "TRANSACTIONAL",
      templateId: null,
      campaignId: null,
      type: "TRANSACTIONAL",
      workflowExecutionId: null,
      messageId: `<${id}@acme.test>`,
      createdAt: now(),
      ...nothingYet,
      nextAttemptAt: now(),
      wait: { cause: "QUEUE", name: null, reason: null, until: now() },
      attempts: [],
      reports: [],
    });
  });

  test("shows status, time, reason, attempt and event of each outcome", async () => {
    const at = now(await sending.next());
    const outcomes: [outcome: Outcome, record: object, events: string[]][] = [
      [ACCEPTED, { status: "SENT", sentAt: at }, ["email.sent"]],
      [
        { kind: "accepted", class: "accepted", reason: "250 ok", final: true, conversations: [] },
        { status: "DELIVERED", sentAt: at, deliveredAt: at },
        ["email.sent", "email.delivered"],
      ],
      [
        { kind: "bounced", class: "no_such_recipient", reason: "550 5.1.1 no", conversations: [] },
        { status: "BOUNCED", bouncedAt: at, lastError: "550 5.1.1 no" },
        ["email.bounced"],
      ],
      [
        { kind: "failed", class: "content", reason: "554 no", conversations: [] },
        { status: "FAILED", lastError: "554 no" },
        ["email.failed"],
      ],
      [DEFERRED, { status: "QUEUED", lastError: "451 later" }, []],
    ];
    for (const [outcome, record, events] of outcomes) {
      transport.answer = outcome;
      const own = await sending.next();
      const id = await send({}, own);
      await own.deliver();
      const found = await get(id, own);
      const isDeferred = outcome.kind === "deferred";
      const attempt = {
        number: 1,
        startedAt: at,
        durationMs: expect.any(Number),
        outcome: outcome.kind,
        class: outcome.class,
        conversations: [],
      };
      expect(found).toMatchObject({ ...nothingYet, ...record, attempts: [attempt] });
      expect(own.eventNames()).toEqual(events);
      expect(valueAt(found, "nextAttemptAt") !== null).toBe(isDeferred);
    }
  });

  test("shows the steps of the SMTP conversation", async () => {
    const conversation = {
      host: "mx.example.com",
      address: "192.0.2.1",
      port: 25,
      tls: { version: "TLSv1.3", cipher: "TLS_AES_128_GCM_SHA256", verified: true },
      reused: false,
      steps: [
        {
          step: "mail",
          command: "MAIL FROM:<a@acme.test>",
          code: 250,
          enhanced: "2.1.0",
          text: "ok",
          ms: 3,
        },
      ],
    } satisfies Outcome["conversations"][number];
    transport.answer = { ...ACCEPTED, conversations: [conversation] };
    const own = await sending.next();
    const id = await send({}, own);
    await own.deliver();
    expect(valueAt(await get(id, own), "attempts.0.conversations")).toEqual([conversation]);
  });
});

describe("GET /emails", () => {
  test("returns the emails that the filters match, newest first, and counts them", async () => {
    t = await sending.next();
    const list = async (query = "") => {
      const answer = await t.call("GET", `/emails${query}`);
      return {
        ids: listAt(answer.body, "data.items").map((item) => valueAt(item, "id")),
        total: answer.at("data.total"),
      };
    };
    addSuppression(t.app.app, t.project.seq, "bad@example.com", { reason: "MANUAL", at: 0 });
    const sent = await send();
    await t.deliver();
    transport.answer = DEFERRED;
    const suppressed = await send({ to: "bad@example.com" });
    const queued = await send();
    await t.deliver();
    expect(await list()).toEqual({ ids: [queued, suppressed, sent], total: 3 });
    const { body } = await t.call("GET", "/emails");
    expect(valueAt(body, "data.items.2")).toEqual(await get(sent));
    const contactId = String(valueAt(await get(sent), "contactId"));
    expect(await list("?status=SENT")).toEqual({ ids: [sent], total: 1 });
    expect(await list("?status=SUPPRESSED")).toEqual({ ids: [suppressed], total: 1 });
    expect(await list(`?contactId=${contactId}`)).toEqual({ ids: [queued, sent], total: 2 });
    expect(await list(`?contactId=${contactId}&status=QUEUED`)).toEqual({
      ids: [queued],
      total: 1,
    });
    expect(await list(`?contactId=${contactId}&limit=1`)).toEqual({ ids: [queued], total: 2 });
    expect(await list("?status=BOUNCED")).toEqual({ ids: [], total: 0 });
    expect(await list("?contactId=nobody")).toEqual({ ids: [], total: 0 });
  });
});

describe("GET /emails/{id}/raw", () => {
  test("returns the bytes that the transport was given", async () => {
    t = await testApp();
    const id = await send({
      to: { name: "Ada Lövelace", email: "ada@example.com" },
      from: { name: "Acme, Inc.", email: "a@acme.test" },
      subject: "Grüße, {{ name }} 😀",
      body: "<p>Hello {{ name }}</p>",
      reply: "r@acme.test",
      data: { name: "Ada" },
      headers: { "X-Order": "7" },
      attachments: [{ filename: "a.txt", content: btoa("hello") }],
    });
    await t.deliver();
    const response = await t.app.handle(
      new Request(`http://localhost/emails/${id}/raw`, {
        headers: { authorization: `Bearer ${t.secretKey}` },
      }),
    );
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("message/rfc822");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("content-security-policy")).toBe("sandbox");
    const bytes = Buffer.from(await response.arrayBuffer());
    const stored = t.db.sqlite
      .query<{ raw: Uint8Array }, []>("SELECT raw FROM captured_messages")
      .get();
    expect(bytes.equals(stored?.raw ?? new Uint8Array())).toBe(true);
    expect(bytes.toString("latin1")).not.toMatch(/[^\r]\n|\r[^\n]/);

    const parsed = await simpleParser(bytes);
    expect(parsed.to).toMatchObject({
      value: [{ address: "ada@example.com", name: "Ada Lövelace" }],
    });
    expect(parsed.from?.value).toEqual([{ address: "a@acme.test", name: "Acme, Inc." }]);
    expect(parsed.replyTo?.value[0]?.address).toBe("r@acme.test");
    expect(parsed.subject).toBe("Grüße, Ada 😀");
    expect(parsed.html).toBe("<p>Hello Ada</p>");
    expect(parsed.text?.trim()).toBe("Hello Ada");
    expect(parsed.messageId).toBe(`<${id}@acme.test>`);
    expect(parsed.date?.toISOString()).toBe(now());
    expect(parsed.headers.get("x-order")).toBe("7");
    expect(parsed.attachments.map((a) => [a.filename, a.content.toString()])).toEqual([
      ["a.txt", "hello"],
    ]);
    await t.close();
  });

  test("is 404 before the mail was sent, and with a transport that stores no messages", async () => {
    const id = await send();
    expectError(await t.call("GET", `/emails/${id}/raw`), {
      status: 404,
      code: "EMAIL_NOT_FOUND",
    });
    const own = await sending.next();
    const sent = await send({}, own);
    await own.deliver();
    expectError(await own.call("GET", `/emails/${sent}/raw`), {
      status: 404,
      code: "EMAIL_NOT_FOUND",
    });
  });
});
