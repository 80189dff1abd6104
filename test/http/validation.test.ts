import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { Nullable } from "../../src/http/envelope.ts";
import { PATTERN_TEXT } from "../../src/http/field-messages.ts";
import {
  ensureChecks,
  fieldErrors,
  Input,
  OneOf,
  QueryBoolean,
  QueryInteger,
  withChecks,
} from "../../src/http/validation.ts";
import { AppError } from "../../src/lib/errors.ts";
import { type TestApp, testApp } from "../support/app.ts";
import { expectError } from "../support/refusal.ts";

type Violation = readonly [field: string, code: string];

describe("reports the violations of a schema:", () => {
  const Person = Input({
    name: Type.String({ minLength: 2, maxLength: 4 }),
    age: Type.Optional(Type.Integer({ minimum: 0, maximum: 150 })),
    tags: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 2 })),
    kind: Type.Optional(OneOf(["CAT", "DOG"])),
    code: Type.Optional(Type.String({ pattern: "^[a-z]+$" })),
    seconds: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Null()])),
    mood: Type.Optional(Type.Union([OneOf(["GOOD", "BAD"]), Type.Null()])),
    extra: Type.Optional(Type.Record(Type.String(), Type.Number())),
    either: Type.Optional(
      Type.Union([Type.String({ minLength: 2 }), Type.Array(Type.Object({ x: Type.Integer() }))]),
    ),
  });
  const cases: [name: string, value: unknown, violations: Violation[]][] = [
    ["none", { name: "Ada", age: 36, tags: ["a"], kind: "CAT", extra: { a: 1.5 } }, []],
    ["none for unknown fields", { name: "Ada", zzz: 1 }, []],
    ["a missing field", {}, [["name", "required"]]],
    ["null, which is not missing", { name: null }, [["name", "invalid_type"]]],
    ["text as number", { name: "Ada", age: "36" }, [["age", "invalid_type"]]],
    ["number as text", { name: 36 }, [["name", "invalid_type"]]],
    ["a fraction", { name: "Ada", age: 1.5 }, [["age", "invalid_type"]]],
    [
      "too small and too big",
      { name: "A", age: 151 },
      [
        ["name", "too_small"],
        ["age", "too_big"],
      ],
    ],
    [
      "too big and too small",
      { name: "Adaaa", age: -1 },
      [
        ["name", "too_big"],
        ["age", "too_small"],
      ],
    ],
    ["too few items", { name: "Ada", tags: [] }, [["tags", "too_small"]]],
    ["too many items", { name: "Ada", tags: ["a", "b", "c"] }, [["tags", "too_big"]]],
    ["an object instead of a list", { name: "Ada", tags: { 0: "a" } }, [["tags", "invalid_type"]]],
    ["an item of the wrong type", { name: "Ada", tags: ["a", 1] }, [["tags.1", "invalid_type"]]],
    ["an unknown value", { name: "Ada", kind: "cat" }, [["kind", "invalid_value"]]],
    ["a number instead of one of the values", { name: "Ada", kind: 1 }, [["kind", "invalid_type"]]],
    ["none for null if it is allowed", { name: "Ada", seconds: null, mood: null }, []],
    [
      "a number that is too small, if null is allowed",
      { name: "Ada", seconds: 0 },
      [["seconds", "too_small"]],
    ],
    [
      "a fraction, if null is allowed",
      { name: "Ada", seconds: 1.5 },
      [["seconds", "invalid_type"]],
    ],
    [
      "an unknown value, if null is allowed",
      { name: "Ada", mood: "so" },
      [["mood", "invalid_value"]],
    ],
    [
      "a number instead of one of the values, if null is allowed",
      { name: "Ada", mood: 1 },
      [["mood", "invalid_type"]],
    ],
    ["a pattern", { name: "Ada", code: "A" }, [["code", "invalid_format"]]],
    ["a list instead of a record", { name: "Ada", extra: [] }, [["extra", "invalid_type"]]],
    [
      "a record's value",
      { name: "Ada", extra: { "a/b~c": "x" } },
      [["extra.a/b~c", "invalid_type"]],
    ],
    [
      "those of the variant with the type of the value",
      { name: "Ada", either: "x" },
      [["either", "too_small"]],
    ],
    [
      "one deep in a variant",
      { name: "Ada", either: [{ x: 1 }, {}] },
      [["either.1.x", "required"]],
    ],
    [
      "a value that has the type of no variant",
      { name: "Ada", either: 1 },
      [["either", "invalid_type"]],
    ],
    ["a number instead of an object", 5, [["", "invalid_type"]]],
    ["a list instead of an object", [], [["", "invalid_type"]]],
  ];
  for (const [name, value, violations] of cases) {
    test(name, () => {
      const found = fieldErrors(Person, value);
      expect(found.map(({ field, code }): Violation => [field, code])).toEqual(violations);
    });
  }

  test("say in words what a pattern demands", () => {
    const pattern = { pattern: "^[a-z]+$", [PATTERN_TEXT]: "must have small letters" };
    const Text = Input({ a: Type.String(pattern), b: Nullable(Type.String(pattern)) });
    const found = fieldErrors(Text, { a: "A", b: "B" });
    expect(found.map(({ field, message }) => `${field} ${message}`)).toEqual([
      "a must have small letters",
      "b must have small letters",
    ]);
  });

  test("one per field, and at most a hundred", () => {
    const Numbers = Type.Array(Type.Number({ minimum: 5, multipleOf: 2 }));
    expect(fieldErrors(Numbers, [1]).map(({ field }) => field)).toEqual(["0"]);
    expect(
      fieldErrors(
        Numbers,
        Array.from({ length: 500 }, () => 1),
      ),
    ).toHaveLength(100);
  });

  test("those of cross-field rules as well, also for an invalid value", () => {
    const Both = withChecks(Input({ a: Type.Number() }), (value) =>
      value["b"] === undefined ? [{ field: "b", code: "required", message: "Give b." }] : [],
    );
    expect(fieldErrors(Both, { a: "x" }).map(({ field }) => field)).toEqual(["a", "b"]);
    expect(fieldErrors(Both, []).map(({ field }) => field)).toEqual([""]);
    expect(() => ensureChecks(Both, { a: 1 })).toThrow(AppError);
    expect(() => ensureChecks(Both, { a: 1, b: 1 })).not.toThrow();
    expect(() => ensureChecks(Person, {})).not.toThrow();
  });
});

describe("query values", () => {
  const Query = Input({
    n: Type.Optional(QueryInteger({ minimum: 1, maximum: 100, description: "" })),
    b: Type.Optional(QueryBoolean()),
  });
  const cases: [value: Record<string, unknown>, violations: Violation[]][] = [
    [{ n: "1", b: "true" }, []],
    [{ n: "100", b: "false" }, []],
    [{ n: "007" }, []],
    [{ n: "0" }, [["n", "too_small"]]],
    [{ n: "-1" }, [["n", "too_small"]]],
    [{ n: "101" }, [["n", "too_big"]]],
    [{ n: "99999999999999999999" }, [["n", "too_big"]]],
    [{ n: "-99999999999999999999" }, [["n", "too_small"]]],
    [{ n: "abc" }, [["n", "invalid_type"]]],
    [{ n: "" }, [["n", "invalid_type"]]],
    [{ n: "1.0" }, [["n", "invalid_type"]]],
    [{ n: "1e1" }, [["n", "invalid_type"]]],
    [{ n: " 1" }, [["n", "invalid_type"]]],
    [{ n: "0x10" }, [["n", "invalid_type"]]],
    [{ b: "TRUE" }, [["b", "invalid_type"]]],
    [{ b: "1" }, [["b", "invalid_type"]]],
    [{ b: "" }, [["b", "invalid_type"]]],
    [
      { n: "x", b: "x" },
      [
        ["n", "invalid_type"],
        ["b", "invalid_type"],
      ],
    ],
  ];
  for (const [value, violations] of cases) {
    test(JSON.stringify(value), () => {
      const found = fieldErrors(Query, value);
      expect(found.map(({ field, code }): Violation => [field, code])).toEqual(violations);
    });
  }
});

describe("reports every violation of a body at once, also of rules that the schema does not state, and stores nothing:", () => {
  let t: TestApp;
  beforeAll(async () => {
    t = await testApp();
    await t.create("/contacts", { email: "known@example.com" }, "id");
  });
  afterAll(() => t.close());

  const inline = { subject: "s", body: "b", from: "a@acme.test" };
  const template = { name: "n", subject: "s", body: "b", type: "TRANSACTIONAL" };
  const cases: [name: string, path: string, body: unknown, violations: Violation[]][] = [
    [
      "send: nothing at all",
      "/v1/send",
      {},
      [
        ["to", "required"],
        ["subject", "required"],
        ["body", "required"],
        ["from", "required"],
      ],
    ],
    [
      "send: each recipient separately",
      "/v1/send",
      {
        ...inline,
        to: ["a@b.co", 1, "x", { email: "nope", name: 3 }, { name: "a" }, null, [], ""],
      },
      [
        ["to.1", "invalid_type"],
        ["to.2", "invalid_format"],
        ["to.3.name", "invalid_type"],
        ["to.3.email", "invalid_format"],
        ["to.4.email", "required"],
        ["to.5", "invalid_type"],
        ["to.6", "invalid_type"],
        ["to.7", "invalid_format"],
      ],
    ],
    [
      "send: a bad single recipient",
      "/v1/send",
      { ...inline, to: "x@" },
      [["to", "invalid_format"]],
    ],
    [
      "send: a single recipient without address",
      "/v1/send",
      { ...inline, to: {} },
      [["to.email", "required"]],
    ],
    [
      "send: a subject source and a name that are too long",
      "/v1/send",
      {
        ...inline,
        to: { email: "a@b.co", name: "x".repeat(256) },
        subject: "x".repeat(10_001),
        name: "x".repeat(256),
      },
      [
        ["to.name", "too_big"],
        ["subject", "too_big"],
        ["name", "too_big"],
      ],
    ],
    [
      "send: attachments",
      "/v1/send",
      {
        ...inline,
        to: "a@b.co",
        attachments: [
          1,
          {},
          { filename: "", content: 1 },
          {
            filename: "a.pdf",
            content: "!!!!",
            contentType: "pdf",
            contentId: "a b",
            disposition: "inlin",
          },
          { filename: "a.png", content: "QQ==", disposition: "inline" },
        ],
      },
      [
        ["attachments.0", "invalid_type"],
        ["attachments.1.filename", "required"],
        ["attachments.2.filename", "too_small"],
        ["attachments.2.content", "invalid_type"],
        ["attachments.3.contentId", "invalid_format"],
        ["attachments.3.disposition", "invalid_value"],
        ["attachments.1.content", "required"],
        ["attachments.3.content", "invalid_format"],
        ["attachments.3.contentType", "invalid_format"],
        ["attachments.4.contentId", "required"],
      ],
    ],
    [
      "send: headers",
      "/v1/send",
      {
        ...inline,
        to: "a@b.co",
        headers: { "X-Ok": "x", Subject: "x", "X Y": "x", "X-Long": "x".repeat(999) },
      },
      [
        ["headers.Subject", "invalid_value"],
        ["headers.X Y", "invalid_format"],
        ["headers.X-Long", "too_big"],
      ],
    ],
    [
      "send: schema and rules together",
      "/v1/send",
      { to: "x", subject: "{{ a", body: "{% if %}", from: "a@acme.test", headers: { To: "x" } },
      [
        ["to", "invalid_format"],
        ["subject", "invalid_format"],
        ["body", "invalid_format"],
        ["headers.To", "invalid_value"],
      ],
    ],
  ];
  for (const [name, path, body, errors] of cases) {
    test(name, async () => {
      const before = t.contents();
      const answer = await t.call("POST", path, body);
      expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors });
      expect(t.contents()).toEqual(before);
    });
  }

  const messages: [message: string, path: string, body: unknown][] = [
    [
      "from: is required when no template is used",
      "/v1/send",
      { to: "a@b.co", subject: "s", body: "b" },
    ],
    [
      "body: is required when no template is used, unless there is a text",
      "/v1/send",
      { to: "a@b.co", from: "a@b.co", subject: "s" },
    ],
    ["to: is required (and 3 more)", "/v1/send", {}],
    ["to: must have at least one item", "/v1/send", { ...inline, to: [] }],
    [
      "to.1.email: must be an email address such as ada@example.com",
      "/v1/send",
      { ...inline, to: ["a@b.co", { email: "x" }] },
    ],
    ["to: must be a string, an object or an array", "/v1/send", { ...inline, to: 1 }],
    ["subject: must not be empty", "/v1/send", { ...inline, to: "a@b.co", subject: "" }],
    [
      "headers.X-Note: must be a single line of text without control characters",
      "/v1/send",
      { ...inline, to: "a@b.co", headers: { "X-Note": "a\r\nb" } },
    ],
    [
      "name: must have at most 255 characters",
      "/v1/send",
      { ...inline, to: "a@b.co", name: "x".repeat(256) },
    ],
    ["subscribed: must be true or false", "/contacts", { email: "a@b.co", subscribed: "yes" }],
    ["email: must be a string", "/contacts", { email: 5 }],
    ["data: must be an object or null", "/contacts", { email: "a@b.co", data: [] }],
    ["request body: must be an object", "/contacts", []],
    ["type: must be one of TRANSACTIONAL, MARKETING", "/templates", { ...template, type: "NEWS" }],
    [
      'subject: has a syntax error in line 1, column 1: output "{{ a" not closed',
      "/templates",
      { ...template, subject: "{{ a" },
    ],
    [
      "headers.Subject: is a header that the service sets itself",
      "/v1/send",
      { ...inline, to: "a@b.co", headers: { Subject: "x" } },
    ],
    [
      "email: must not contain NUL characters or lone surrogates",
      "/contacts",
      { email: "a\0b@b.co" },
    ],
    [
      "event: is a name that the service reserves for its own events",
      "/v1/track",
      { event: "email.sent", email: "a@b.co" },
    ],
    ["event: must have a visible character", "/v1/track", { event: " ", email: "a@b.co" }],
  ];
  test.each(messages)(
    "begins the message with the first violation: %s",
    async (message, path, body) => {
      const answer = await t.call("POST", path, body);
      expect([answer.status, answer.at("error.message")]).toEqual([422, message]);
      if (path.startsWith("/v1/")) expect(answer.at("message")).toBe(message);
    },
  );

  test("limits the length of the message for a long field name", async () => {
    const data = { ["k".repeat(60_000)]: "\0" };
    const answer = await t.call("POST", "/contacts", { email: "a@b.co", data });
    expect(answer.text("error.message").length).toBeLessThan(400);
    expect(answer.text("error.message")).toStartWith("data.kkkk");
  });
});
