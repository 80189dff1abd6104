/** Mails in the interface of Resend (docs/resend.md). */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { simpleParser } from "mailparser";
import { addSuppression } from "../../../src/modules/suppressions.ts";
import { createFetchGuarded } from "../../../src/protocols/fetch-guarded/fetch-guarded.ts";
import type { TestApp } from "../../support/app.ts";
import { FAILING_DNS } from "../../support/dns.ts";
import { listAt } from "../../support/json.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { removeUsers, signIn } from "../../support/session.ts";
import { startWebServer, type WebServer } from "../../support/web-server.ts";

/** The address of the test server is the only public one. */
const projects = projectPerTest({
  fetchGuarded: createFetchGuarded({
    dns: FAILING_DNS,
    allowPrivateAddresses: false,
    isPublic: (address) => address === "127.0.0.1",
  }),
});
let server: WebServer;
beforeAll(async () => {
  server = await startWebServer();
});
afterAll(() => server.close());
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const mail = {
  from: "Acme <hello@acme.test>",
  to: ["ada@example.com"],
  subject: "Your order",
  html: "<p>Thank you</p>",
};
const TAG = { name: "order", value: "1001" };
const send = (fields: object = {}, options?: Parameters<TestApp["call"]>[3]) =>
  t.call("POST", "/resend/emails", { ...mail, ...fields }, options);

async function received(fields: object) {
  const answer = await send(fields);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  await t.deliver();
  const raw = await t.call("GET", `/emails/${answer.text("id")}/raw`);
  return simpleParser(String(raw.body));
}

describe("sending", () => {
  test("answers with the id of the mail, and sends it as it was given", async () => {
    const parsed = await received({
      reply_to: ["help@acme.test"],
      headers: { "X-Order": "1001" },
      attachments: [
        { filename: "a.txt", content: Buffer.from("hello").toString("base64") },
        { filename: "b.bin", content: [104, 105], content_type: "application/x-b" },
        { filename: "c.txt", content: Buffer.from("node") },
      ],
    });
    expect(parsed.from?.text).toBe('"Acme" <hello@acme.test>');
    expect(parsed.replyTo?.text).toBe("help@acme.test");
    expect(parsed.headers.get("x-order")).toBe("1001");
    expect(parsed.attachments.map(({ content }) => content.toString())).toEqual([
      "hello",
      "hi",
      "node",
    ]);
  });

  test.each([
    "{{ name }} and {% if x %}",
    "{{{FIRST_NAME|there}}} {{#if x}}",
    "{% raw %}a{% endraw %}{{ b }}",
    "{{{{%%}}}} { { %",
    "%recipient.name% *|FNAME|*",
  ])("sends what looks like a template as it is: %s", async (text) => {
    const parsed = await received({ subject: text, html: `<p>${text}</p>` });
    expect(parsed.subject).toBe(text);
    expect(parsed.html).toContain(`<p>${text}</p>`);
  });

  test("a text part of its own, copies and several replies are sent as in Resend", async () => {
    const parsed = await received({
      cc: "Bob <bob@example.com>",
      bcc: ["carol@example.com"],
      reply_to: ["help@acme.test", "Sales <sales@acme.test>"],
      text: "Thank you, {{ name }}",
    });
    expect(parsed.text?.trim()).toBe("Thank you, {{ name }}");
    expect(parsed.headers.get("cc")).toMatchObject({ text: '"Bob" <bob@example.com>' });
    expect(parsed.headers.get("bcc")).toBeUndefined();
    expect(parsed.replyTo?.text).toBe('help@acme.test, "Sales" <sales@acme.test>');
    const list = await t.call("GET", "/resend/emails");
    const [carol, bob, ada] = listAt(list.body, "data");
    const shared = { to: ["ada@example.com"], cc: ["Bob <bob@example.com>"] };
    expect(carol).toMatchObject({ ...shared, bcc: ["carol@example.com"] });
    expect(bob).toMatchObject({ ...shared, bcc: null });
    expect(ada).toMatchObject({
      ...shared,
      bcc: null,
      reply_to: ["help@acme.test", "Sales <sales@acme.test>"],
    });
  });

  test("header fields may be lists of one value, and Reply-To may be among them", async () => {
    const parsed = await received({
      reply_to: "help@acme.test",
      headers: { "X-Tag": ["welcome"], "Reply-To": "help@acme.test, Sales <sales@acme.test>" },
    });
    expect(parsed.headers.get("x-tag")).toBe("welcome");
    expect(parsed.replyTo?.text).toBe('help@acme.test, "Sales" <sales@acme.test>');
    const several = await send({ headers: { "X-Tag": ["a", "b"] } });
    expect([several.status, several.text("message")]).toEqual([
      422,
      "headers.X-Tag: must have at most one value",
    ]);
  });

  test("names may have encoded words", async () => {
    const name = "=?utf-8?q?M=C3=BCller=2C_Ada?=";
    const parsed = await received({
      from: `${name} <hello@acme.test>`,
      to: [`${name} <ada@example.com>`],
    });
    expect(parsed.from?.value[0]?.name).toBe("Müller, Ada");
    expect([parsed.to].flat()[0]?.value[0]?.name).toBe("Müller, Ada");
  });

  test("a mail may have only a text", async () => {
    const parsed = await received({ html: undefined, text: "Hello\n{% x %}" });
    expect(parsed.text?.trim()).toBe("Hello\n{% x %}");
    expect(parsed.html).toBe(false);
  });

  test("a file at an address is read, and has its name", async () => {
    server.answer = ({ path }) => ({ body: `file ${path}` });
    const attachments = [
      { path: `${server.origin}/files/terms.txt` },
      { filename: "empty.txt", content: "" },
    ];
    const files = (await received({ attachments })).attachments;
    expect(files.map(({ filename, content }) => [filename, content.toString()])).toEqual([
      ["terms.txt", "file /files/terms.txt"],
      ["empty.txt", ""],
    ]);
  });

  test("empty values of clients in Go count as absent", async () => {
    const parsed = await received({
      cc: [],
      bcc: [],
      reply_to: "",
      text: "",
      tags: [TAG],
      scheduled_at: "",
    });
    expect(parsed.html).toContain("<p>Thank you</p>");
  });

  test("a template of ours gets variables, which are not stored", async () => {
    const template = await t.create(
      "/templates",
      {
        name: "n",
        subject: "Order {{ order }}",
        body: "<p>{{ order }}</p>",
        type: "TRANSACTIONAL",
      },
      "data.id",
    );
    const { html: _html, subject: _subject, ...rest } = mail;
    const body = { ...rest, template: { id: template, variables: { order: 1001 } } };
    const { status, text } = await t.call("POST", "/resend/emails", body);
    expect(status).toBe(200);
    expect((await t.call("GET", `/emails/${text("id")}`)).at("data.subject")).toBe("Order 1001");
    const contacts = await t.call("GET", "/contacts");
    expect(contacts.at("contacts.0.data")).toEqual({});
  });

  test("several recipients get a mail each, and the answer names the first", async () => {
    const answer = await send({ to: ["a@example.com", "b@example.com"] });
    const list = await t.call("GET", "/resend/emails");
    expect(listAt(list.body, "data")).toHaveLength(2);
    expect(list.at("data.1.id")).toBe(answer.text("id"));
    expect(list.at("data.1.to")).toEqual(["a@example.com"]);
  });

  test("an Idempotency-Key sends once, and refuses another body", async () => {
    const headers = { "idempotency-key": "order-1001" };
    const first = await send({}, { headers });
    const again = await send({}, { headers });
    expect(again.body).toEqual(first.body);
    const other = await send({ subject: "Other" }, { headers });
    expect(other.status).toBe(409);
    expect(other.at("name")).toBe("invalid_idempotent_request");
    expect(listAt((await t.call("GET", "/resend/emails")).body, "data")).toHaveLength(1);
    const bad = await send({}, { headers: { "idempotency-key": "x".repeat(300) } });
    expect([bad.status, bad.at("name")]).toEqual([400, "invalid_idempotency_key"]);
  });
});

describe("refusals have the form of Resend", () => {
  test.each<[string, object, number, string, string]>([
    ["a missing recipient", { to: undefined }, 422, "missing_required_field", "to: is required"],
    ["a missing sender", { from: undefined }, 422, "missing_required_field", "from: "],
    ["an invalid sender", { from: "acme" }, 422, "invalid_from_address", "from: must be"],
    ["an unverified sender", { from: "a@other.test" }, 403, "validation_error", "other.test"],
    ["a missing body", { html: undefined }, 422, "missing_required_field", "html: "],
    ["an unknown field", { colour: "red" }, 422, "validation_error", "colour: is not supported"],
    ["a repeated tag", { tags: [TAG, TAG] }, 422, "validation_error", "tags.1.name: must not be"],
    ["a wrong tag", { tags: [{ ...TAG, name: "a b" }] }, 422, "validation_error", "tags.a b: "],
    [
      "a past time",
      { scheduled_at: "2001-01-01T00:00:00Z" },
      422,
      "validation_error",
      "scheduled_at: must be in the future",
    ],
    ["no time", { scheduled_at: "soon" }, 422, "validation_error", "scheduled_at: must be a time"],
    [
      "a time for two",
      { to: ["a@a.test", "b@a.test"], scheduled_at: "in 1 hour" },
      422,
      "validation_error",
      "scheduled_at: is for one",
    ],
    ["a topic", { topic_id: "t" }, 422, "validation_error", "topic_id: is not supported"],
    [
      "a file at a private address",
      { attachments: [{ path: "http://10.0.0.1/a" }] },
      422,
      "invalid_attachment",
      "attachments.0.path: ",
    ],
    [
      "a file without content",
      { attachments: [{ filename: "a" }] },
      422,
      "missing_required_field",
      "attachments.0.content: is required",
    ],
    [
      "a file that is not base64",
      { attachments: [{ filename: "a", content: "?" }] },
      422,
      "invalid_attachment",
      "attachments.0.content: must be base64",
    ],
    [
      "a wrong media type",
      { attachments: [{ filename: "a", content: "aGk=", content_type: "x" }] },
      422,
      "invalid_attachment",
      "attachments.0.content_type: ",
    ],
    [
      "two files with the same content id",
      {
        attachments: ["a", "b"].map((filename) => ({ filename, content: "aGk=", content_id: "c" })),
      },
      422,
      "invalid_attachment",
      "attachments.1.content_id: ",
    ],
    ["an unknown template", { template: { id: "none" } }, 404, "not_found", "No such template"],
    [
      "too many recipients",
      { to: Array(51).fill("a@example.com") },
      422,
      "validation_error",
      "to: must have at most 50 items",
    ],
  ])("%s", async (_, fields, status, name, message) => {
    const answer = await send(fields);
    expect(answer.body).toEqual({
      statusCode: status,
      name,
      message: expect.stringContaining(message),
    });
    expect(answer.status).toBe(status);
    expect(listAt((await t.call("GET", "/resend/emails")).body, "data")).toEqual([]);
  });

  test.each<[string, string | null, number, string]>([
    ["no key", null, 401, "missing_api_key"],
    ["a wrong key", "re_wrong", 403, "invalid_api_key"],
  ])("%s", async (_, key, status, name) => {
    const answer = await send({}, { key });
    expect([answer.status, answer.at("statusCode"), answer.at("name")]).toEqual([
      status,
      status,
      name,
    ]);
  });

  test("a public key", async () => {
    const answer = await send({}, { key: t.publicKey });
    expect([answer.status, answer.at("name")]).toEqual([401, "restricted_api_key"]);
  });

  test("a session, although its user may send", async () => {
    const owner = await signIn(t);
    const headers = { "x-project": t.project.id };
    expect((await owner.call("GET", "/emails", undefined, headers)).status).toBe(200);
    const answer = await owner.call("POST", "/resend/emails", mail, headers);
    expect([answer.status, answer.at("name")]).toEqual([401, "missing_api_key"]);
    removeUsers(t);
  });

  test("no JSON, no route and a wrong method", async () => {
    const noJson = await t.call("POST", "/resend/emails", {}, { raw: "{" });
    expect([noJson.status, noJson.at("name")]).toEqual([400, "validation_error"]);
    expect(noJson.text("message")).toContain(". Send a JSON document");
    const noRoute = await t.call("GET", "/resend/nothing");
    expect([noRoute.status, noRoute.at("name")]).toEqual([404, "not_found"]);
    const wrong = await t.call("PUT", "/resend/emails", {});
    expect([wrong.status, wrong.at("name")]).toEqual([405, "method_not_allowed"]);
  });
});

describe("a batch", () => {
  const batch = (mails: unknown[], mode?: string) =>
    t.call("POST", "/resend/emails/batch", mails, {
      headers: mode === undefined ? {} : { "x-batch-validation": mode },
    });
  const faulty = { ...mail, to: "nobody" };

  test("with something that is no mail names its place", async () => {
    expect((await batch([mail, null])).at("message")).toBe("1: must be an object");
  });

  test("sends different mails, in order", async () => {
    const answer = await batch([mail, { ...mail, to: "b@example.com", subject: "Other" }]);
    expect(answer.status).toBe(200);
    const [first = {}, second = {}] = listAt(answer.body, "data");
    const list = await t.call("GET", "/resend/emails");
    expect([list.at("data.1.id"), list.at("data.0.id")]).toEqual([
      Reflect.get(Object(first), "id"),
      Reflect.get(Object(second), "id"),
    ]);
    expect(list.at("data.0.subject")).toBe("Other");
    expect(answer.at("errors")).toBeUndefined();
  });

  test("is sent whole or not at all", async () => {
    const answer = await batch([mail, faulty]);
    expect(answer.status).toBe(422);
    expect(answer.text("message")).toStartWith("1.to: must be");
    expect(listAt((await t.call("GET", "/resend/emails")).body, "data")).toEqual([]);
  });

  test("sends the valid mails if it is permissive", async () => {
    const answer = await batch([faulty, mail], "permissive");
    expect(answer.status).toBe(200);
    expect(listAt(answer.body, "data")).toHaveLength(1);
    expect(answer.at("errors")).toEqual([
      { index: 0, message: expect.stringContaining("to: must be") },
    ]);
  });

  test("names the mail of a refusal that only acceptance finds", async () => {
    const syntax = { ...mail, template: { id: "none" } };
    const strict = await batch([mail, syntax]);
    expect([strict.status, strict.text("message")]).toEqual([
      404,
      expect.stringContaining("1: No such template"),
    ]);
    const header = { ...mail, headers: { Subject: "x" } };
    const refused = await batch([mail, header]);
    expect(refused.text("message")).toStartWith("1.headers.Subject: ");
    const permissive = await batch([faulty, mail, header, syntax], "permissive");
    expect(listAt(permissive.body, "data")).toHaveLength(1);
    expect(permissive.at("errors")).toEqual([
      { index: 0, message: expect.stringContaining("to: must be") },
      { index: 2, message: expect.stringContaining("headers.Subject: ") },
      { index: 3, message: expect.stringContaining("No such template") },
    ]);
  });

  test("of only faulty mails has only errors", async () => {
    const answer = await batch([faulty], "permissive");
    expect(answer.body).toEqual({ data: [], errors: [expect.objectContaining({ index: 0 })] });
  });

  test("is sent once for an Idempotency-Key", async () => {
    for (const mode of ["strict", "permissive"]) {
      const headers = { "idempotency-key": mode, "x-batch-validation": mode };
      const once = () => t.call("POST", "/resend/emails/batch", [mail, faulty], { headers });
      const [first, again] = [await once(), await once()];
      expect(again.body).toEqual(first.body);
    }
    expect(listAt((await t.call("GET", "/resend/emails")).body, "data")).toHaveLength(1);
  });

  test("sends no mail twice if it is repeated after a crash, also one for a time in words", async () => {
    const headers = { "idempotency-key": "crash", "x-batch-validation": "permissive" };
    const mails = [{ ...mail, scheduled_at: "in 1 hour" }];
    const once = () => t.call("POST", "/resend/emails/batch", mails, { headers });
    const first = await once();
    // As if the process had ended between the last mail and the answer of the request.
    t.db.sqlite.run(
      "DELETE FROM idempotency_keys WHERE project_seq = ? AND body LIKE '%\"errors\"%'",
      [t.project.seq],
    );
    t.clock.advance(1_000);
    const again = await once();
    expect([again.headers.get("idempotency-replayed"), again.body]).toEqual([null, first.body]);
    expect(listAt((await t.call("GET", "/resend/emails")).body, "data")).toHaveLength(1);
  });

  test("may be repeated with its key for the mails that were refused", async () => {
    const headers = { "idempotency-key": "again", "x-batch-validation": "permissive" };
    const once = (first: object) =>
      t.call("POST", "/resend/emails/batch", [first, mail], { headers });
    const refused = await once(faulty);
    const mended = await once({ ...mail, subject: "Mended" });
    expect(mended.at("errors")).toEqual([]);
    expect(mended.at("data.1.id")).toBe(refused.at("data.0.id"));
    expect(listAt((await t.call("GET", "/resend/emails")).body, "data")).toHaveLength(2);
  });

  test("may have the Idempotency-Key of a batch of our interface", async () => {
    const { from, to, subject, html: body } = mail;
    const ours = { mode: "EACH", mails: [{ from, to, subject, body }] };
    const headers = { "idempotency-key": "shared", "x-batch-validation": "permissive" };
    await t.call("POST", "/v1/send/batch", ours, { headers });
    const answer = await t.call("POST", "/resend/emails/batch", [mail], { headers });
    expect([answer.at("data.length"), answer.at("errors")]).toEqual([1, []]);
  });

  test("refuses an empty one, one of more than 100, and an unknown mode", async () => {
    expect((await batch([])).status).toBe(422);
    expect((await batch(Array.from({ length: 101 }, () => mail))).status).toBe(422);
    expect((await batch([mail], "loose")).text("message")).toStartWith("x-batch-validation: ");
  });
});

describe("a scheduled mail", () => {
  const at = () => new Date(t.clock.now() + 3_600_000).toISOString();
  const read = async (id: string) => (await t.call("GET", `/resend/emails/${id}`)).body;
  const waiting = async (fields = {}) =>
    (await send({ scheduled_at: "in 1 hour", ...fields })).text("id");

  test("waits, and gets another time", async () => {
    const id = await waiting();
    expect(await read(id)).toMatchObject({ last_event: "scheduled", scheduled_at: at() });
    const later = new Date(t.clock.now() + 7_200_000).toISOString();
    const changed = await t.call("PATCH", `/resend/emails/${id}`, { scheduled_at: later });
    expect(changed.body).toEqual({ object: "email", id });
    expect(await read(id)).toMatchObject({ scheduled_at: later });
    const past = await t.call("PATCH", `/resend/emails/${id}`, {
      scheduled_at: "2001-01-01T00:00:00Z",
    });
    expect([past.status, past.text("message")]).toEqual([
      422,
      "scheduled_at: must be in the future",
    ]);
  });

  test("is cancelled with its copies", async () => {
    const id = await waiting({ cc: "b@example.com", bcc: "c@example.com" });
    const other = await waiting({ cc: "b@example.com", bcc: "c@example.com" });
    const cancelled = await t.call("POST", `/resend/emails/${id}/cancel`);
    expect([cancelled.status, cancelled.body]).toEqual([200, { object: "email", id }]);
    const list = listAt((await t.call("GET", "/resend/emails")).body, "data");
    expect(list.map((item) => Reflect.get(Object(item), "last_event"))).toEqual([
      ...Array.from({ length: 3 }, () => "scheduled"),
      ...Array.from({ length: 3 }, () => "canceled"),
    ]);
    expect(await read(other)).toMatchObject({ last_event: "scheduled" });
    const again = await t.call("POST", `/resend/emails/${id}/cancel`);
    expect([again.status, again.at("statusCode")]).toEqual([409, 409]);
  });

  test("to a suppressed address is changed and cancelled by its copies", async () => {
    await t.call("POST", "/suppressions", { email: "ada@example.com" });
    const id = await waiting({ cc: "b@example.com" });
    const copies = async () => {
      const list = listAt((await t.call("GET", "/emails?to=b@example.com")).body, "data.items");
      return list.map((item) => Object(item));
    };
    const later = new Date(t.clock.now() + 7_200_000).toISOString();
    const changed = await t.call("PATCH", `/resend/emails/${id}`, { scheduled_at: later });
    expect([changed.status, await copies()]).toMatchObject([200, [{ scheduledAt: later }]]);
    const cancelled = await t.call("POST", `/resend/emails/${id}/cancel`);
    expect([cancelled.status, await copies()]).toMatchObject([200, [{ status: "CANCELLED" }]]);
    expect((await t.call("POST", `/resend/emails/${id}/cancel`)).status).toBe(409);
  });

  test("of another project is not found", async () => {
    const id = await waiting();
    const { secretKey: key } = await t.makeProject("stranger");
    const foreign = await t.call("POST", `/resend/emails/${id}/cancel`, undefined, { key });
    expect(foreign.status).toBe(404);
    expect(await read(id)).toMatchObject({ last_event: "scheduled" });
  });
});

describe("reading", () => {
  test("shows a mail with its content and its last event", async () => {
    const { text } = await send({ reply_to: "help@acme.test", tags: [TAG] });
    const read = async () => (await t.call("GET", `/resend/emails/${text("id")}`)).body;
    expect(await read()).toEqual({
      object: "email",
      id: text("id"),
      message_id: expect.stringContaining("@acme.test"),
      to: ["ada@example.com"],
      from: "Acme <hello@acme.test>",
      created_at: new Date(t.clock.now()).toISOString(),
      subject: "Your order",
      bcc: null,
      cc: null,
      reply_to: ["help@acme.test"],
      last_event: "queued",
      scheduled_at: null,
      html: expect.stringContaining("<p>Thank you</p>"),
      text: expect.stringContaining("Thank you"),
      tags: [TAG],
    });
    await t.deliver();
    expect(await read()).toMatchObject({ last_event: "sent" });
  });

  test("shows that a suppressed address gets nothing", async () => {
    await t.app.writer.write(() =>
      addSuppression(t.app.app, t.project.seq, "ada@example.com", { reason: "MANUAL", at: 0 }),
    );
    const { text } = await send();
    const read = await t.call("GET", `/resend/emails/${text("id")}`);
    expect(read.at("last_event")).toBe("suppressed");
  });

  test("pages go on after an id and back before one", async () => {
    const ids: string[] = [];
    for (const name of ["a", "b", "c", "d"]) {
      ids.unshift((await send({ to: `${name}@example.com` })).text("id"));
    }
    const page = async (query: string) => {
      const answer = await t.call("GET", `/resend/emails?${query}`);
      const shown = listAt(answer.body, "data").map((item) => Reflect.get(Object(item), "id"));
      return [...shown.map((id) => ids.indexOf(String(id))), answer.at("has_more")];
    };
    expect(await page("limit=2")).toEqual([0, 1, true]);
    expect(await page(`limit=2&after=${ids[1]}`)).toEqual([2, 3, false]);
    expect(await page(`limit=2&before=${ids[3]}`)).toEqual([1, 2, true]);
    expect(await page(`before=${ids[1]}`)).toEqual([0, false]);
    for (const query of [
      "limit=0",
      "limit=101",
      "after=x",
      `after=${ids[0]}&before=${ids[1]}`,
      "page=2",
    ]) {
      expect((await t.call("GET", `/resend/emails?${query}`)).status).toBe(422);
    }
  });

  test("does not show the mails of another project", async () => {
    const { text } = await send();
    const { secretKey: key } = await t.makeProject("stranger");
    const read = await t.call("GET", `/resend/emails/${text("id")}`, undefined, { key });
    expect([read.status, read.at("name")]).toEqual([404, "not_found"]);
    const list = await t.call("GET", `/resend/emails?after=${text("id")}`, undefined, { key });
    expect(list.status).toBe(422);
  });
});
