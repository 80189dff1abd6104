import { beforeEach, describe, expect, test } from "bun:test";
import type { TestApp } from "../support/app.ts";
import { listAt } from "../support/json.ts";
import { projectPerTest } from "../support/project-per-test.ts";
import { expectError } from "../support/refusal.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const draft = { subject: "Hi", body: "<p>Hi</p>", type: "TRANSACTIONAL" };
const preview = (body: object) => t.call("POST", "/templates/preview", { ...draft, ...body });
const createLayout = (body: string) => t.create("/layouts", { name: "Letter", body }, "data.id");

describe("POST /templates/preview", () => {
  const faults: [
    why: string,
    given: object,
    errors: [string, number | null, number | null, RegExp][],
  ][] = [
    ["a tag that is not closed", { body: "a\n {% if x %}b" }, [["body", 2, 2, /not closed/]]],
    ["an unknown filter", { subject: "Hi {{ a | foo }}" }, [["subject", 1, 4, /foo/]]],
    ["Handlebars", { body: "\n{{#if x}}" }, [["body", 2, 1, /write \{% if x %\}/]]],
    ["Mustache", { preheader: "{{{ x }}}" }, [["preheader", 1, 1, /write \{\{ x \| raw \}\}/]]],
    [
      "all fields at once",
      { subject: "{{", preheader: "{{", body: "{{" },
      [
        ["subject", 1, 1, /not closed/],
        ["preheader", 1, 1, /not closed/],
        ["body", 1, 1, /not closed/],
      ],
    ],
    ["an empty subject", { subject: "{{ x }}" }, [["subject", null, null, /is empty/]]],
  ];
  test("reports errors with line and column", async () => {
    for (const [why, given, wanted] of faults) {
      const answer = await preview(given);
      const errors = wanted.map(([field, line, column, message]) => ({
        field,
        line,
        column,
        message: expect.stringMatching(message),
      }));
      expect([why, answer.status, answer.at("data.errors")]).toEqual([why, 200, errors]);
    }
  });

  test("a fault of the render is named at its place in the field, also in a layout", async () => {
    const layoutId = await createLayout("<body>\n{{ content }}\n</body>");
    const body = "<p>\n  {{ name | append }}</p>";
    for (const given of [{}, { layoutId }, { layoutId, preheader: "Soon" }]) {
      const answer = await preview({ ...given, body });
      expect([answer.at("data.html"), listAt(answer.body, "data.errors")]).toMatchObject([
        null,
        [{ field: "body", line: 2, column: 3 }],
      ]);
    }
  });

  test("the syntax of another language is no error of a lenient request", async () => {
    const foreign = { ...draft, subject: "Hi {{#if x}}", body: "*|FNAME|* {{{ x }}}" };
    for (const query of ["?lenient", "?lenient=true"]) {
      const answer = await t.call("POST", `/templates/preview${query}`, foreign);
      expect([answer.at("data.errors"), answer.at("data.subject")]).toEqual([[], "Hi "]);
      expect((await t.call("POST", `/templates/checks${query}`, foreign)).status).toBe(200);
    }
  });

  test("a fault of the subject does not hide the body", async () => {
    const answer = await preview({ subject: "{{" });
    expect([answer.at("data.subject"), answer.at("data.html")]).toEqual([null, "<p>Hi</p>"]);
  });

  test("stores nothing, and shows the variables and the size", async () => {
    const before = t.contents();
    const answer = await preview({ body: "<p>{{ city ?? here }}, ä</p>", preheader: "{{ day }}" });
    expect(t.contents()).toEqual(before);
    expect(answer.at("data.variables")).toEqual([
      { name: "day", isRequired: true, isProvided: false },
      { name: "city", isRequired: false, isProvided: false },
    ]);
    expect(answer.at("data.sizeBytes")).toBe(Buffer.byteLength(answer.text("data.html")));
  });

  test("refuses a layout and a contact that do not exist", async () => {
    const errors = [["layoutId", "unknown_reference"]] as const;
    expectError(await preview({ layoutId: "x" }), {
      status: 422,
      code: "VALIDATION_ERROR",
      errors,
    });
    expectError(await preview({ contactId: "x" }), { status: 404, code: "CONTACT_NOT_FOUND" });
  });
});

describe("the mail that is sent equals the preview", () => {
  const bodies: [why: string, given: object, layout: string | null][] = [
    ["a fragment", { body: "<p>{{ name }} & {{ city ?? '<Rome>' }}</p>" }, null],
    ["a document", { body: "<!doctype html><html><body class='{{ name }}'>x</body></html>" }, null],
    ["a preheader", { body: "<p>x</p>", preheader: 'Tom & "{{ name }}" <3' }, null],
    [
      "a layout",
      { body: "<p>{{ name }}</p>", preheader: "{{ city }}" },
      "<html><head><title>x</title></head><body>Top {{content}} End, {{ name }}</body></html>",
    ],
  ];
  test.each(bodies)("byte for byte: %s", async (_, given, layout) => {
    const data = { name: "A & B", city: "Köln" };
    const layoutId = layout === null ? null : await createLayout(layout);
    const fields = { ...draft, ...given, layoutId };
    const shown = await preview({ ...fields, data });
    const template = await t.create("/templates", { ...fields, name: "T" }, "data.id");
    const sent = { from: "hello@acme.test", to: "ada@example.com", template, data };
    expect((await t.call("POST", "/v1/send", sent)).status).toBe(200);
    await t.deliver();
    const id = (await t.call("GET", "/emails")).text("data.items.0.id");
    const content = await t.call("GET", `/emails/${id}/content`);
    for (const part of ["html", "text", "subject"]) {
      expect(content.at(`data.${part}`)).toBe(shown.at(`data.${part}`));
    }
  });

  test("the preheader is hidden at the start of the body, and not in the text", async () => {
    const { body } = await preview({ body: "<body><p>Hi</p></body>", preheader: "Soon & {{ x }}" });
    expect(body).toMatchObject({
      data: {
        preheader: "Soon & ",
        html: expect.stringMatching(
          /^<body><div [^>]*display:none[^>]*>Soon &amp; (&#847;&zwnj;&nbsp;)+<\/div><p>/,
        ),
        text: "Hi",
      },
    });
  });
});

describe("the document of a draft", () => {
  test("is read by its author for ten minutes", async () => {
    const path = (await preview({})).text("data.documentUrl");
    const answer = await t.call("GET", path);
    expect([answer.status, answer.body]).toEqual([200, "<p>Hi</p>"]);
    expect(answer.headers.get("content-security-policy")).toContain("sandbox");
    expect((await t.call("GET", `${path}?part=text`)).body).toBe("Hi");
    t.clock.advance(10 * 60_000);
    expectError(await t.call("GET", path), { status: 404, code: "PREVIEW_NOT_FOUND" });
  });

  test("the four latest of an author are kept", async () => {
    const paths: string[] = [];
    for (let at = 0; at < 5; at++) paths.push((await preview({})).text("data.documentUrl"));
    const statuses = await Promise.all(
      paths.map(async (path) => (await t.call("GET", path)).status),
    );
    expect(statuses).toEqual([404, 200, 200, 200, 200]);
  });
});

describe("POST /templates/checks", () => {
  const check = (body: object, query = "") =>
    t.call("POST", `/templates/checks${query}`, { ...draft, ...body });

  test("has the shape of the checks of a mail", async () => {
    const answer = await check({ body: '<p>Hi<img src="https://a.example/x.png"></p>' });
    expect([answer.status, answer.at("data.links")]).toEqual([200, null]);
    const findings = listAt(answer.body, "data.findings");
    expect(findings).toContainEqual(
      expect.objectContaining({ name: "image-texts", status: "WARNING" }),
    );
    expect(findings).toContainEqual(
      expect.objectContaining({ name: "required-headers", status: "OK" }),
    );
  });

  test("marketing mail has its unsubscribe header, and its own links are no addresses", async () => {
    const answer = await check({ type: "MARKETING", body: '<a href="https://a.example/">x</a>' });
    expect(answer.at("data.urls")).toEqual(["https://a.example/"]);
  });

  test("a template with errors is refused, with their fields", async () => {
    const answer = await check({ body: "{{", subject: "{{{ x }}}" });
    const errors = [
      ["subject", "invalid_format"],
      ["body", "invalid_format"],
    ] as const;
    expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors });
  });
});
