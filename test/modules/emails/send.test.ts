/** `POST /v1/send` (docs/interface.md#send): accepted requests and their effects. */

import { beforeEach, describe, expect, test } from "bun:test";
import { type ParsedMail, simpleParser } from "mailparser";
import { addSuppression } from "../../../src/modules/suppressions.ts";
import { addDomain, type TestApp, testApp } from "../../support/app.ts";
import { valueAt, listAt, stringAt } from "../../support/json.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { expectError } from "../../support/refusal.ts";

/** Nothing is sent here, because no test starts this application. */
const projects = projectPerTest();
/** The application of the tests that look at mails as recipients get them. */
const delivering = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const mail = { to: "ada@example.com", from: "a@acme.test", subject: "Hi", body: "<p>Hi</p>" };
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const send = (fields: object = {}, app = t) => app.call("POST", "/v1/send", { ...mail, ...fields });

/** Sends and delivers one mail, and parses it as a recipient would. */
async function received(fields: object): Promise<ParsedMail> {
  const answer = await send(fields);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return rawMail(answer.text("emails.0.email"));
}

async function rawMail(id: string, app = t): Promise<ParsedMail> {
  await app.deliver();
  const { body } = await app.call("GET", `/emails/${id}/raw`);
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
  test("has contact and email record of each recipient, in order, and the time", async () => {
    const answer = await send({
      to: ["b@example.com", { name: "Cy", email: " C@Example.com " }, "a@example.com"],
    });
    expect(answer.status).toBe(200);
    expect(answer.at("success")).toBe(true);
    expect(answer.at("data.timestamp")).toBe(new Date(t.clock.now()).toISOString());
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

  test("repeats code, message and time of an error at top level", async () => {
    const answer = await send({ to: "nope" });
    const message = answer.at("error.message");
    expect(answer.body).toMatchObject({ code: 422, message, time: t.clock.now() });
  });

  test("is 200 once the email, the contact and the content are stored", async () => {
    await send();
    const rows = ["emails", "contacts", "messages"].map((table) => t.countRows(table));
    expect(rows).toEqual([1, 1, 1]);
  });

  test("is followed by sending the mail immediately", async () => {
    t = await delivering.next();
    await t.deliver(); // Starts the dispatcher.
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
  test.each(forms)("%s is used in the To header, and a name is stored", async (_, to, name) => {
    t = await delivering.next();
    const parsed = await received({ to });
    expect(parsed.to).toMatchObject({ value: [{ address: "ada@example.com", name: name ?? "" }] });
    expect(valueAt(await contact(), "data")).toEqual(name === undefined ? {} : { name });
  });

  test("each get a message of their own that names no other recipient", async () => {
    t = await delivering.next();
    const answer = await send({ to: ["a@example.com", "b@example.com"] });
    for (const email of listAt(answer.body, "emails")) {
      const parsed = await rawMail(stringAt(email, "email"));
      expect(parsed.to).toMatchObject({ text: stringAt(email, "contact.email") });
      expect([parsed.cc, parsed.bcc]).toEqual([undefined, undefined]);
    }
  });

  test("given twice get two mails and are one contact", async () => {
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

  test("of one request share one stored content, even a thousand of them", async () => {
    const to = Array.from({ length: 1000 }, (_, i) => `r${i}@example.com`);
    const answer = await send({ to, subject: "For {{ email }}" });
    expect(listAt(answer.body, "emails")).toHaveLength(1000);
    expect([t.countRows("emails"), t.countRows("contacts"), t.countRows("messages")]).toEqual([
      1000, 1000, 1,
    ]);
  });
});

describe("the contact", () => {
  const cases: [
    why: string,
    before: boolean | null,
    given: boolean | undefined,
    after: boolean,
    events: string[],
  ][] = [
    ["is created unsubscribed by default", null, undefined, false, []],
    ["is created subscribed if requested", null, true, true, ["contact.subscribed"]],
    ["is created unsubscribed if requested", null, false, false, []],
    ["stays subscribed by default", true, undefined, true, []],
    ["stays subscribed if requested again", true, true, true, []],
    ["is unsubscribed if requested", true, false, false, ["contact.unsubscribed"]],
    ["stays unsubscribed by default", false, undefined, false, []],
    ["is subscribed if requested", false, true, true, ["contact.subscribed"]],
  ];
  test.each(cases)("%s", async (_, before, subscribed, after, events) => {
    if (before !== null) {
      await t.create("/contacts", { email: "ada@example.com", subscribed: before }, "id");
    }
    const known = t.eventNames().length;
    await send(subscribed === undefined ? {} : { subscribed });
    expect(valueAt(await contact(), "subscribed")).toBe(after);
    const names = t.eventNames().slice(known);
    expect(names.filter((name) => name !== "email.sent")).toEqual(events);
  });

  test("merges values, lists and objects into its data, not deeply, and null deletes", async () => {
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

  test("stores a wrapped value only if it is persistent, but it is always rendered", async () => {
    t = await delivering.next();
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

  test("does not store data under the names of built-in variables", async () => {
    t = await delivering.next();
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

  test("accepts names of JavaScript object members as ordinary names", async () => {
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
    ["empty for an address alone", ["a@acme.test", undefined, undefined], ""],
    ["first from.name", [{ email: "a@acme.test", name: "From" }, "Name", "Template"], "From"],
    ["then name", [{ email: "a@acme.test" }, "Name", "Template"], "Name"],
    ["name beside a plain from", ["a@acme.test", "Name", "Template"], "Name"],
    ["then that of the template", ["a@acme.test", undefined, "Template"], "Template"],
    ["name with the template's address", [undefined, "Name", "Template"], "Name"],
    ["the template's name and address", [undefined, undefined, "Template"], "Template"],
  ];
  test("has a display name: that of from, the request, the template, or none", async () => {
    t = await delivering.next();
    for (const [why, [from, name, fromName], expected] of names) {
      const id = await makeTemplate({ from: "template@acme.test", fromName });
      const parsed = await received({ template: id, from, name });
      const address = from === undefined ? "template@acme.test" : "a@acme.test";
      expect([why, parsed.from?.value]).toEqual([why, [{ address, name: expected }]]);
    }
  });

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
    ["one with a name", '"Help, Inc." <R@example.com>', null, '"Help, Inc." <r@example.com>'],
    ["one with a name in letters", "Zoë <r@example.com>", null, '"Zoë" <r@example.com>'],
    ["the template's name", undefined, "Help <t@example.com>", '"Help" <t@example.com>'],
  ];
  test("has a Reply-To: that of the request, the template, or none", async () => {
    t = await delivering.next();
    for (const [why, reply, replyTo, expected] of replies) {
      const id = await makeTemplate({ replyTo });
      const parsed = await received({ template: id, reply });
      expect([why, parsed.replyTo?.text]).toEqual([why, expected]);
    }
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
  test("another one is refused with 403, and nothing is stored", async () => {
    await t.makeProject("other");
    await addDomain(t.app, t.project.seq, "pending.test");
    t.db.sqlite.run("UPDATE domains SET status = 'PENDING' WHERE domain = 'pending.test'");
    const before = t.contents();
    for (const from of refused) {
      const answer = await send({ from });
      expect([from, answer.status]).toEqual([from, 403]);
      expectError(answer, { status: 403, code: "DOMAIN_NOT_VERIFIED" });
    }
    expect(t.contents()).toEqual(before);
  });

  test("also if the template names the sender", async () => {
    const id = await makeTemplate({ from: "a@elsewhere.test" });
    const answer = await send({ template: id, from: undefined });
    expectError(answer, { status: 403, code: "DOMAIN_NOT_VERIFIED" });
  });

  test("in any letter case and in Unicode", async () => {
    await addDomain(t.app, t.project.seq, "xn--bcher-kva.test");
    expect((await send({ from: "A@ACME.Test" })).status).toBe(200);
    expect((await send({ from: "a@bücher.test" })).status).toBe(200);
  });

  test("unless the operator disabled the requirement", async () => {
    const free = await testApp({ config: { requireVerifiedDomain: false } });
    expect((await send({ from: "a@anything.example" }, free)).status).toBe(200);
    await free.close();
  });
});

describe("a template", () => {
  test("provides subject and body unless the request does", async () => {
    t = await delivering.next();
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

  test("that does not exist is 404", async () => {
    const known = await makeTemplate({});
    for (const id of ["nope", "", "'; DROP TABLE emails; --", `${known} x`]) {
      const answer = await send({ template: id });
      expectError(answer, { status: 404, code: "TEMPLATE_NOT_FOUND" });
    }
  });

  test("that was changed is sent as it is now", async () => {
    t = await delivering.next();
    const id = await makeTemplate({});
    for (const body of ["<p>Second</p>", "<p>Third</p>"]) {
      await t.call("PATCH", `/templates/${id}`, { body });
      expect((await received({ template: id, body: undefined })).html).toBe(body);
    }
  });

  test("with a syntax error in the request is 422 with line and column", async () => {
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

  test("with a stored syntax error is 422 with line and column", async () => {
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
    ["a variable under data", "{{ data.name }}", { name: "Ada" }, "Ada", "Ada"],
    [
      "special characters, escaped in HTML only",
      "{{ x }}",
      { x: "<a>&" },
      "<a>&",
      "&lt;a&gt;&amp;",
    ],
    ["the contact's data", "{{ plan }}/{{ data.plan }}", {}, "pro/pro", "pro/pro"],
    ["the request's data instead of the contact's", "{{ plan }}", { plan: "free" }, "free", "free"],
    [
      "null in the request instead of the contact's data",
      "[{{ plan }}]",
      { plan: null },
      "[]",
      "[]",
    ],
    [
      "the recipient's address",
      "{{ email }}",
      { email: "x" },
      "ada@example.com",
      "ada@example.com",
    ],
    ["the name of the project", "{{ project.name }}", {}, "acme", "acme"],
  ];
  test("puts values into subject and body", async () => {
    t = await delivering.next();
    const contactId = await t.create("/contacts", { email: "ada@example.com" }, "id");
    const ids: string[] = [];
    for (const [, source, data] of cases) {
      await t.call("PATCH", `/contacts/${contactId}`, { data: null });
      await t.call("PATCH", `/contacts/${contactId}`, { data: { plan: "pro" } });
      const answer = await send({ subject: source, body: source, data });
      ids.push(answer.text("emails.0.email"));
    }
    for (const [i, [why, , , subject, html]] of cases.entries()) {
      const parsed = await rawMail(ids[i] ?? "");
      expect([why, parsed.subject, parsed.html]).toEqual([why, subject, html]);
    }
  });

  test("renders the id of the contact and the links of the mail", async () => {
    t = await delivering.next();
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

  test("renders the data of each recipient's contact", async () => {
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
});

test("an accepted mail is as of its acceptance: contact, template, Message-ID and Date", async () => {
  // This application starts sending only after the changes.
  const own = await testApp();
  const data = { plan: "pro" };
  const contactId = await own.create("/contacts", { email: "ada@example.com", data }, "id");
  const fields = { ...template, body: "{{ plan }}" };
  const templateId = await own.create("/templates", fields, "data.id");
  const answer = await send({ template: templateId, subject: undefined, body: undefined }, own);
  await own.call("PATCH", `/contacts/${contactId}`, { data: { plan: "free" } });
  await own.call("PATCH", `/templates/${templateId}`, { body: "changed", subject: "changed" });
  await own.call("DELETE", `/templates/${templateId}`);
  own.clock.advance(5000);
  const id = answer.text("emails.0.email");
  const parsed = await rawMail(id, own);
  expect([parsed.subject, parsed.html]).toEqual(["From the template", "pro"]);
  expect(parsed.messageId).toBe(`<${id}@acme.test>`);
  expect(parsed.date?.toISOString()).toBe(answer.text("timestamp"));
  await own.close();
});

describe("a MARKETING template", () => {
  const marketing = { type: "MARKETING" };

  test("is sent to a contact that the same request subscribes", async () => {
    const id = await makeTemplate(marketing);
    expect((await send({ template: id, subscribed: true })).status).toBe(200);
    expect(t.eventNames()).toEqual(["contact.subscribed"]);
  });

  const refusals: [why: string, before: boolean | null, fields: object][] = [
    ["an unknown address", null, {}],
    ["an unsubscribed contact", false, {}],
    ["a contact that the same request unsubscribes", true, { subscribed: false }],
  ];
  test.each(refusals)(
    "is refused for %s with 400, and nothing is stored",
    async (_, before, fields) => {
      if (before !== null) {
        await t.create("/contacts", { email: "ada@example.com", subscribed: before }, "id");
      }
      const template = await makeTemplate(marketing);
      const stored = t.contents();
      const answer = await send({ template, data: { new: 1 }, ...fields });
      expectError(answer, { status: 400, code: "RECIPIENT_UNSUBSCRIBED" });
      expect(t.contents()).toEqual(stored);
    },
  );

  test("is refused for 500 recipients if the 400th is unsubscribed, and nothing is stored", async () => {
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
    addSuppression(t.app.app, t.project.seq, address, { reason: "COMPLAINT", at: 0 });

  test("gets a record and an event but no mail, and other recipients get mail", async () => {
    t = await delivering.next();
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
      ["SENT", null, new Date(t.clock.now()).toISOString()],
    ]);
    const event = await t.call("GET", "/events?event=email.suppressed");
    expect(event.at("data.items.0")).toMatchObject({
      data: { reason: "COMPLAINT" },
      contactEmail: "bad@example.com",
      emailId: answer.at("emails.0.email"),
    });
  });

  test("is recognised in any spelling, and only in its project", async () => {
    suppress("bad@example.com");
    const answer = await send({ to: " BAD@Example.COM " });
    const record = await t.call("GET", `/emails/${answer.text("emails.0.email")}`);
    expect(record.at("data.status")).toBe("SUPPRESSED");
    const other = await t.makeProject("other");
    const otherMail = { ...mail, to: "bad@example.com", from: "a@other.test" };
    const key = { key: other.secretKey };
    const sent = await t.create("/v1/send", otherMail, "emails.0.email", key);
    const otherRecord = await t.call("GET", `/emails/${sent}`, undefined, key);
    expect(otherRecord.at("data.status")).not.toBe("SUPPRESSED");
    expect(t.eventNames()).toEqual(["email.suppressed"]);
  });
});

describe("common content of mails is stored once", () => {
  const attachment = { filename: "a.txt", content: btoa("hello") };
  const cases: [why: string, second: object, messages: number, contents: number][] = [
    ["for the same content", {}, 1, 1],
    ["for other recipients", { to: "bob@example.com" }, 1, 1],
    ["for other data and another subject", { data: { x: 2 }, subject: "Ho" }, 1, 1],
    ["but not for another body", { body: "<p>Ho</p>" }, 2, 1],
    ["but not for another sender", { from: { email: "a@acme.test", name: "A" } }, 2, 1],
    ["but not for another header", { headers: { "X-A": "2" } }, 2, 1],
    [
      "but not for the same attachment with another name",
      { attachments: [{ ...attachment, filename: "b.txt" }] },
      2,
      1,
    ],
    [
      "but not for another attachment",
      { attachments: [{ ...attachment, content: btoa("other") }] },
      2,
      2,
    ],
  ];
  test.each(cases)("%s", async (_, second, messages, contents) => {
    const first = { attachments: [attachment], headers: { "X-A": "1" } };
    await send(first);
    await send({ ...first, ...second });
    const tables = ["emails", "messages", "attachment_contents"];
    expect(tables.map((table) => t.countRows(table))).toEqual([2, messages, contents]);
  });

  test("but not for another project", async () => {
    const other = await t.makeProject("other");
    const giveDomainTo = (projectSeq: number) =>
      t.db.sqlite.run("UPDATE domains SET project_seq = ? WHERE domain = 'acme.test'", [
        projectSeq,
      ]);
    giveDomainTo(other.project.seq);
    await t.call("POST", "/v1/send", mail, { key: other.secretKey });
    giveDomainTo(t.project.seq);
    await send();
    expect([t.countRows("messages"), t.inProject(other).countRows("messages")]).toEqual([1, 1]);
  });
});

describe("a received mail", () => {
  test("has the attachments that were sent", async () => {
    t = await delivering.next();
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
    const found = Object.fromEntries(
      parsed.attachments.map((a) => [
        a.filename,
        [a.contentType, a.contentDisposition, a.cid, a.size],
      ]),
    );
    expect(found).toEqual({
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

  test("may have ten attachments of ten mebibytes together, decoded", async () => {
    const mebibyte = Buffer.alloc(1024 * 1024, 7).toString("base64");
    const attachments = Array.from({ length: 10 }, (_, i) => ({
      filename: `${i}.bin`,
      content: mebibyte,
    }));
    expect((await send({ attachments })).status).toBe(200);
  });

  test("has the headers that were sent, including List-Unsubscribe", async () => {
    t = await delivering.next();
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
});

test("concurrent mails to an unknown address create one contact", async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => send({ data: { x: 1 } })));
  expect(new Set(answers.map((answer) => answer.text("emails.0.contact.id"))).size).toBe(1);
  expect([t.countRows("contacts"), t.countRows("emails")]).toEqual([1, 20]);
});
