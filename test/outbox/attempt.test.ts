import { afterEach, describe, expect, test } from "bun:test";
import { simpleParser } from "mailparser";
import { captureTransport } from "../../src/outbox/transports/capture.ts";
import { parseRelayUrl } from "../../src/protocols/smtp/relay-url.ts";
import { addDomain, testApp, type TestApp } from "../support/app.ts";
import { withoutSignatures } from "../support/dkim.ts";
import { waitUntil, settleEventLoop } from "../support/eventually.ts";
import { ACCEPTED, DEFERRED, testTransport } from "../support/transport.ts";

const HOUR = 60 * 60_000;

const apps: TestApp[] = [];

afterEach(async () => {
  for (const t of apps.splice(0)) await t.close();
});

/** An application that accepts mail, but sends it only when `t.deliver()` is called. */
async function setUp(answer = ACCEPTED) {
  const transport = testTransport({ answer });
  const t = await testApp({ transport });
  apps.push(t);
  const run = (sql: string, ...values: (string | number)[]) => t.db.sqlite.run(sql, values);

  return {
    t,
    transport,
    run,

    /** Accepts a mail and returns the id of its email record. */
    send: (body: object = {}) =>
      t.create(
        "/v1/send",
        {
          to: "ada@example.net",
          from: "hello@acme.test",
          subject: "Hi",
          body: "<p>Hello {{ name }}</p>",
          ...body,
        },
        "emails.0.email",
      ),

    marketingTemplate: () =>
      t.create(
        "/templates",
        {
          name: "News",
          type: "MARKETING",
          subject: "News",
          body: "<p>News</p>",
          from: "news@acme.test",
        },
        "data.id",
      ),

    async email(id: string) {
      const answer = await t.call("GET", `/emails/${id}`);
      return {
        status: answer.text("data.status"),
        lastError: answer.at("data.lastError"),
        attempts: answer.at("data.attempts"),
        nextAttemptAt: answer.at("data.nextAttemptAt"),
      };
    },

    /** Advances the clock to the next attempt and waits for its end. */
    async retry(id: string): Promise<void> {
      const next = Date.parse((await t.call("GET", `/emails/${id}`)).text("data.nextAttemptAt"));
      t.clock.advance(next - t.clock.now());
      await t.deliver();
    },
  };
}

describe("mail that must no longer be sent", () => {
  test("is SUPPRESSED if its address was suppressed after acceptance", async () => {
    const { t, transport, run, send, email } = await setUp();
    const id = await send();
    run(
      "INSERT INTO suppressions (project_seq, email, reason, created_at) VALUES (1, 'ada@example.net', 'COMPLAINT', 0)",
    );
    await t.deliver();
    expect(await email(id)).toEqual({
      status: "SUPPRESSED",
      lastError: "COMPLAINT",
      attempts: [],
      nextAttemptAt: null,
    });
    expect(t.eventNames()).toContain("email.suppressed");
    expect(transport.handed).toHaveLength(0);
  });

  test("is CANCELLED if it is marketing and the recipient has unsubscribed", async () => {
    const { t, transport, send, marketingTemplate, email } = await setUp();
    const template = await marketingTemplate();
    const sent = await send({ template, to: "grace@example.net", subscribed: true });
    const cancelled = await send({ template, subscribed: true });
    const contact = (await t.call("GET", "/contacts?search=ada")).text("contacts.0.id");
    await t.call("PATCH", `/contacts/${contact}`, { subscribed: false });
    await t.deliver();
    expect(await email(cancelled)).toEqual({
      status: "CANCELLED",
      lastError: "The recipient is not subscribed any more.",
      attempts: [],
      nextAttemptAt: null,
    });
    expect((await email(sent)).status).toBe("SENT");
    expect(transport.handed).toHaveLength(1);
  });

  test("does not include transactional mail to an unsubscribed contact", async () => {
    const { t, send, email } = await setUp();
    const id = await send({ subscribed: false });
    await t.deliver();
    expect((await email(id)).status).toBe("SENT");
  });

  test("is CANCELLED if its contact was deleted during an attempt that failed", async () => {
    const { t, transport, send, email } = await setUp();
    transport.answer = null;
    const id = await send();
    await t.app.start();
    await waitUntil(() => transport.open().length === 1);
    const contact = (await t.call("GET", "/contacts")).text("contacts.0.id");
    await t.call("DELETE", `/contacts/${contact}`);
    transport.open()[0]?.end(DEFERRED);
    await waitUntil(() => transport.open().length === 0);
    await settleEventLoop();
    t.clock.advance(HOUR);
    await settleEventLoop();
    expect(await email(id)).toMatchObject({ status: "CANCELLED", nextAttemptAt: null });
    expect(transport.handed).toHaveLength(1);
  });
});

describe("mail that needs the operator", () => {
  const cases = [
    {
      name: "while the sender's domain is no longer verified",
      fault: "UPDATE domains SET status = 'FAILED'",
      fix: "UPDATE domains SET status = 'VERIFIED'",
      reason: "The sender's domain acme.test is not verified any more.",
    },
    {
      name: "while the sender's domain no longer belongs to the project",
      fault: "UPDATE domains SET domain = 'sub.acme.test'",
      fix: "UPDATE domains SET domain = 'acme.test'",
      reason: "The sender's domain acme.test is not verified any more.",
    },
  ];

  test.each(cases)("is deferred $name, and sent after that is fixed", async (each) => {
    const { t, transport, run, send, retry } = await setUp();
    const id = await send();
    run(each.fault);
    await t.deliver();
    const deferred = t.db.sqlite
      .query("SELECT status, last_error AS lastError FROM emails WHERE id = ?")
      .get(id);
    expect(deferred).toEqual({ status: "QUEUED", lastError: each.reason });
    expect(transport.handed).toHaveLength(0);
    run(each.fix);
    await retry(id);
    const answer = await t.call("GET", `/emails/${id}`);
    expect(answer.text("data.status")).toBe("SENT");
    expect(answer.at("data.attempts")).toMatchObject([
      { number: 1, outcome: "deferred", class: "infrastructure", reason: each.reason },
      { number: 2, outcome: "accepted" },
    ]);
    expect(transport.handed).toHaveLength(1);
  });

  test("of a disabled project is not attempted and does not expire until it is enabled", async () => {
    const { t, transport, run, send, email } = await setUp();
    const id = await send();
    run("UPDATE projects SET is_enabled = 0");
    t.clock.advance(8 * 24 * HOUR);
    await t.app.start();
    await settleEventLoop();
    expect([transport.handed.length, t.countRows("attempts")]).toEqual([0, 0]);
    run("UPDATE projects SET is_enabled = 1");
    await send();
    await waitUntil(() => transport.handed.length === 2);
    await waitUntil(() => t.countRows("attempts") === 2);
    expect((await email(id)).status).toBe("SENT");
  });
});

describe("mail that cannot be rendered or composed", () => {
  test("fails permanently", async () => {
    const { t, transport, run, send, email } = await setUp();
    const faults = [
      ["UPDATE messages SET html = '{% if %}' WHERE seq = ?", "rendered"],
      [`UPDATE emails SET variables = '{"name":"\\u0000"}' WHERE message_seq = ?`, "rendered"],
      [`UPDATE messages SET headers = '[["X-A","a\\r\\nBcc: b"]]' WHERE seq = ?`, "composed"],
      ["UPDATE emails SET subject = char(65, 10, 66) WHERE message_seq = ?", "composed"],
    ] as const;
    const ids: string[] = [];
    for (const [i, [fault]] of faults.entries()) {
      ids.push(await send({ body: `<p>Hello {{ name }}, mail ${i}</p>` }));
      run(fault, i + 1);
    }
    await t.deliver();
    for (const [i, [, step]] of faults.entries()) {
      expect(await email(ids[i] ?? "")).toMatchObject({
        status: "FAILED",
        lastError: expect.stringContaining(`cannot be ${step}`),
        attempts: [{ outcome: "failed", class: "content" }],
        nextAttemptAt: null,
      });
    }
    expect(t.eventNames()).toEqual(faults.map(() => "email.failed"));
    expect(transport.handed).toHaveLength(0);
  });

  test("does not delay other mail", async () => {
    const { t, run, send, email } = await setUp();
    const bad = await send();
    run("UPDATE messages SET html = '{% if %}'");
    const good = await send({ body: "<p>Another</p>" });
    await t.deliver();
    expect([(await email(bad)).status, (await email(good)).status]).toEqual(["FAILED", "SENT"]);
  });
});

describe("the keys of a domain", () => {
  test.each([
    ["sign its mail", "smtp://127.0.0.1:25?tls=none", true],
    ["do not if the relay signs", "smtp://127.0.0.1:25?tls=none&sign=false", false],
  ])("%s", async (_, url, isSigned) => {
    const parsed = parseRelayUrl(url);
    if (!parsed.ok) throw new Error(parsed.message);
    const transport = testTransport({ answer: ACCEPTED });
    const config = { transport: "relay" as const, relayUrl: parsed.relay };
    const t = await testApp({ transport, config });
    apps.push(t);
    await addDomain(t.app, t.project.seq, "signed.test");
    await t.create(
      "/v1/send",
      { to: "ada@example.net", from: "hello@signed.test", subject: "Hi", body: "<p>Hello</p>" },
      "emails.0.email",
    );
    await t.deliver();
    const message = new TextDecoder().decode(transport.handed[0]?.object.message);
    expect(message.startsWith("DKIM-Signature:")).toBe(isSigned);
    expect(message).toContain("<p>Hello</p>");
  });
});

describe("the message", () => {
  test("is rendered, with the addresses of sender and recipient in the envelope", async () => {
    const { t, transport, send } = await setUp();
    await send({ data: { name: "Ada & Co" } });
    await t.deliver();
    const { envelope, message } = transport.handed[0]?.object ?? {};
    expect(envelope).toEqual({ from: "hello@acme.test", to: "ada@example.net" });
    expect((await simpleParser(Buffer.from(message ?? []))).html).toContain(
      "<p>Hello Ada &amp; Co</p>",
    );
  });

  test("has the same bytes on every attempt, except for its signatures", async () => {
    const { t, transport, send, retry } = await setUp(DEFERRED);
    const id = await send({ data: { name: "Ada" } });
    await t.deliver();
    await retry(id);
    transport.answer = ACCEPTED;
    await retry(id);
    const messages = transport.handed.map(({ object }) =>
      withoutSignatures(new TextDecoder().decode(object.message)),
    );
    expect(messages).toHaveLength(3);
    expect(messages[1]).toBe(messages[0] ?? "");
    expect(messages[2]).toBe(messages[0] ?? "");
    expect(messages[0]).toContain(`\r\nMessage-ID: <${id}@acme.test>\r\n`);
  });

  test("has the same bytes on a later attempt, also if other mails are sent in between", async () => {
    const { t, transport, send, retry } = await setUp(DEFERRED);
    const body = `<p>Hello {{ name }},</p><p>${"a long line of the mail ".repeat(9)}{{ name }}</p>`;
    const first = await send({ body, data: { name: "Ada & Zoë" } });
    await t.deliver();
    transport.answer = ACCEPTED;
    for (let i = 0; i < 4; i++) await send({ body, data: { name: `Person ${i}` } });
    await t.deliver();
    transport.answer = DEFERRED;
    await retry(first);
    const messages = transport.handed
      .map(({ object }) => withoutSignatures(new TextDecoder().decode(object.message)))
      .filter((message) => message.includes(`<${first}@acme.test>`));
    expect(messages).toHaveLength(2);
    expect(messages[1]).toBe(messages[0] ?? "");
  });

  test("is rendered with the contact's current data if the mail has no data of its own", async () => {
    const { t, transport, run, send } = await setUp();
    await send({ data: { name: "then" } });
    run("UPDATE emails SET variables = NULL");
    const contact = (await t.call("GET", "/contacts")).text("contacts.0.id");
    await t.call("PATCH", `/contacts/${contact}`, { data: { name: "now" } });
    await t.deliver();
    const { message } = transport.handed[0]?.object ?? {};
    expect((await simpleParser(Buffer.from(message ?? []))).html).toContain("<p>Hello now</p>");
  });

  test("is stored completely by the capture transport", async () => {
    const t = await testApp({ transport: captureTransport() });
    apps.push(t);
    const id = await t.create(
      "/v1/send",
      {
        to: "ada@example.net",
        from: "hello@acme.test",
        subject: "Hi",
        body: "<p>Hello</p>",
      },
      "emails.0.email",
    );
    expect((await t.call("GET", `/emails/${id}/raw`)).status).toBe(404);
    await t.deliver();
    const raw = await t.call("GET", `/emails/${id}/raw`);
    expect(raw.headers.get("content-type")).toBe("message/rfc822");
    expect(raw.body).toContain(`Message-ID: <${id}@acme.test>\r\n`);
    expect(raw.body).toEndWith("--\r\n");
    expect(await t.call("GET", `/emails/${id}`)).toMatchObject({
      body: { data: { status: "SENT", attempts: [{ outcome: "accepted", conversations: [] }] } },
    });
  });
});
