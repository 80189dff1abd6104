import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { BODY_LIMITS } from "../../src/http/body-limits.ts";
import { type TestApp, testApp } from "../support/app.ts";
import { expectError } from "../support/refusal.ts";

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});
afterAll(() => t.close());

type Body = string | Uint8Array | ReadableStream;
const json = { "content-type": "application/json" };
const postContact = (raw: Body, headers: Record<string, string> = json) =>
  t.call("POST", "/contacts", undefined, { raw, headers });

const utf8 = (text: string) => new TextEncoder().encode(text);
const around = (...bytes: number[]) =>
  Buffer.concat([utf8('{"email":"a@b.co","data":{"x":"'), Buffer.from(bytes), utf8('"}}')]);
const nested = (depth: number, inner = "1") =>
  `{"email":"deep@b.co","data":${'{"a":'.repeat(depth - 1)}${inner}${"}".repeat(depth - 1)}}`;

describe("refuses with 400 INVALID_JSON and changes nothing:", () => {
  const cases: [name: string, raw: Body][] = [
    ["a brace alone", "{"],
    ["an extra comma", '{"email":"a@b.co",}'],
    ["single quotes", "{'email':'a@b.co'}"],
    ["two documents", '{"email":"a@b.co"}{}'],
    ["a form", "email=a%40b.co"],
    ["NaN", '{"email":"a@b.co","data":{"x":NaN}}'],
    ["only blanks", "  "],
    ["a NUL byte in a string", around(0)],
    ["a raw line break in a string", around(0x0a)],
    ["a stray continuation byte", around(0x80)],
    ["an incomplete sequence", around(0xe2, 0x82)],
    ["an overlong sequence", around(0xc0, 0xaf)],
    ["a surrogate in UTF-8", around(0xed, 0xa0, 0x80)],
    ["ISO 8859-1", Buffer.from('{"email":"a@b.co","data":{"x":"grüß"}}', "latin1")],
    ["UTF-16", Buffer.from('{"email":"a@b.co"}', "utf16le")],
    ["101 levels of objects", nested(101)],
    ["a hundred thousand levels of arrays", "[".repeat(1e5) + "]".repeat(1e5)],
    ["eighty thousand levels, never closed", '{"a":'.repeat(8e4)],
  ];
  for (const [name, raw] of cases) {
    test(name, async () => {
      const before = t.contents();
      expectError(await postContact(raw), { status: 400, code: "INVALID_JSON" });
      expect(t.contents()).toEqual(before);
    });
  }
});

describe("refuses with 422 JSON that is not an object:", () => {
  const cases: [name: string, raw: Body | undefined, headers?: Record<string, string>][] = [
    ["none", undefined],
    ["no body, with a content type", undefined, json],
    ["an empty body", "", json],
    ["an empty body without a content type", ""],
    ["null", "null", json],
    ["an array", "[]", json],
    ["an array of objects", '[{"email":"a@b.co"}]', json],
    ["text", '"email"', json],
    ["a number", "1", json],
  ];
  for (const [name, raw, headers] of cases) {
    test(name, async () => {
      const answer = await t.call("POST", "/contacts", undefined, {
        ...(raw === undefined ? {} : { raw }),
        ...(headers === undefined ? {} : { headers }),
      });
      const errors = [["", "invalid_type"]] as const;
      expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors });
    });
  }
});

describe("refuses with 422 and the field text that cannot be stored unchanged:", () => {
  const cases: [name: string, raw: string, field: string][] = [
    ["NUL in a value", String.raw`{"email":"a@b.co","data":{"x":"a\u0000b"}}`, "data.x"],
    ["NUL in a name", String.raw`{"email":"a@b.co","data":{"a\u0000b":1}}`, "data"],
    [
      "a lone high surrogate",
      String.raw`{"email":"a@b.co","data":{"x":["ok","\ud83d"]}}`,
      "data.x.1",
    ],
    ["a lone low surrogate", String.raw`{"email":"a@b.co","data":{"x":"\uDE00"}}`, "data.x"],
    ["surrogates in the wrong order", String.raw`{"email":"a\ude00\ud83d@b.co"}`, "email"],
  ];
  for (const [name, raw, field] of cases) {
    test(name, async () => {
      const before = t.contents();
      const answer = await postContact(raw);
      expect([answer.status, answer.at("error.errors.0.field")]).toEqual([422, field]);
      expect(answer.at("error.errors.0.code")).toBe("invalid_format");
      expect(JSON.stringify(answer.body)).not.toContain(String.raw`\u0000`);
      expect(t.contents()).toEqual(before);
    });
  }

  test("up to a hundred of them are reported at once", async () => {
    const answer = await postContact(`{"data":[${'"\\u0000",'.repeat(1000)}1]}`);
    expect(answer.at("error.errors.99.field")).toBe("data.99");
    expect(answer.at("error.errors.100")).toBeUndefined();
  });
});

describe("refuses with 422 and the field a number too large for a double:", () => {
  const places: [data: string, field: string][] = [
    ['{"a":1e400}', "data.a"],
    ['{"a":-1e400}', "data.a"],
    ['{"a":[{"b":1e400}]}', "data.a.0.b"],
    ['{"a":{"value":1e400,"persistent":false}}', "data.a.value"],
    [`{"a":${"9".repeat(400)}}`, "data.a"],
  ];
  const mail = '"to":"a@b.co","from":"a@acme.test","subject":"s","body":"b"';
  const requests: [method: string, path: () => string, fields: string][] = [
    ["POST", () => "/contacts", '"email":"a@b.co"'],
    ["PATCH", () => `/contacts/${contact}`, '"subscribed":true'],
    ["POST", () => "/v1/track", '"event":"e","email":"a@b.co"'],
    ["POST", () => "/v1/send", mail],
  ];
  let contact = "";
  beforeAll(async () => {
    contact = await t.create("/contacts", { email: "number@b.co" }, "id");
  });

  for (const [method, path, fields] of requests) {
    for (const [data, field] of places) {
      test(`${method} ${path()} with ${data.slice(0, 50)}`, async () => {
        const before = t.contents();
        const raw = `{${fields},"data":${data}}`;
        const answer = await t.call(method, path(), undefined, { raw, headers: json });
        const errors = [[field, "invalid_type"]] as const;
        expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors });
        expect(t.contents()).toEqual(before);
      });
    }
  }

  test("but stores the largest doubles", async () => {
    const raw = '{"email":"large@b.co","data":{"a":[1.7976931348623157e308,-1e308,5e-324,1e-400]}}';
    const { body } = await postContact(raw);
    expect(body).toMatchObject({ data: { a: [Number.MAX_VALUE, -1e308, 5e-324, 0] } });
  });
});

describe("accepts a body", () => {
  const cases: [name: string, raw: Body, headers?: Record<string, string>][] = [
    ["with a surrogate pair", String.raw`{"email":"ok1@b.co","data":{"x":"\ud83d\ude00"}}`],
    ["UTF-8", '{"email":"ok2@b.co","data":{"x":"grüß 😀"}}'],
    ["with a byte order mark", '\u{feff}{"email":"ok3@b.co"}'],
    ["without a content type", '{"email":"ok4@b.co"}', {}],
    [
      "as text/plain, the default of browsers",
      '{"email":"ok5@b.co"}',
      { "content-type": "text/plain" },
    ],
    [
      "with a charset",
      '{"email":"ok6@b.co"}',
      { "content-type": "application/json; charset=utf-8" },
    ],
    [
      "of JSON with the content type of a form",
      '{"email":"ok7@b.co"}',
      { "content-type": "multipart/form-data; boundary=x" },
    ],
    ["with unknown fields", '{"email":"ok8@b.co","id":"mine","createdAt":1,"_meta":{}}'],
    ["with a hundred levels", nested(100)],
    ["in chunks", chunks(['{"email":', '"ok9@b.co"}'])],
    [
      "in chunks that divide a character",
      chunks([around(0xc3, 0xbc).subarray(0, 32), around(0xc3, 0xbc).subarray(32)]),
    ],
  ];
  for (const [name, raw, headers] of cases) {
    test(name, async () => {
      const answer = await postContact(raw, headers);
      expect(answer.status).toBeOneOf([200, 201]);
    });
  }

  test("with unknown fields or query parameters on every endpoint", async () => {
    const mail = { to: "z@b.co", from: "a@acme.test", subject: "s", body: "b" };
    const template = { name: "n", subject: "s", body: "b", type: "MARKETING" };
    const templateId = await t.create("/templates?what=1", { ...template, zzz: 1 }, "data.id");
    const contactId = await t.create("/contacts", { email: "z@b.co" }, "id");
    const deep = {
      to: [{ email: "z@b.co", zzz: 1 }],
      from: { email: "a@acme.test", zzz: 1 },
      zzz: 1,
    };
    const calls: [string, string, unknown?][] = [
      ["POST", "/v1/send", { ...mail, ...deep }],
      ["POST", "/v1/track", { email: "z@b.co", event: "x", zzz: 1 }],
      ["PATCH", `/contacts/${contactId}`, { zzz: 1 }],
      ["PATCH", `/templates/${templateId}`, { zzz: 1 }],
      ...["/contacts", "/templates", "/emails", "/events", "/events/names"].map(
        (path): [string, string] => ["GET", `${path}?zzz=1`],
      ),
    ];
    for (const [method, path, body] of calls) {
      expect([path, (await t.call(method, path, body)).status]).toEqual([path, 200]);
    }
  });
});

describe("the limit of 512 KiB for a contact", () => {
  const CAP_BYTES = BODY_LIMITS.data.bytes;
  const padded = (size: number) => {
    const bytes = new Uint8Array(size).fill(0x20);
    bytes.set(utf8('{"email":"big@b.co"}'));
    return bytes;
  };

  test("accepts a body of exactly that size, announced or in chunks", async () => {
    const body = padded(CAP_BYTES);
    const announced = { ...json, "content-length": String(CAP_BYTES) };
    expect((await postContact(body, announced)).status).toBe(201);
    expect((await postContact(chunks([body, new Uint8Array()]))).status).toBe(200);
  });

  const tooLarge: [name: string, raw: () => Body, headers?: Record<string, string>][] = [
    ["announced", () => padded(CAP_BYTES + 1), { "content-length": String(CAP_BYTES + 1) }],
    ["in one piece without a length", () => padded(CAP_BYTES + 1)],
    ["in chunks", () => chunks([padded(CAP_BYTES), utf8(" ")])],
    ["announced and never sent", () => utf8("{"), { "content-length": "99999999999" }],
  ];
  for (const [name, raw, headers] of tooLarge) {
    test(`refuses with 413 one byte more, ${name}`, async () => {
      const before = t.contents();
      const answer = await postContact(raw(), { ...json, ...headers });
      expectError(answer, { status: 413, code: "PAYLOAD_TOO_LARGE" });
      expect(t.contents()).toEqual(before);
    });
  }

  test("stops reading an endless body as soon as it is too large", async () => {
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1 << 20;
        controller.enqueue(new Uint8Array(1 << 20));
      },
    });
    expect((await postContact(endless)).status).toBe(413);
    expect(sent).toBeLessThan(CAP_BYTES + 4 * (1 << 20));
  });
});

describe("a body that is expensive to validate", () => {
  const many = (count: number, item: string) => Array.from({ length: count }, () => item).join();
  const mail = '"from":"a@acme.test","subject":"s","body":"b"';
  const cases: [name: string, path: string, raw: string][] = [
    ["a million recipients of the wrong type", "/v1/send", `{${mail},"to":[${many(1e6, "1")}]}`],
    ["a million bad addresses", "/v1/send", `{${mail},"to":[${many(1e6, '"x"')}]}`],
    [
      "a million attachments",
      "/v1/send",
      `{${mail},"to":"a@b.co","attachments":[${many(1e6, "1")}]}`,
    ],
    [
      "almost 200,000 NULs",
      "/v1/send",
      `{${mail},"data":{"x":[${many(199_000, String.raw`"\u0000"`)}]}}`,
    ],
  ];
  for (const [name, path, raw] of cases) {
    // Reporting each error would take half a minute.
    test(`gets a short 422: ${name}`, async () => {
      const answer = await t.call("POST", path, undefined, { raw, headers: json });
      expect(answer.status).toBe(422);
      expect(JSON.stringify(answer.body).length).toBeLessThan(20_000);
    });
  }
});

function chunks(parts: readonly (string | Uint8Array)[]): ReadableStream {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of parts) controller.enqueue(typeof part === "string" ? utf8(part) : part);
      controller.close();
    },
  });
}
