/** The body limits of all routes, as their documentation states them. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { BODY_LIMITS, sizeText } from "../../src/http/body-limits.ts";
import { type CallOptions, type TestResponse, type TestApp, testApp } from "../support/app.ts";
import { waitUntil } from "../support/eventually.ts";
import { valueAt } from "../support/json.ts";
import { openApiDocument } from "../support/openapi.ts";
import { expectError } from "../support/refusal.ts";
import { signIn } from "../support/session.ts";
import { bodiesOf } from "../../src/http/body.ts";

const json = { "content-type": "application/json" };
const FORM = "application/x-www-form-urlencoded";

let t: TestApp;
let document: TestResponse;
/** The headers of a page in which the owner is signed in. */
let session: Record<string, string>;
beforeAll(async () => {
  t = await testApp();
  const { cookie } = await signIn(t);
  session = {
    host: "localhost",
    origin: "http://localhost",
    "x-requested-with": "mailstead",
    "x-project": t.project.id,
    cookie: cookie(),
  };
  document = await openApiDocument();
});
afterAll(() => t.close());

type Route = {
  name: string;
  method: string;
  path: string;
  maxBytes: unknown;
  maxValues: unknown;
  /** Whether the route accepts no API key. */
  needsSession: boolean;
};

const entriesOf = (value: unknown) => Object.entries<unknown>(Object(value));

function routes(): Route[] {
  return entriesOf(document.at("paths")).flatMap(([path, item]) =>
    entriesOf(item).flatMap(([method, operation]) => {
      const content = valueAt(operation, "requestBody.content");
      // The pages for recipients answer with pages, so their tests are in modules/subscription.
      const [media] = entriesOf(content).flatMap(([type, value]) => (type === FORM ? [] : [value]));
      if (media === undefined) return [];
      return [
        {
          name: `${method.toUpperCase()} ${path}`,
          method: method.toUpperCase(),
          // A user may change known projects only.
          path: path
            .replace("/projects/{id}", `/projects/${t.project.id}`)
            .replaceAll(/\{\w+\}/g, "unknown"),
          maxBytes: valueAt(media, "schema.x-max-body-bytes"),
          maxValues: valueAt(media, "schema.x-max-json-values"),
          needsSession: valueAt(operation, "security.0.session") !== undefined,
        },
      ];
    }),
  );
}

/** Calls a route with an API key, or with the session if it accepts no key. */
function callRoute({ method, path, needsSession }: Route, options: CallOptions) {
  if (!needsSession) return t.call(method, path, undefined, options);
  const headers = { ...session, ...options.headers };
  return t.call(method, path, undefined, { ...options, headers, key: null });
}

/** The statuses of a body that was read: no change, an unknown resource, or a missing field. */
const WAS_READ = [200, 404, 422];

/** Makes a JSON document of exactly this size. */
function padded(sizeBytes: number): Uint8Array {
  const bytes = new Uint8Array(sizeBytes).fill(0x20);
  bytes.set(new TextEncoder().encode('{"unknown":1}'));
  return bytes;
}

const announced = (sizeBytes: number) => ({ ...json, "content-length": String(sizeBytes) });

test("every route with a body documents its size limit", () => {
  const undocumented = routes().filter(({ maxBytes }) => typeof maxBytes !== "number");
  expect(undocumented.map(({ name }) => name)).toEqual([]);
  expect(routes().length).toBeGreaterThan(25);
});

test("the most important limits have the promised values", () => {
  const limits = new Map(routes().map(({ name, maxBytes }) => [name, maxBytes]));
  expect(limits.get("POST /v1/track")).toBe(256 * 1024);
  expect(limits.get("POST /v1/send")).toBe(20 * 1024 * 1024);
  expect(limits.get("POST /contacts/import")).toBeGreaterThanOrEqual(100 * 1024 * 1024);
});

/** Routes that take a file in a form. */
const FORMS = new Set(["POST /contacts/import", "POST /suppressions/import"]);

describe("a body", () => {
  test("announced with one byte above its limit gets 413 with the limit", async () => {
    for (const route of routes()) {
      const { name, maxBytes } = route;
      const limit = Number(maxBytes);
      const headers = FORMS.has(name)
        ? { "content-type": "multipart/form-data; boundary=x", "content-length": `${limit + 1}` }
        : announced(limit + 1);
      const answer = await callRoute(route, { raw: "{", headers });
      expectError(answer, { status: 413, code: "PAYLOAD_TOO_LARGE" });
      expect([name, answer.text("error.message")]).toEqual([
        name,
        expect.stringContaining(`larger than ${sizeText(limit)}.`),
      ]);
    }
  });

  test("of exactly its limit is read, announced or in chunks", async () => {
    const isFirst = ({ maxBytes }: Route, i: number, all: Route[]) =>
      all.findIndex((other) => other.maxBytes === maxBytes) === i;
    for (const route of routes().filter(isFirst)) {
      const { name, maxBytes, maxValues } = route;
      if (typeof maxValues !== "number") continue;
      const limit = Number(maxBytes);
      for (const headers of [announced(limit), json]) {
        const raw = padded(limit);
        const { status } = await callRoute(route, { raw, headers });
        expect([name, WAS_READ.includes(status)]).toEqual([name, true]);
      }
      const answer = await callRoute(route, {
        raw: padded(limit + 1),
        headers: json,
      });
      expect([name, answer.status]).toEqual([name, 413]);
    }
  });

  test("with more JSON values than its limit gets 422 with the limit", async () => {
    for (const route of routes()) {
      const { name, maxValues } = route;
      if (typeof maxValues !== "number") continue;
      const list = (count: number) => `{"unknown":[${"0,".repeat(count - 1)}0]}`;
      const raw = list(maxValues - 1);
      const answer = await callRoute(route, { raw, headers: json });
      expectError(answer, {
        status: 422,
        code: "VALIDATION_ERROR",
        errors: [["", "too_big"]],
      });
      expect([name, answer.text("error.errors.0.message")]).toEqual([
        name,
        `must have at most ${maxValues.toLocaleString("en-US")} JSON values`,
      ]);
      const fewer = { raw: list(maxValues - 2), headers: json };
      const { status, body } = await callRoute(route, fewer);
      expect([name, WAS_READ.includes(status)]).toEqual([name, true]);
      expect(JSON.stringify(body)).not.toContain("JSON values");
    }
  });

  test("of a route that needs none is limited as well", async () => {
    const headers = announced(BODY_LIMITS.none.bytes + 1);
    for (const [method, path] of [
      ["POST", "/campaigns/unknown/cancel"],
      ["DELETE", "/contacts/unknown"],
    ] as const) {
      const answer = await t.call(method, path, undefined, { raw: "{", headers });
      expect([path, answer.status]).toEqual([path, 413]);
    }
    const raw = '{"unknown":"\\u0000"}';
    const answer = await t.call("POST", "/campaigns/unknown/cancel", undefined, {
      raw,
      headers: json,
    });
    expect(answer.at("error.code")).toBe("CAMPAIGN_NOT_FOUND");
  });

  test("holds no share of the budget after the request was answered", async () => {
    const bodies: (string | Uint8Array)[] = [
      "{",
      "{}",
      padded(300_000),
      `[${"{},".repeat(9000)}1]`,
    ];
    for (const route of routes()) {
      for (const raw of bodies) await callRoute(route, { raw, headers: json });
    }
    await waitUntil(() => bodiesOf(t.app.app).takenBytes() === 0);
    expect(bodiesOf(t.app.app).takenValues()).toBe(0);
  });
});

describe("refuses a compressed body with 415", () => {
  const encodings = ["gzip", "GZIP", "br", "deflate", "zstd", "identity, gzip", "x-unknown"];
  for (const encoding of encodings) {
    test(encoding, async () => {
      const headers = { ...json, "content-encoding": encoding };
      const raw = Bun.gzipSync('{"email":"zip@example.com"}');
      const answer = await t.call("POST", "/contacts", undefined, { raw, headers });
      expectError(answer, { status: 415, code: "UNSUPPORTED_MEDIA_TYPE" });
      expect(answer.headers.get("accept-encoding")).toBe("identity");
      expect(t.countRows("contacts")).toBe(0);
    });
  }

  test("on every route, also for files", async () => {
    for (const route of routes()) {
      const { name } = route;
      const type = FORMS.has(name) ? "multipart/form-data; boundary=x" : undefined;
      const headers = {
        "content-encoding": "gzip",
        "content-type": type ?? "application/json",
      };
      const answer = await callRoute(route, { raw: "x", headers });
      expect([name, answer.status]).toEqual([name, 415]);
    }
  });

  test("only after authentication", async () => {
    const headers = { ...json, "content-encoding": "gzip" };
    const rest = { raw: "x", headers, key: null };
    expect((await t.call("POST", "/contacts", undefined, rest)).status).toBe(401);
  });

  test("but accepts the coding identity", async () => {
    const headers = { ...json, "content-encoding": "identity" };
    const raw = '{"email":"plain@example.com"}';
    expect((await t.call("POST", "/contacts", undefined, { raw, headers })).status).toBe(201);
  });
});

describe("a NUL, a lone surrogate and an infinite number in an unknown field", () => {
  const bad = String.raw`"a\u0000b\ud83d"`;
  const unknown = [
    `"unknown":${bad}`,
    `"unknown":{"a":[${bad},1e999]}`,
    String.raw`"un\u0000known":1`,
    `"unknown":1e999`,
  ];
  const requests: [method: string, path: string, fields: string, status: number][] = [
    ["POST", "/contacts", '"email":"nul@example.com"', 200],
    ["POST", "/v1/track", '"event":"e","email":"nul@example.com"', 200],
    [
      "POST",
      "/v1/send",
      '"to":"nul@example.com","from":"a@acme.test","subject":"s","body":"b"',
      200,
    ],
    ["POST", "/v1/verify", '"email":"nul@example.com"', 200],
    ["POST", "/templates", '"name":"n","subject":"s","body":"b","type":"MARKETING"', 201],
    ["POST", "/suppressions", '"email":"nul@example.com"', 200],
  ];
  for (const [method, path, fields, status] of requests) {
    for (const field of unknown) {
      test(`are ignored by ${method} ${path} with ${field.slice(0, 40)}`, async () => {
        if (path !== "/templates") await t.call(method, path, undefined, { raw: `{${fields}}` });
        const raw = `{${field},${fields}}`;
        const answer = await t.call(method, path, undefined, { raw, headers: json });
        expect([answer.status, answer.at("error.errors")]).toEqual([status, undefined]);
      });
    }
  }

  test("are ignored in unknown members of known fields as well", async () => {
    const mail = '"subject":"s","body":"b"';
    const person = `{"email":"nul@example.com","unknown":${bad}}`;
    const raw = `{"to":[${person}],"from":{"email":"a@acme.test","unknown":${bad}},${mail}}`;
    const answer = await t.call("POST", "/v1/send", undefined, { raw, headers: json });
    expect(answer.status).toBe(200);
  });

  test("are refused in known fields, also beside unknown ones", async () => {
    const raw = `{"unknown":${bad},"email":"nul@example.com","data":{"unknown":${bad}}}`;
    const answer = await t.call("POST", "/contacts", undefined, { raw, headers: json });
    const errors = [["data.unknown", "invalid_format"]] as const;
    expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors });
  });

  test("are refused in conditions, but not in unknown members of them", async () => {
    const filter = (rest: string) =>
      `{"name":"n","condition":{"logic":"AND","groups":[{"filters":[{"field":"email",` +
      `"operator":"equals",${rest}}]}]}}`;
    const call = (raw: string) =>
      t.call("POST", "/segments", undefined, { raw, headers: json }).then(({ status }) => status);
    expect(await call(filter(`"value":${bad}`))).toBe(422);
    expect(await call(filter(`"value":"x","unknown":${bad}`))).toBe(201);
    expect(await call(filter(`"value":"x"`))).toBe(201);
  });
});
