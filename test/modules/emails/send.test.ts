/** `POST /v1/send` (docs/interface.md#send): what is accepted, and what comes of it. */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type ParsedMail, simpleParser } from "mailparser";
import { createSuppressions } from "../../../src/modules/suppressions/service.ts";
import { addDomain, type TestResponse, type TestApp, testApp } from "../../support/app.ts";
import { valueAt, listAt, stringAt } from "../../support/json.ts";
import { expectError } from "../../support/refusal.ts";

let t: TestApp;
beforeEach(async () => {
  t = await testApp();
});
afterEach(() => t.close());

const mail = { to: "ada@example.com", from: "a@acme.test", subject: "Hi", body: "<p>Hi</p>" };
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const send = (fields: object = {}, app = t) => app.call("POST", "/v1/send", { ...mail, ...fields });

/** Sends, delivers, and reads the one mail back as a recipient would. */
async function received(fields: object): Promise<ParsedMail> {
  const answer = await send(fields);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return rawMail(answer.text("emails.0.email"));
}

async function rawMail(id: string): Promise<ParsedMail> {
  await t.deliver();
  const { body } = await t.call("GET", `/emails/${id}/raw`);
  return simpleParser(String(body));
}

async function contact(email = "ada@example.com"): Promise<unknown> {
  return (await t.call("GET", `/contacts?search=${encodeURIComponent(email)}`)).at("contacts.0");
}

const template = {
  name: "Welcome",
  subject: "From the template",
  body: "<p>Template body</p>",
  type: "TRANSACTIONAL",
};
const makeTemplate = (fields: object = {}) =>
  t.create("/templates", { ...template, ...fields }, "data.id");

describe("the answer", () => {
  test("names contact and email record for each recipient, in order, and the time", async () => {
    const answer = await send({
      to: ["b@example.com", { name: "Cy", email: " C@Example.com " }, "a@example.com"],
    });
    expect(answer.status).toBe(200);
    expect(answer.at("success")).toBe(true);
    expect(answer.at("data.timestamp")).toBe("2026-03-02T10:00:00.000Z");
    const emails = listAt(answer.body, "data.emails");
    const addresses = emails.map((email) => valueAt(email, "contact.email"));
    expect(addresses).toEqual(["b@example.com", "c@example.com", "a@example.com"]);
    for (const email of emails) {
      expect(Object.keys(Object(email)).sort()).toEqual(["contact", "email"]);
      expect(stringAt(email, "email")).toMatch(UUID);
      const { body } = await t.call("GET", `/contacts/${stringAt(email, "contact.id")}`);
      expect(valueAt(body, "email")).toBe(valueAt(email, "contact.email"));
      const record = await t.call("GET", `/emails/${stringAt(email, "email")}`);
      expect(record.at("data.to")).toBe(valueAt(email, "contact.email"));
    }
  });

  test("repeats the members of data at top level, for clients of the older shape", async () => {
    const { body } = await send();
    const data = valueAt(body, "data");
    expect(body).toEqual({ success: true, data, ...Object(data) });
  });

  test("of a refusal repeats code, message and time at top level", async () => {
    const answer = await send({ to: "nope" });
    const message = answer.at("error.message");
    expect(answer.body).toMatchObject({ code: 422, message, time: t.clock.now() });
  });

  test("200 means that it is on disk: the queue, the contact, the content", async () => {
    await send();
    const rows = ["emails", "contacts", "messages"].map((table) => t.countRows(table));
    expect(rows).toEqual([1, 1, 1]);
  });

  test("the mail leaves at once, without being asked for", async () => {
    await t.deliver(); // From here on it runs.
    const id = (await send()).text("emails.0.email");
    await t.deliver();
    expect((await t.call("GET", `/emails/${id}`)).at("data.status")).toBe("SENT");
    expect(t.eventNames()).toEqual(["email.sent"]);
  });
});

describe("recipients", () => {
  const forms: [why: string, to: unknown, name: string | undefined][] = [
    ["an address", "ada@example.com", undefined],
    ["an object without name", { email: "ada@example.com" }, undefined],
    ["an object with name", { email: "ada@example.com", name: "Ada Lovelace" }, "Ada Lovelace"],
    ["a list of one", [{ email: "ada@example.com", name: "Ada" }], "Ada"],
  ];
  for (const [why, to, name] of forms) {
    test(`${why}: goes into the To header, and a name into the contact's data`, async () => {
      const parsed = await received({ to });
      expect(parsed.to).toMatchObject({
        value: [{ address: "ada@example.com", name: name ?? "" }],
      });
      expect(valueAt(await contact(), "data")).toEqual(name === undefined ? {} : { name });
    });
  }

  test("each gets a message of its own that names nobody else", async () => {
    const answer = await send({ to: ["a@example.com", "b@example.com"] });
    for (const email of listAt(answer.body, "emails")) {
      const parsed = await rawMail(stringAt(email, "email"));
      expect(parsed.to).toMatchObject({ text: stringAt(email, "contact.email") });
      expect([parsed.cc, parsed.bcc]).toEqual([undefined, undefined]);
    }
  });

  test("given twice get two mails, and stay one contact", async () => {
    const answer = await send({ to: ["ada@example.com", "bob@example.com", "ADA@example.com"] });
    const emails = listAt(answer.body, "emails");
    expect(emails.map((email) => valueAt(email, "contact.email"))).toEqual([
      "ada@example.com",
      "bob@example.com",
      "ada@example.com",
    ]);
    expect(new Set(emails.map((email) => valueAt(email, "email"))).size).toBe(3);
    expect([t.countRows("emails"), t.countRows("contacts")]).toEqual([3, 2]);
  });

  test("of one request share one stored content, a thousand of them", async () => {
    const to = Array.from({ length: 1000 }, (_, i) => `r${i}@example.com`);
    const answer = await send({ to, subject: "For {{ email }}" });
    expect(listAt(answer.body, "emails")).toHaveLength(1000);
    expect([t.countRows("emails"), t.countRows("contacts"), t.countRows("messages")]).toEqual([
      1000, 1000, 1,
    ]);
  });
});

describe("what becomes of the contact", () => {
  const cases: [
    why: string,
    before: boolean | null,
    given: boolean | undefined,
    after: boolean,
    events: string[],
  ][] = [
    ["new, nothing said: unsubscribed", null, undefined, false, []],
    ["new, subscribed", null, true, true, ["contact.subscribed"]],
    ["new, not subscribed", null, false, false, []],
    ["a subscriber, nothing said: stays one", true, undefined, true, []],
    ["a subscriber, again", true, true, true, []],
    ["a subscriber, taken off", true, false, false, ["contact.unsubscribed"]],
    ["no subscriber, nothing said: stays so", false, undefined, false, []],
    ["no subscriber, made one", false, true, true, ["contact.subscribed"]],
  ];
  for (const [why, before, subscribed, after, events] of cases) {
    test(why, async () => {
      if (before !== null) {
        await t.create("/contacts", { email: "ada@example.com", subscribed: before }, "id");
      }
      const known = t.eventNames().length;
      await send(subscribed === undefined ? {} : { subscribed });
      expect(valueAt(await contact(), "subscribed")).toBe(after);
      expect(t.eventNames().slice(known)).toEqual(events);
    });
  }

  test("data merges: values, lists and objects, shallow; null deletes", async () => {
    const data = { keep: 1, old: "x", nested: { a: 1, b: 2 }, list: [1] };
    await t.create("/contacts", { email: "ada@example.com", data }, "id");
    await send({
      data: { old: null, nested: { b: 3 }, list: ["x"], plan: "pro", zero: 0, no: false },
    });
    expect(valueAt(await contact(), "data")).toEqual({
      keep: 1,
      nested: { b: 3 },
      list: ["x"],
      plan: "pro",
      zero: 0,
      no: false,
    });
  });

  test("a wrapped value renders, and is kept only if it is persistent", async () => {
    const parsed = await received({
      subject: "{{ code }} {{ plan }} {{ odd.value }} {{ gone }}|",
      data: {
        code: { value: "123", persistent: false },
        plan: { value: { a: 1 }, persistent: true },
        odd: { value: "x", persistent: "yes" },
        gone: { value: null, persistent: true },
      },
    });
    expect(parsed.subject).toBe('123 {"a":1} x |');
    expect(valueAt(await contact(), "data")).toEqual({
      plan: { a: 1 },
      odd: { value: "x", persistent: "yes" },
    });
  });

  test("names that the service gives are not stored", async () => {
    const own = {
      id: "mine",
      email: "evil@example.com",
      unsubscribeUrl: "x",
      subscribeUrl: "x",
      manageUrl: "x",
    };
    const answer = await send({ subject: "{{ email }}", data: { ...own, ok: 1 } });
    expect(valueAt(await contact(), "data")).toEqual({ ok: 1 });
    const parsed = await rawMail(answer.text("emails.0.email"));
    expect(parsed.subject).toBe("ada@example.com");
  });

  test("names of JavaScript are names like any other", async () => {
    const raw = `{"to":"ada@example.com","from":"a@acme.test","subject":"s{{ constructor }}","body":"b",
      "data":{"__proto__":{"polluted":1},"constructor":"c","toString":"t"}}`;
    const headers = { "content-type": "application/json" };
    expect((await t.call("POST", "/v1/send", undefined, { raw, headers })).status).toBe(200);
    expect(valueAt(await contact(), "data")).toEqual({ constructor: "c", toString: "t" });
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });
});

describe("the sender", () => {
  type Names = [from: unknown, name: string | undefined, fromName: string | undefined];
  const names: [why: string, given: Names, expected: string][] = [
    ["an address alone has no name", ["a@acme.test", undefined, undefined], ""],
    ["from.name", [{ email: "a@acme.test", name: "From" }, "Name", "Template"], "From"],
    ["then name", [{ email: "a@acme.test" }, "Name", "Template"], "Name"],
    ["name beside a plain from", ["a@acme.test", "Name", "Template"], "Name"],
    ["then the template's", ["a@acme.test", undefined, "Template"], "Template"],
    ["name with the template's address", [undefined, "Name", "Template"], "Name"],
    ["the template's name and address", [undefined, undefined, "Template"], "Template"],
  ];
  for (const [why, [from, name, fromName], expected] of names) {
    test(`display name: ${why}`, async () => {
      const id = await makeTemplate({ from: "template@acme.test", fromName });
      const parsed = await received({ template: id, from, name });
      const address = from === undefined ? "template@acme.test" : "a@acme.test";
      expect(parsed.from?.value).toEqual([{ address, name: expected }]);
    });
  }

  const replies: [
    why: string,
    reply: string | undefined,
    replyTo: string | null,
    expected: string | undefined,
  ][] = [
    ["none", undefined, null, undefined],
    ["the request's", "r@example.com", null, "r@example.com"],
    ["the template's", undefined, "t@example.com", "t@example.com"],
    ["the request's before the template's", "r@example.com", "t@example.com", "r@example.com"],
  ];
  for (const [why, reply, replyTo, expected] of replies) {
    test(`reply-to: ${why}`, async () => {
      const id = await makeTemplate({ replyTo });
      const parsed = await received({ template: id, reply });
      expect(parsed.replyTo?.value[0]?.address).toBe(expected);
    });
  }

  test("neither the request nor the template names one: 422 on from", async () => {
    const answer = await send({ from: undefined, template: await makeTemplate() });
    const errors = [["from", "required"]] as const;
    expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors });
  });
});

describe("the sender's domain must be exactly a verified one of the project", () => {
  const refused = [
    "a@mail.acme.test",
    "a@acme.test.example",
    "a@xacme.test",
    "a@other.test",
    "a@pending.test",
    "a@unknown.test",
    '"a@acme.test"@unknown.test',
  ];
  for (const from of refused) {
    test(`${from}: 403, and nothing is stored`, async () => {
      await t.makeProject("other");
      await addDomain(t.app, t.project.seq, "pending.test");
      t.db.sqlite.run("UPDATE domains SET status = 'PENDING' WHERE domain = 'pending.test'");
      const before = t.contents();
      expectError(await send({ from }), { status: 403, code: "DOMAIN_NOT_VERIFIED" });
      expect(t.contents()).toEqual(before);
    });
  }

  test("of a template's sender too", async () => {
    const id = await makeTemplate({ from: "a@elsewhere.test" });
    const answer = await send({ template: id, from: undefined });
    expectError(answer, { status: 403, code: "DOMAIN_NOT_VERIFIED" });
  });

  test("in any case, and in its own letters", async () => {
    await addDomain(t.app, t.project.seq, "xn--bcher-kva.test");
    expect((await send({ from: "A@ACME.Test" })).status).toBe(200);
    expect((await send({ from: "a@bücher.test" })).status).toBe(200);
  });

  test("unless the operator does not ask for it", async () => {
    const free = await testApp({ config: { requireVerifiedDomain: false } });
    expect((await send({ from: "a@anything.example" }, free)).status).toBe(200);
    await free.close();
  });
});

describe("a template", () => {
  test("gives subject and body; what the request gives goes before", async () => {
    const id = await makeTemplate({ from: "t@acme.test" });
    const own = await received({ template: id, subject: undefined, body: undefined });
    expect([own.subject, own.html]).toEqual(["From the template", "<p>Template body</p>"]);
    const mixed = await received({ template: id, body: undefined, from: undefined });
    expect([mixed.subject, mixed.html, mixed.from?.text]).toEqual([
      "Hi",
      "<p>Template body</p>",
      "t@acme.test",
    ]);
    const answer = await send({ template: id });
    const record = await t.call("GET", `/emails/${answer.text("emails.0.email")}`);
    expect(record.at("data.templateId")).toBe(id);
  });

  test("changed or deleted afterwards, changes no mail that was accepted", async () => {
    const id = await makeTemplate();
    const answer = await send({ template: id, subject: undefined, body: undefined });
    await t.call("PATCH", `/templates/${id}`, { body: "changed", subject: "changed" });
    await t.call("DELETE", `/templates/${id}`);
    const parsed = await rawMail(answer.text("emails.0.email"));
    expect([parsed.subject, parsed.html]).toEqual(["From the template", "<p>Template body</p>"]);
  });

  for (const id of ["nope", crypto.randomUUID(), "", "'; DROP TABLE emails; --"]) {
    test(`that is not there (${JSON.stringify(id)}) is 404`, async () => {
      const answer = await send({ template: id });
      expectError(answer, { status: 404, code: "TEMPLATE_NOT_FOUND" });
    });
  }

  test("of another project is 404", async () => {
    const other = await t.makeProject("other");
    const id = await t.create("/templates", template, "data.id", { key: other.secretKey });
    expectError(await send({ template: id }), { status: 404, code: "TEMPLATE_NOT_FOUND" });
  });

  test("with a syntax error is 422 with line and column, inline", async () => {
    const answer = await send({ subject: "Hi {{ name", body: "<p>\n  {% if x %}</p>" });
    const errors = [
      ["subject", "invalid_format"],
      ["body", "invalid_format"],
    ] as const;
    expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors });
    expect(answer.at("error.errors.0.message")).toMatch(
      /^has a syntax error in line 1, column 4: /,
    );
    expect(answer.at("error.errors.1.message")).toMatch(
      /^has a syntax error in line 2, column 3: /,
    );
  });

  test("with a syntax error is 422 with line and column, stored by an older version", async () => {
    const id = await makeTemplate();
    t.db.sqlite.run("UPDATE templates SET body = ?", ["a\nb {{ x | nosuchfilter }}"]);
    const before = t.contents();
    const answer = await send({ template: id, body: undefined });
    const errors = [["body", "invalid_format"]] as const;
    expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors });
    expect(answer.at("error.errors.0.message")).toMatch(
      /^has a syntax error in line 2, column 3: /,
    );
    expect(t.contents()).toEqual(before);
  });
});

describe("rendering", () => {
  const cases: [why: string, source: string, data: object, subject: string, html: string][] = [
    ["a variable", "{{ name }}", { name: "Ada" }, "Ada", "Ada"],
    ["under data", "{{ data.name }}", { name: "Ada" }, "Ada", "Ada"],
    ["nested", "{{ order.items[1].title }}", { order: { items: [{}, { title: "B" }] } }, "B", "B"],
    ["missing is empty", "[{{ nothing }}]", {}, "[]", "[]"],
    ["fallback", "{{ nothing ?? friend }}", {}, "friend", "friend"],
    ["escaped in HTML only", "{{ x }}", { x: "<a>&" }, "<a>&", "&lt;a&gt;&amp;"],
    ["raw", "{{ x | raw }}", { x: "<b>x</b>" }, "<b>x</b>", "<b>x</b>"],
    ["filters and tags", "{% if n > 1 %}{{ n | times: 2 }}{% endif %}", { n: 2 }, "4", "4"],
    ["the contact's data", "{{ plan }}/{{ data.plan }}", {}, "pro/pro", "pro/pro"],
    ["the request's data over it", "{{ plan }}", { plan: "free" }, "free", "free"],
    ["null hides the contact's", "[{{ plan }}]", { plan: null }, "[]", "[]"],
    ["the recipient", "{{ email }}", { email: "x" }, "ada@example.com", "ada@example.com"],
    ["the project", "{{ project.name }}", {}, "acme", "acme"],
  ];
  for (const [why, source, data, subject, html] of cases) {
    test(why, async () => {
      await t.create("/contacts", { email: "ada@example.com", data: { plan: "pro" } }, "id");
      const parsed = await received({ subject: source, body: source, data });
      expect([parsed.subject, parsed.html]).toEqual([subject, html]);
    });
  }

  test("id is the contact's, links are the mail's own", async () => {
    const id = await t.create("/contacts", { email: "ada@example.com" }, "id");
    const parsed = await received({
      subject: "{{ id }}",
      body: "{{ unsubscribeUrl }} {{ subscribeUrl }} {{ manageUrl }}",
    });
    expect(parsed.subject).toBe(id);
    expect(parsed.html).toMatch(
      /^http:\/\/\S+\/unsubscribe\/([\w-]+) http:\/\/\S+\/subscribe\/\1 http:\/\/\S+\/manage\/\1$/,
    );
  });

  test("each recipient sees its own contact's data", async () => {
    await t.create("/contacts", { email: "a@example.com", data: { name: "A" } }, "id");
    const answer = await send({
      to: ["a@example.com", { email: "b@example.com", name: "B" }, "c@example.com"],
      subject: "Hi {{ name ?? you }}",
    });
    const subjects = [];
    for (const email of listAt(answer.body, "emails")) {
      const record = await t.call("GET", `/emails/${stringAt(email, "email")}`);
      subjects.push(record.at("data.subject"));
    }
    expect(subjects).toEqual(["Hi A", "Hi B", "Hi you"]);
  });

  test("what the contact becomes later changes no mail that was accepted", async () => {
    const id = await t.create(
      "/contacts",
      { email: "ada@example.com", data: { plan: "pro" } },
      "id",
    );
    const answer = await send({ body: "{{ plan }}" });
    await t.call("PATCH", `/contacts/${id}`, { data: { plan: "free" } });
    expect((await rawMail(answer.text("emails.0.email"))).html).toBe("pro");
  });
});

describe("a MARKETING template", () => {
  const marketing = { type: "MARKETING" };

  test("goes to subscribers", async () => {
    await t.create("/contacts", { email: "ada@example.com" }, "id");
    expect((await send({ template: await makeTemplate(marketing) })).status).toBe(200);
  });

  test("goes to whom this very request subscribes", async () => {
    const id = await makeTemplate(marketing);
    expect((await send({ template: id, subscribed: true })).status).toBe(200);
    expect(t.eventNames()).toEqual(["contact.subscribed"]);
  });

  const refusals: [why: string, before: boolean | null, fields: object][] = [
    ["a stranger", null, {}],
    ["somebody unsubscribed", false, {}],
    ["a subscriber whom this request takes off", true, { subscribed: false }],
  ];
  for (const [why, before, fields] of refusals) {
    test(`to ${why}: 400, and nothing is stored`, async () => {
      if (before !== null) {
        await t.create("/contacts", { email: "ada@example.com", subscribed: before }, "id");
      }
      const template = await makeTemplate(marketing);
      const stored = t.contents();
      const answer = await send({ template, data: { new: 1 }, ...fields });
      expectError(answer, { status: 400, code: "RECIPIENT_UNSUBSCRIBED" });
      expect(t.contents()).toEqual(stored);
    });
  }

  test("to one unsubscribed among 500, the 400th: nobody gets it, nothing is stored", async () => {
    const to = Array.from({ length: 500 }, (_, i) => `m${i}@example.com`);
    await send({ to, subscribed: true });
    await t.call("POST", "/contacts", { email: "m399@example.com", subscribed: false });
    const template = await makeTemplate(marketing);
    const stored = t.contents();
    const answer = await send({ to, template, data: { changed: true } });
    expectError(answer, { status: 400, code: "RECIPIENT_UNSUBSCRIBED" });
    expect(answer.text("error.message")).toContain("m399@example.com");
    expect(t.contents()).toEqual(stored);
  });
});

describe("a suppressed address", () => {
  const suppress = (address: string) =>
    createSuppressions({ db: t.db }).add(t.project.seq, address, { reason: "COMPLAINT", at: 0 });

  test("gets a record and an event, and no mail; the others get theirs", async () => {
    suppress("bad@example.com");
    const answer = await send({ to: ["bad@example.com", "good@example.com"] });
    expect(answer.status).toBe(200);
    expect(t.eventNames()).toEqual(["email.suppressed"]);
    await t.deliver();
    const statuses = [];
    for (const email of listAt(answer.body, "emails")) {
      const { body } = await t.call("GET", `/emails/${stringAt(email, "email")}`);
      statuses.push([
        valueAt(body, "data.status"),
        valueAt(body, "data.nextAttemptAt"),
        valueAt(body, "data.sentAt"),
      ]);
    }
    expect(statuses).toEqual([
      ["SUPPRESSED", null, null],
      ["SENT", null, "2026-03-02T10:00:00.000Z"],
    ]);
    const event = await t.call("GET", "/events?event=email.suppressed");
    expect(event.at("data.items.0")).toMatchObject({
      data: { reason: "COMPLAINT" },
      contactEmail: "bad@example.com",
      emailId: answer.at("emails.0.email"),
    });
  });

  test("in whatever spelling, and only in its project", async () => {
    suppress("bad@example.com");
    const answer = await send({ to: " BAD@Example.COM " });
    const record = await t.call("GET", `/emails/${answer.text("emails.0.email")}`);
    expect(record.at("data.status")).toBe("SUPPRESSED");
    const other = await t.makeProject("other");
    const theirs = { ...mail, to: "bad@example.com", from: "a@other.test" };
    await t.call("POST", "/v1/send", theirs, { key: other.secretKey });
    expect(t.eventNames()).toEqual(["email.suppressed"]);
  });
});

describe("what mails have in common is stored once", () => {
  const attachment = { filename: "a.txt", content: btoa("hello") };
  const cases: [why: string, second: object, messages: number, contents: number][] = [
    ["the same content again", {}, 1, 1],
    ["to others", { to: "bob@example.com" }, 1, 1],
    ["with other data and another subject", { data: { x: 2 }, subject: "Ho" }, 1, 1],
    ["another body", { body: "<p>Ho</p>" }, 2, 1],
    ["another sender", { from: { email: "a@acme.test", name: "A" } }, 2, 1],
    ["another header", { headers: { "X-A": "2" } }, 2, 1],
    [
      "the attachment by another name",
      { attachments: [{ ...attachment, filename: "b.txt" }] },
      2,
      1,
    ],
    ["another attachment", { attachments: [{ ...attachment, content: btoa("other") }] }, 2, 2],
  ];
  for (const [why, second, messages, contents] of cases) {
    test(why, async () => {
      const first = { attachments: [attachment], headers: { "X-A": "1" } };
      await send(first);
      await send({ ...first, ...second });
      expect([t.countRows("messages"), t.countRows("attachment_contents")]).toEqual([
        messages,
        contents,
      ]);
      expect(t.countRows("emails")).toBe(2);
    });
  }

  test("but never across projects", async () => {
    const other = await t.makeProject("other");
    const giveDomainTo = (name: string) =>
      t.db.sqlite.run(
        "UPDATE domains SET project_seq = (SELECT seq FROM projects WHERE name = ?) WHERE domain = 'acme.test'",
        [name],
      );
    giveDomainTo("other");
    await t.call("POST", "/v1/send", mail, { key: other.secretKey });
    giveDomainTo("acme");
    await send();
    expect(t.countRows("messages")).toBe(2);
  });
});

describe("attachments and headers arrive as they were sent", () => {
  test("attachments of all kinds", async () => {
    const bytes = Buffer.from(Array.from({ length: 300 }, (_, i) => i % 256));
    const parsed = await received({
      body: '<img src="cid:logo@acme">',
      attachments: [
        { filename: "räport.pdf", content: bytes.toString("base64") },
        {
          filename: "logo.png",
          content: bytes.toString("base64"),
          contentId: "logo@acme",
          disposition: "inline",
        },
        { filename: "data", content: btoa("a,b"), contentType: "text/csv; charset=utf-8" },
        { filename: "empty.txt", content: "" },
        { filename: "named", content: btoa("<a/>"), type: "text/xml" },
        { filename: "both", content: "", type: "Text/CSV", contentType: "text/csv" },
      ],
    });
    const seen = Object.fromEntries(
      parsed.attachments.map((a) => [
        a.filename,
        [a.contentType, a.contentDisposition, a.cid, a.size],
      ]),
    );
    expect(seen).toEqual({
      both: ["text/csv", "attachment", undefined, 0],
      data: ["text/csv", "attachment", undefined, 3],
      "empty.txt": ["text/plain", "attachment", undefined, 0],
      "logo.png": ["image/png", "inline", "logo@acme", 300],
      named: ["text/xml", "attachment", undefined, 4],
      "räport.pdf": ["application/pdf", "attachment", undefined, 300],
    });
    const pdf = parsed.attachments.find((a) => a.contentType === "application/pdf");
    expect(pdf?.content.equals(bytes)).toBe(true);
  });

  test("ten of them, and ten mebibytes decoded", async () => {
    const mebibyte = Buffer.alloc(1024 * 1024, 7).toString("base64");
    const attachments = Array.from({ length: 10 }, (_, i) => ({
      filename: `${i}.bin`,
      content: mebibyte,
    }));
    expect((await send({ attachments })).status).toBe(200);
  });

  test("headers, List-Unsubscribe of the caller included", async () => {
    const headers = {
      "X-Order": "4711",
      "List-Unsubscribe": "<https://shop.example/u>",
      "In-Reply-To": "<a@example.com>",
      "X-Note": "grüße",
    };
    const parsed = await received({ headers });
    expect(parsed.headers.get("x-order")).toBe("4711");
    expect(parsed.inReplyTo).toBe("<a@example.com>");
    expect(parsed.headers.get("x-note")).toBe("=?UTF-8?Q?gr=C3=BC=C3=9Fe?="); // As on the wire.
    const lines = parsed.headerLines.filter(({ key }) => key === "list-unsubscribe");
    expect(lines.map(({ line }) => line)).toEqual(["List-Unsubscribe: <https://shop.example/u>"]);
  });

  test("a plain-text alternative is made from the HTML", async () => {
    const parsed = await received({
      body: "<h1>Hello</h1><p>A <a href='https://x.example/'>link</a></p>",
    });
    expect(parsed.text?.toLowerCase()).toContain("hello");
    expect(parsed.text).toContain("https://x.example/");
  });

  test("Message-ID and Date are those of acceptance", async () => {
    const answer: TestResponse = await send();
    t.clock.advance(5000);
    const parsed = await rawMail(answer.text("emails.0.email"));
    expect(parsed.messageId).toBe(`<${answer.text("emails.0.email")}@acme.test>`);
    expect(parsed.date?.toISOString()).toBe(answer.text("timestamp"));
  });
});

test("two simultaneous mails to a stranger make one contact", async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => send({ data: { x: 1 } })));
  expect(new Set(answers.map((answer) => answer.text("emails.0.contact.id"))).size).toBe(1);
  expect([t.countRows("contacts"), t.countRows("emails")]).toEqual([1, 20]);
});
