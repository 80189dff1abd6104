/** Templates in the interface of Resend (docs/resend.md). */

import { beforeEach, describe, expect, test } from "bun:test";
import { simpleParser } from "mailparser";
import type { TestApp } from "../../support/app.ts";
import { listAt } from "../../support/json.ts";
import { projectPerTest } from "../../support/project-per-test.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const call = (method: string, path: string, body?: unknown) =>
  t.call(method, `/resend${path}`, body);

const receipt = {
  name: "Receipt",
  from: "Acme <shop@acme.test>",
  reply_to: "help@acme.test",
  subject: "Order {{{ORDER}}}",
  html: "<p>{{{NAME}}}, {{{THING|a thing}}} for {{ price }}</p>",
  variables: [
    { key: "ORDER", type: "number" },
    { key: "NAME", type: "string", fallback_value: "friend" },
  ],
};
const create = async (fields: object = {}) =>
  (await call("POST", "/templates", { ...receipt, ...fields })).text("id");

describe("a template", () => {
  test("is created, read with its variables, changed, listed and deleted", async () => {
    const created = await call("POST", "/templates", receipt);
    const id = created.text("id");
    expect([created.status, created.body]).toEqual([201, { object: "template", id }]);
    const time = new Date(t.clock.now()).toISOString();
    const times = { created_at: time, updated_at: time };
    const listed = { id, name: "Receipt", alias: null, status: "published", published_at: time };
    expect((await call("GET", `/templates/${id}`)).body).toEqual({
      object: "template",
      ...listed,
      ...times,
      current_version_id: `${id}-1`,
      from: "Acme <shop@acme.test>",
      subject: "Order {{{ORDER}}}",
      reply_to: ["help@acme.test"],
      html: "<p>{{{NAME|friend}}}, {{{THING|a thing}}} for {{ price }}</p>",
      text: null,
      variables: [
        { key: "ORDER", type: "string", fallback_value: null, ...times },
        { key: "NAME", type: "string", fallback_value: "friend", ...times },
        { key: "THING", type: "string", fallback_value: "a thing", ...times },
      ],
      has_unpublished_versions: false,
    });
    expect((await call("GET", "/templates")).body).toEqual({
      object: "list",
      has_more: false,
      data: [{ ...listed, ...times }],
    });
    expect((await call("POST", `/templates/${id}/publish`)).body).toEqual({
      object: "template",
      id,
    });
    await call("PATCH", `/templates/${id}`, { name: "Bill" });
    const { at } = await call("GET", `/templates/${id}`);
    expect([at("name"), at("subject")]).toEqual(["Bill", "Order {{{ORDER}}}"]);
    const copy = (await call("POST", `/templates/${id}/duplicate`)).text("id");
    expect((await call("GET", `/templates/${copy}`)).at("name")).toBe("Bill copy");
    const deleted = await call("DELETE", `/templates/${id}`);
    expect(deleted.body).toEqual({ object: "template", id, deleted: true });
    expect((await call("GET", `/templates/${id}`)).status).toBe(404);
  });

  test("is sent with the variables of the request", async () => {
    const template = { id: await create(), variables: { ORDER: 1001, THING: "<book>" } };
    const sent = await call("POST", "/emails", { to: "ada@example.com", template });
    await t.deliver();
    const raw = await t.call("GET", `/emails/${sent.text("id")}/raw`);
    const parsed = await simpleParser(String(raw.body));
    expect(parsed.subject).toBe("Order 1001");
    expect(parsed.html).toContain("<p>friend, &lt;book&gt; for {{ price }}</p>");
    expect(parsed.replyTo?.text).toBe("help@acme.test");
  });

  test("keeps the characters of a fallback", async () => {
    const fallback = String.raw`a "b" | it's C:\d`;
    const variables = [{ key: "NAME", fallback_value: fallback }];
    const id = await create({ subject: "Hi", html: "{{{NAME}}}", variables });
    const shown = await call("GET", `/templates/${id}`);
    expect([shown.at("html"), shown.at("variables.0.fallback_value")]).toEqual([
      `{{{NAME|${fallback}}}}`,
      fallback,
    ]);
    const sent = await call("POST", "/emails", { to: "ada@example.com", template: { id } });
    await t.deliver();
    const raw = await t.call("GET", `/emails/${sent.text("id")}/raw`);
    expect((await simpleParser(String(raw.body))).text).toContain(fallback);
  });

  test.each(["email", "unsubscribeUrl", "FIRST_NAME", "contact.email"])(
    "is not sent with the variable %s, which the service sets",
    async (name) => {
      const template = { id: await create(), variables: { [name]: "x" } };
      const { status, text } = await call("POST", "/emails", { to: "ada@example.com", template });
      expect([status, text("message")]).toEqual([
        422,
        `template.variables.${name}: is a name of the service`,
      ]);
    },
  );

  test.each<[string, object, string]>([
    [
      "braces in a fallback",
      { variables: [{ key: "A" }, { key: "NAME", fallback_value: "{x}" }] },
      "variables.1.fallback_value: must not contain braces",
    ],
    ["no name", { name: undefined }, "name: is required"],
    ["no subject", { subject: undefined }, "subject: is required"],
    ["no content", { html: undefined, variables: undefined }, "html: is required"],
    ["an alias", { alias: "receipt" }, "alias: is not supported"],
    ["a text", { text: "Hi" }, "text: is not supported"],
    ["an invalid sender", { from: "acme" }, "from: must be"],
    ["several replies", { reply_to: ["a@a.test", "b@a.test"] }, "reply_to: must have at most"],
    ["an unknown field", { colour: "red" }, "colour: is not supported"],
  ])("is refused with %s", async (_, fields, message) => {
    const answer = await call("POST", "/templates", { ...receipt, ...fields });
    expect([answer.status, answer.text("message")]).toEqual([
      422,
      expect.stringContaining(message),
    ]);
    expect(listAt((await call("GET", "/templates")).body, "data")).toEqual([]);
  });

  test("gets variables only with its content", async () => {
    const { variables } = receipt;
    const { status, text } = await call("PATCH", `/templates/${await create()}`, { variables });
    expect([status, text("message")]).toEqual([422, expect.stringContaining("variables: are set")]);
  });
});
