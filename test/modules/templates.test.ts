import { beforeEach, describe, expect, test } from "bun:test";
import { announcements } from "../../src/events/announcements.ts";
import type { TestApp } from "../support/app.ts";
import { listAt, stringAt } from "../support/json.ts";
import { projectPerTest } from "../support/project-per-test.ts";
import { expectError } from "../support/refusal.ts";
import { chain, step } from "./workflows/graphs.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const now = () => new Date(t.clock.now()).toISOString();
const required = {
  name: "Welcome",
  subject: "Hi {{ name }}",
  body: "<p>Hi</p>",
  type: "TRANSACTIONAL",
};
const optional = {
  description: "For all",
  from: "a@acme.test",
  fromName: "Acme",
  replyTo: "r@acme.test",
};
const none = { description: null, from: null, fromName: null, replyTo: null };
/** The other fields of a new template, without its design, as the list shows them. */
const listed = { preheader: null, format: "CODE", layoutId: null, topicId: null, revision: 1 };
const plain = { ...listed, design: null };

const post = (body: object) => t.call("POST", "/templates", body);
const create = (body: object = {}) => t.create("/templates", { ...required, ...body }, "data.id");
const get = (id: string) => t.call("GET", `/templates/${id}`);
const patch = (id: string, body: object) => t.call("PATCH", `/templates/${id}`, body);

describe("POST /templates", () => {
  const created: [what: string, given: object, stored: object][] = [
    ["only required fields", {}, none],
    ["all fields", optional, optional],
    ["null for optional fields", none, none],
    ["the type MARKETING", { type: "MARKETING" }, { ...none, type: "MARKETING" }],
    [
      "addresses that are normalized",
      { from: " A@ACME.test ", replyTo: "R@BÜCHER.test" },
      { ...none, from: "a@acme.test", replyTo: "r@xn--bcher-kva.test" },
    ],
    ["an empty sender name", { fromName: "" }, { ...none, fromName: "" }],
  ];
  test.each(created)(
    "creates a template with %s, and GET returns the same",
    async (_, given, stored) => {
      const answer = await post({ ...required, ...given });
      const id = expect.stringMatching(UUID);
      const data = { ...required, ...plain, ...stored, id, createdAt: now(), updatedAt: now() };
      expect([answer.status, answer.body]).toEqual([201, { success: true, data }]);
      expect((await get(answer.text("data.id"))).body).toEqual(answer.body);
    },
  );

  test("accepts a sender whose domain is not verified, which is checked when a mail is sent", async () => {
    expect((await post({ ...required, from: "a@elsewhere.example" })).status).toBe(201);
  });
});

describe("syntax errors are 422 with line and column, and nothing is stored", () => {
  const cases: [why: string, field: "subject" | "body", source: string, position: string][] = [
    ["an output that is not closed", "body", "<p>\nHi {{ name </p>", "in line 2, column 4: "],
    ["a tag that is not closed", "body", "a\n\n  {% if x %}b", "in line 3, column 3: "],
    ["a closing tag alone", "body", "a {% endif %}", "in line 1, column 3: "],
    ["an unknown tag", "body", "{% frobnicate %}", "in line 1, column 1: "],
    ["an unknown filter", "body", "x {{ a | frobnicate }}", "in line 1, column 3: "],
    ["a file", "body", "{% include 'other' %}", "in line 1, column 1: "],
    ["in the subject", "subject", "Hi {% if %}", "in line 1, column 9: "],
    [
      "after a fallback, with the position in the original source",
      "body",
      "{{ a ?? b }}\n{{ c ?? d }}{% if %}",
      "in line 2, column 18: ",
    ],
  ];
  test("in either field, or in both", async () => {
    const id = await create();
    const before = t.contents();
    for (const [why, field, source, position] of cases) {
      const errors = [[field, "invalid_format"]] as const;
      for (const answer of [
        await post({ ...required, [field]: source }),
        await patch(id, { [field]: source }),
      ]) {
        expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors });
        expect([why, answer.text("error.errors.0.message")]).toEqual([
          why,
          expect.stringContaining(position),
        ]);
      }
    }
    const both = await post({ ...required, subject: "{{", body: "{{" });
    const errors = [
      ["subject", "invalid_format"],
      ["body", "invalid_format"],
    ] as const;
    expectError(both, { status: 422, code: "VALIDATION_ERROR", errors });
    expect(t.contents()).toEqual(before);
  });

  test("a line break in the subject or an address is refused, and in a name it is a blank", async () => {
    const answer = await post({
      ...required,
      subject: "a\r\nb",
      replyTo: "a@b.co\r\n",
    });
    const errors = [
      ["subject", "invalid_format"],
      ["replyTo", "invalid_format"],
    ] as const;
    expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors });
    const names = { fromName: "a\r\n\tb\u2028", replyTo: "Ada\n B <a@b.co>" };
    const named = await post({ ...required, ...names });
    expect(named.at("data")).toMatchObject({ fromName: "a b", replyTo: "Ada B <a@b.co>" });
  });
});

test("every change of a template and of a layout is announced after its commit", async () => {
  const told: string[] = [];
  announcements(t.app.app).onAnnounced(({ type, id }) => told.push(`${type} ${id}`));
  const template = await create();
  await patch(template, { name: "Other" });
  await patch(template, { name: "Other" });
  await patch(template, { subject: "" });
  await t.call("DELETE", `/templates/${template}`);
  expect(told).toEqual(Array(3).fill(`template.changed ${template}`));
  told.length = 0;
  const layout = await t.create("/layouts", { name: "A", body: "{{ content }}" }, "data.id");
  await t.call("PATCH", `/layouts/${layout}`, { name: "B" });
  await t.call("PATCH", `/layouts/${layout}`, { name: "B" });
  await t.call("DELETE", `/layouts/${layout}`);
  expect(told).toEqual(Array(3).fill(`layout.changed ${layout}`));
});

describe("PATCH /templates/{id}", () => {
  const patches: [given: object, after: object][] = [
    [{ name: "Other" }, { name: "Other" }],
    [{ subject: "Ho" }, { subject: "Ho" }],
    [{ body: "<p>Ho</p>" }, { body: "<p>Ho</p>" }],
    [{ type: "MARKETING" }, { type: "MARKETING" }],
    [{ description: null }, { description: null }],
    [
      { from: null, fromName: null, replyTo: null },
      { from: null, fromName: null, replyTo: null },
    ],
    [{ from: "B@Acme.test" }, { from: "b@acme.test" }],
  ];
  test("changes only the given fields", async () => {
    for (const [given, after] of patches) {
      const id = await create(optional);
      const createdAt = now();
      t.clock.advance(1000);
      const answer = await patch(id, given);
      const changed = { ...required, ...optional, ...plain, ...after, revision: 2 };
      const data = { ...changed, id, createdAt, updatedAt: now() };
      expect([given, answer.status, answer.body]).toEqual([given, 200, { success: true, data }]);
      expect((await get(id)).body).toEqual(answer.body);
    }
  });

  test("a change of nothing makes no revision", async () => {
    const id = await create(optional);
    const before = await get(id);
    t.clock.advance(1000);
    for (const given of [{}, { name: "Welcome" }, { id: "mine", zzz: 1 }, before.at("data")]) {
      const answer = await patch(id, Object(given));
      expect([given, answer.status, answer.body]).toEqual([given, 200, before.body]);
    }
    expect((await t.call("GET", `/templates/${id}/versions`)).at("data.total")).toBe(1);
  });

  test("changes nothing if one field is invalid", async () => {
    const id = await create();
    const before = t.contents();
    const answer = await patch(id, { name: "Other", subject: null });
    const errors = [["subject", "invalid_type"]] as const;
    expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors });
    expect(t.contents()).toEqual(before);
  });
});

describe("GET and DELETE /templates/{id}", () => {
  test("DELETE responds 204 without a body, and the template is removed from the list", async () => {
    const [id, other] = [await create(), await create()];
    const answer = await t.call("DELETE", `/templates/${id}`);
    expect([answer.status, answer.body]).toEqual([204, undefined]);
    expectError(await get(id), { status: 404, code: "TEMPLATE_NOT_FOUND" });
    const list = await t.call("GET", "/templates");
    expect([list.at("data.total"), list.at("data.items.0.id")]).toEqual([1, other]);
  });

  test("the list contains all fields of each template", async () => {
    const id = await create(optional);
    const list = await t.call("GET", "/templates");
    const times = { createdAt: now(), updatedAt: now() };
    const data = { ...required, ...listed, ...optional, id, ...times };
    expect(list.body).toEqual({
      success: true,
      data: { items: [data], nextCursor: null, hasMore: false, total: 1 },
    });
  });
});

describe("POST /templates/{id}/preview", () => {
  const preview = (id: string, body?: object) => t.call("POST", `/templates/${id}/preview`, body);

  test("renders for a contact with data over its own, escaped only in HTML", async () => {
    const id = await create({ body: "<p>{{ name }} of {{ city }}</p>" });
    const contact = { email: "ada@example.net", data: { name: "A & B", city: "Rome" } };
    const contactId = await t.create("/contacts", contact, "id");
    const answer = await preview(id, { contactId, data: { city: "Paris" } });
    expect([answer.status, answer.at("data")]).toEqual([
      200,
      { subject: "Hi A & B", html: "<p>A &amp; B of Paris</p>", text: "A & B of Paris" },
    ]);
    expect(t.countRows("emails")).toBe(0);
  });

  test("renders missing values as empty without a contact and without a request body", async () => {
    const id = await create();
    expect((await preview(id)).at("data.subject")).toBe("Hi ");
  });

  test("reports the field that cannot be rendered", async () => {
    const id = await create({
      body: "{% for i in (1..n) %}{% for j in (1..n) %}x{% endfor %}{% endfor %}",
    });
    const answer = await preview(id, { data: { n: 9_000_000 } });
    expectError(answer, {
      status: 422,
      code: "VALIDATION_ERROR",
      errors: [["body", "invalid_value"]],
    });
  });

  test("is 404 for a contact of another project", async () => {
    const id = await create();
    const other = await t.makeProject("other");
    const key = { key: other.secretKey };
    const contactId = await t.create("/contacts", { email: "x@example.net" }, "id", key);
    expectError(await preview(id, { contactId }), { status: 404, code: "CONTACT_NOT_FOUND" });
  });
});

describe("GET /templates with a name", () => {
  test("finds templates by any part of their name, in any case", async () => {
    await create({ name: "Receipt 50%" });
    await create({ name: "Welcome back" });
    const names = async (name: string) =>
      listAt((await t.call("GET", `/templates?name=${name}`)).body, "data.items").map((item) =>
        stringAt(item, "name"),
      );
    expect(await names("welc")).toEqual(["Welcome back"]);
    expect(await names("0%25")).toEqual(["Receipt 50%"]);
    expect(await names("_")).toEqual([]);
    expect((await t.call("GET", "/templates?name=")).status).toBe(422);
  });
});

describe("GET /templates/{id}/usage", () => {
  test("names the workflows that send the template, and its variables", async () => {
    const id = await create({ body: "<p>{{ order }} {{ name ?? you }}</p>" });
    const usage = async () => (await t.call("GET", `/templates/${id}/usage`)).at("data");
    const apiSends = { count: 0, isComplete: true, lastAt: null };
    const placeholders = [
      { name: "name", isRequired: true, isProvided: false },
      { name: "order", isRequired: true, isProvided: false },
    ];
    expect(await usage()).toEqual({ users: [], apiSends, placeholders });
    const graph = chain(step("mail", "SEND_EMAIL", { templateId: id }));
    const workflow = await t.create("/workflows", { name: "Orders", ...graph }, "data.id");
    expect(await usage()).toEqual({
      users: [{ kind: "workflow", id: workflow, name: "Orders" }],
      apiSends,
      placeholders,
    });
    const refused = await t.call("DELETE", `/templates/${id}`);
    expectError(refused, { status: 409, code: "CONFLICT" });
    expect(refused.text("error.message")).toBe('This template is used by workflow "Orders".');
  });
});

describe("GET /templates/{id}/preview", () => {
  test("is a document for a frame, rendered for a contact", async () => {
    const id = await create({
      body: '<p>Hi {{ name }}</p><script>x</script><img src="https://a.test/b.png">',
    });
    const contact = await t.create(
      "/contacts",
      { email: "a@b.co", data: { name: "Ada <3" } },
      "id",
    );
    const shown = await t.call("GET", `/templates/${id}/preview?contactId=${contact}`);
    expect(shown.body).toBe('<p>Hi Ada &lt;3</p><img src="https://a.test/b.png">');
    const policy = String(shown.headers.get("content-security-policy"));
    expect(policy).toContain("sandbox allow-popups allow-popups-to-escape-sandbox;");
    expect(policy).toContain("img-src data: http://127.0.0.1:3000/i/;");
    const images = await t.call("GET", `/templates/${id}/preview?images=true&dark=true`);
    expect(images.headers.get("content-security-policy")).toContain(
      "img-src data: http://127.0.0.1:3000/i/ https:;",
    );
    expect(String(images.body)).toContain("invert(0.92)");
    const text = await t.call("GET", `/templates/${id}/preview?part=text`);
    expect([text.body, text.headers.get("content-type")]).toEqual([
      "Hi",
      "text/plain; charset=utf-8",
    ]);
  });

  test("only marketing mail has the footer, unless the body has the link itself", async () => {
    const shown = async (fields: object) => {
      const id = await create({ body: "<p>Hi</p>", ...fields });
      return String((await t.call("GET", `/templates/${id}/preview`)).body);
    };
    expect(await shown({ type: "TRANSACTIONAL" })).toBe("<p>Hi</p>");
    expect(await shown({ type: "MARKETING" })).toMatch(/^<p>Hi<\/p><div .+>Unsubscribe<\/a>/);
    const body = '<a href="{{ unsubscribeUrl }}">Leave</a>';
    expect(await shown({ type: "MARKETING", body })).not.toContain("Unsubscribe<");
  });

  test("reports a template that cannot be rendered", async () => {
    const id = await create({ body: "{% for i in (1..9000000) %}x{% endfor %}" });
    expectError(await t.call("GET", `/templates/${id}/preview`), {
      status: 422,
      code: "VALIDATION_ERROR",
      errors: [["body", "invalid_value"]],
    });
  });
});
