import { beforeEach, describe, expect, test } from "bun:test";
import type { TestApp } from "../support/app.ts";
import { projectPerTest } from "../support/project-per-test.ts";
import { expectError } from "../support/refusal.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const BODY = "<body><h1>Acme</h1>{{ content }}<p>{{ city }}</p></body>";
const create = (body = BODY, name = "Letter") => t.create("/layouts", { name, body }, "data.id");
const createTemplate = (fields: object) =>
  t.create(
    "/templates",
    { name: "T", subject: "x", body: "<p>Hi</p>", type: "TRANSACTIONAL", ...fields },
    "data.id",
  );
const get = (id: string) => t.call("GET", `/layouts/${id}`);

describe("layouts", () => {
  test("are made, read, listed, changed and deleted", async () => {
    const made = await t.call("POST", "/layouts", { name: "Letter", body: BODY });
    const id = made.text("data.id");
    const now = new Date(t.clock.now()).toISOString();
    const data = { id, name: "Letter", body: BODY, revision: 1, createdAt: now, updatedAt: now };
    expect([made.status, made.at("data")]).toEqual([201, data]);
    expect((await get(id)).body).toEqual(made.body);
    await create(BODY, "Other");
    expect((await t.call("GET", "/layouts?name=ette")).at("data.items")).toEqual([data]);
    t.clock.advance(1000);
    const same = await t.call("PATCH", `/layouts/${id}`, { name: "Letter", body: BODY });
    expect(same.at("data")).toEqual(data);
    const changed = await t.call("PATCH", `/layouts/${id}`, { name: "Card" });
    const updatedAt = new Date(t.clock.now()).toISOString();
    expect(changed.at("data")).toEqual({ ...data, name: "Card", revision: 2, updatedAt });
    expect((await t.call("DELETE", `/layouts/${id}`)).status).toBe(204);
    expectError(await get(id), { status: 404, code: "LAYOUT_NOT_FOUND" });
  });

  const refused: [why: string, body: string, message: RegExp][] = [
    ["no content", "<body></body>", /must contain \{\{ content \}\}/],
    [
      "content in a comment of Liquid",
      "{% comment %}{{ content }}{% endcomment %}",
      /not be inside/,
    ],
    ["content that is text", "{% raw %}{{ content }}{% endraw %}", /must contain/],
    ["content twice", "{{ content }}\n {{content}}", /line 2, column 2: .*only once/],
    ["content in a tag", "{% if a %}{{ content }}{% endif %}", /column 11: .*not be inside/],
    ["content with a filter", "{{ content | upcase }}", /must contain/],
    ["a syntax error", "{{ content }}\n{% if %}", /line 2/],
    ["another language", "{{ content }}{{{ x }}}", /Mustache/],
    ["too long", `{{ content }}${"x".repeat(256 * 1024)}`, /longer than 256 KiB/],
    ["too many tags", `{{ content }}${"{{a}}".repeat(1001)}`, /too many/],
  ];
  test("a body that is no layout is refused with its line", async () => {
    const id = await create();
    const before = t.contents();
    for (const [why, body, message] of refused) {
      for (const answer of [
        await t.call("POST", "/layouts", { name: "L", body }),
        await t.call("PATCH", `/layouts/${id}`, { body }),
      ]) {
        const errors = [["body", "invalid_format"]] as const;
        expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors });
        expect([why, answer.text("error.message")]).toEqual([why, expect.stringMatching(message)]);
      }
    }
    expect(t.contents()).toEqual(before);
  });

  test("a layout that a template has is kept, and its users are named", async () => {
    const id = await create();
    const template = await createTemplate({ name: "Receipt", layoutId: id });
    const answer = await t.call("DELETE", `/layouts/${id}`);
    expectError(answer, { status: 409, code: "CONFLICT" });
    expect(answer.text("error.message")).toBe('This layout is used by template "Receipt".');
    expect((await t.call("GET", `/layouts/${id}/usage`)).at("data.users")).toEqual([
      { kind: "template", id: template, name: "Receipt" },
    ]);
    await t.call("PATCH", `/templates/${template}`, { layoutId: null });
    expect((await t.call("DELETE", `/layouts/${id}`)).status).toBe(204);
  });

  test("a template and its layout fit into the limits of one template", async () => {
    const layout = `${"x".repeat(250 * 1024)}{{ content }}`;
    const small = await create("{{ content }}");
    const large = await create(layout);
    const body = "y".repeat(900 * 1024);
    const refusal = {
      status: 422,
      code: "VALIDATION_ERROR",
      errors: [["body", "too_big"]],
    } as const;
    const fields = { name: "T", subject: "x", body, type: "MARKETING" };
    expectError(await t.call("POST", "/templates", { ...fields, layoutId: large }), refusal);
    const template = await createTemplate({ ...fields, layoutId: small });
    expectError(await t.call("PATCH", `/layouts/${small}`, { body: layout }), refusal);
    expectError(await t.call("PATCH", `/templates/${template}`, { layoutId: large }), refusal);
    const tags = await createTemplate({ body: "{{a}}".repeat(9_900), layoutId: small });
    expectError(
      await t.call("PATCH", `/layouts/${small}`, { body: `{{ content }}${"{{a}}".repeat(500)}` }),
      refusal,
    );
    expect(tags).not.toBe("");
  });

  test("another project has no use of it", async () => {
    const id = await create();
    const other = t.inProject(await t.makeProject("other"));
    const fields = { name: "T", subject: "x", body: "x", type: "MARKETING", layoutId: id };
    expectError(await other.call("POST", "/templates", fields), {
      status: 422,
      code: "VALIDATION_ERROR",
      errors: [["layoutId", "unknown_reference"]],
    });
  });
});

describe("mail of a template with a layout", () => {
  async function sent(template: string, data: object = {}): Promise<string> {
    const mail = { from: "hello@acme.test", to: "ada@example.com", template, data };
    const accepted = await t.call("POST", "/v1/send", mail);
    return accepted.text("data.emails.0.email");
  }
  const htmlOf = async (id: string) =>
    (await t.call("GET", `/emails/${id}/content`)).at("data.html");

  test("is put into it; a change of the layout applies to later mail", async () => {
    const layoutId = await create();
    const template = await createTemplate({ layoutId });
    const first = await sent(template, { city: "Köln" });
    await t.call("PATCH", `/layouts/${layoutId}`, { body: "<b>{{ content }}</b>" });
    const second = await sent(template);
    await t.deliver();
    expect(await htmlOf(first)).toBe("<body><h1>Acme</h1><p>Hi</p><p>Köln</p></body>");
    expect(await htmlOf(second)).toBe("<b><p>Hi</p></b>");
    const shown = await t.call("POST", `/templates/${template}/preview`, {});
    expect(shown.at("data.html")).toBe("<b><p>Hi</p></b>");
  });

  test("the unsubscribe link of a layout replaces the footer of marketing mail", async () => {
    const plain = await create();
    const own = await create('{{ content }}<a href="{{ unsubscribeUrl }}">Bye</a>');
    for (const [layoutId, links] of [
      [plain, 1],
      [own, 1],
    ] as const) {
      const template = await createTemplate({ layoutId, type: "MARKETING" });
      const shown = await t.call("POST", `/templates/${template}/preview`, {});
      expect(shown.text("data.html").split("/unsubscribe/").length - 1).toBe(links);
    }
  });

  test("a body in the request replaces the template, its layout and its preheader", async () => {
    const layoutId = await create();
    const template = await createTemplate({ layoutId, preheader: "Soon" });
    const mail = { from: "hello@acme.test", to: "ada@example.com", template, body: "<i>own</i>" };
    const accepted = await t.call("POST", "/v1/send", mail);
    expect(await htmlOf(accepted.text("data.emails.0.email"))).toBe("<i>own</i>");
  });
});
