import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type TestResponse, type TestApp, testApp } from "../support/app.ts";
import { valueAt, listAt, stringAt } from "../support/json.ts";
import { openApiDocument } from "../support/openapi.ts";

let t: TestApp;
let answer: TestResponse;
beforeAll(async () => {
  t = await testApp();
  answer = await openApiDocument();
});
afterAll(() => t.close());

test("the document is the same after requests", async () => {
  const used = await testApp();
  expect((await used.call("GET", "/inboxes/default")).status).toBe(200);
  expect((await used.call("GET", "/contacts")).status).toBe(200);
  const later = await used.call("GET", "/openapi.json", undefined, { key: null });
  expect(later.body).toEqual(answer.body);
  await used.close();
});

type Operation = { path: string; method: string; operation: object };
const METHODS = ["get", "post", "put", "patch", "delete", "options", "head"];

function operations(): Operation[] {
  return Object.entries(Object(answer.at("paths"))).flatMap(([path, item]) =>
    Object.entries(Object(item)).map(([method, operation]) => {
      if (!METHODS.includes(method)) throw new Error(`${path}: ${method} is no method`);
      return { path, method, operation: Object(operation) };
    }),
  );
}

const members = (value: unknown) => Object.entries<unknown>(Object(value));

/** Yields all objects of the document with their paths. */
function* walk(value: unknown, path = "#"): Generator<[path: string, value: object]> {
  if (typeof value !== "object" || value === null) return;
  yield [path, value];
  for (const [name, inner] of members(value)) {
    yield* walk(inner, `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`);
  }
}

/** Returns the target of a reference, or the value itself. */
function dereferenced(value: unknown): unknown {
  const reference = valueAt(value, "$ref");
  return typeof reference === "string" ? resolve(reference) : value;
}

function resolve(reference: string): unknown {
  const parts = reference.replace(/^#\//, "").split("/");
  return parts.reduce<unknown>(
    (value, part) => Reflect.get(Object(value), part.replaceAll("~1", "/").replaceAll("~0", "~")),
    answer.body,
  );
}

test("the document is OpenAPI 3.1, needs no key, and has a few dozen kilobytes", () => {
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("application/json");
  expect(answer.text("openapi")).toMatch(/^3\.1\.\d$/);
  expect(answer.text("info.title")).toBe("Mailstead");
  expect(answer.text("info.version")).toMatch(/^\d+\.\d+\.\d+/);
  const known = ["openapi", "info", "servers", "security", "components", "paths", "tags"];
  for (const [name] of members(answer.body)) expect(known).toContain(name);
  expect(JSON.stringify(answer.body).length).toBeLessThan(1_100_000);
});

test("it contains exactly the routes of the API", () => {
  const registered = t.app.http.routes
    .filter(({ hooks }) => valueAt(hooks, "detail.hide") !== true)
    .map(({ method, path }) => `${method.toLowerCase()} ${path.replace(/:(\w+)/g, "{$1}")}`);
  const documented = operations().map(({ method, path }) => `${method} ${path}`);
  expect(documented.sort()).toEqual(registered.sort());
  expect(documented).toContain("post /v1/send");
});

/** Operations whose answer is a file of one of two types. */
const FILES = new Set([
  "/consents/export",
  "/contacts/export",
  "/contacts/{id}/consents/proof",
  "/contacts/{id}/export",
]);

describe("every operation", () => {
  test("has a summary, a tag and a unique name", () => {
    const ids = operations().map(({ path, method, operation }) => {
      expect([path, method, typeof valueAt(operation, "summary")]).toEqual([
        path,
        method,
        "string",
      ]);
      expect(listAt(operation, "tags")).toHaveLength(1);
      return stringAt(operation, "operationId");
    });
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("declares its path parameters, and parameters only in known locations", () => {
    for (const { path, method, operation } of operations()) {
      const parameters =
        valueAt(operation, "parameters") === undefined
          ? []
          : listAt(operation, "parameters").map(dereferenced);
      const inPath = parameters.filter((parameter) => valueAt(parameter, "in") === "path");
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      expect([method, path, inPath.map((p) => valueAt(p, "name"))]).toEqual([method, path, names]);
      for (const parameter of inPath) expect(valueAt(parameter, "required")).toBe(true);
      for (const parameter of parameters) {
        expect(["path", "query", "header"]).toContain(stringAt(parameter, "in"));
        expect(valueAt(parameter, "schema")).toBeObject();
      }
    }
  });

  test("describes each response, with a schema unless there is no body", () => {
    for (const { path, method, operation } of operations()) {
      const responses = members(valueAt(operation, "responses"));
      expect(responses.length).toBeGreaterThan(0);
      for (const [status, given] of responses) {
        const response = dereferenced(given);
        const where = `${method} ${path} ${status}`;
        expect([where, status]).toEqual([where, expect.stringMatching(/^[2345]\d\d$/)]);
        expect([where, stringAt(response, "description").length > 3]).toEqual([where, true]);
        const content = members(valueAt(response, "content"));
        const mediaTypes = FILES.has(path) && status === "200" ? 2 : 1;
        const count = /^(204|3..)$/.test(status) ? 0 : mediaTypes;
        expect([where, content.length]).toEqual([where, count]);
        for (const [, media] of content)
          expect([where, valueAt(media, "schema")]).toEqual([where, expect.any(Object)]);
      }
    }
  });

  test("declares a success and, if it needs a key, every error with the shared schema", () => {
    for (const { path, method, operation } of operations()) {
      const statuses = members(valueAt(operation, "responses")).map(([status]) => status);
      const where = `${method} ${path}`;
      expect([where, statuses.some((status) => /^[23]/.test(status))]).toEqual([where, true]);
      const isOpen = listAtOrNull(operation, "security")?.length === 0;
      const needed = isOpen
        ? []
        : ["400", "401", "403", "404", "408", "409", "413", "415", "422", "429", "500", "503"];
      expect([where, needed.filter((status) => !statuses.includes(status))]).toEqual([where, []]);
      for (const status of statuses.filter((text) => text >= "400")) {
        const response = dereferenced(valueAt(operation, `responses.${status}`));
        const content = valueAt(response, "content");
        expect([where, content]).toEqual([where, isPage(path) ? HTML_PAGE : ERROR_BODY]);
      }
    }
  });

  test("has a schema for its JSON body that allows unknown fields", () => {
    const withBody = operations().filter(({ operation }) => "requestBody" in operation);
    for (const { path, method, operation } of withBody) {
      const where = `${method} ${path}`;
      const isOptional = OPTIONAL_BODIES.includes(stringAt(operation, "operationId"));
      expect([where, valueAt(operation, "requestBody.required")]).toEqual([where, !isOptional]);
      for (const [type, media] of members(valueAt(operation, "requestBody.content"))) {
        if (type === "message/rfc822") continue;
        const schema = dereferenced(valueAt(media, "schema"));
        expect([where, valueAt(schema, "type")]).toEqual([where, "object"]);
        expect([where, valueAt(schema, "additionalProperties")]).toEqual([where, true]);
      }
    }
    expect(withBody.map(({ path }) => path)).toContain("/v1/send");
  });

  test("with a body declares it in one media type", () => {
    const withBody = operations().filter(({ operation }) => "requestBody" in operation);
    for (const { path, method, operation } of withBody) {
      const content = members(valueAt(operation, "requestBody.content"));
      expect([method, path, content.length]).toEqual([method, path, 1]);
      for (const [, media] of content)
        expect([method, path, valueAt(media, "schema")]).toEqual([
          method,
          path,
          expect.any(Object),
        ]);
    }
  });

  test("of an import has a form with a file", () => {
    const content = answer.at("paths./contacts/import.post.requestBody.content");
    expect(content).toEqual({
      "multipart/form-data": {
        example: { file: expect.any(String), subscribed: true },
        schema: expect.objectContaining({
          required: ["file"],
          properties: {
            file: expect.objectContaining({ type: "string", format: "binary" }),
            mapping: expect.objectContaining({ type: "string" }),
            subscribed: expect.objectContaining({ type: "boolean" }),
            resubscribe: expect.objectContaining({ type: "boolean" }),
            statuses: expect.objectContaining({ type: "string" }),
            encoding: expect.objectContaining({ type: "string" }),
            dateOrder: expect.objectContaining({ enum: ["DMY", "MDY"] }),
            decimalSeparator: expect.objectContaining({ enum: [".", ","] }),
            delimiter: expect.objectContaining({ type: "string" }),
            dryRun: expect.objectContaining({ type: "boolean" }),
          },
        }),
      },
    });
  });

  test("ignores query parameters that it does not know", async () => {
    const reading = operations().filter(({ method }) => method === "get");
    for (const { path } of reading) {
      const real = path.replaceAll(/\{\w+\}/g, "x");
      const { status } = await t.call("GET", `${real}?zzz=1`);
      expect([path, status === 422]).toEqual([path, false]);
    }
  });
});

describe("security", () => {
  test("both kinds of keys are bearer tokens, and the default is the secret key", () => {
    expect(answer.at("components.securitySchemes")).toMatchObject({
      secretKey: { type: "http", scheme: "bearer" },
      publicKey: { type: "http", scheme: "bearer" },
    });
    expect(answer.at("security")).toEqual([{ secretKey: [] }]);
  });

  test("/v1/track accepts both kinds; only health routes and pages for recipients need no key", () => {
    const departing = operations()
      .filter(({ operation }) => "security" in operation)
      .map(({ path, operation }): [string, unknown] => [path, valueAt(operation, "security")]);
    const ofSessions = departing.filter(([, security]) =>
      Bun.deepEquals(security, [{ session: [] }]),
    );
    expect(ofSessions.map(([path]) => path)).toContain("/system");
    const others = departing.filter((entry) => !ofSessions.includes(entry));
    const { "/v1/track": track, ...open } = Object.fromEntries(others);
    expect(track).toEqual([{ publicKey: [] }, { secretKey: [] }]);
    for (const [path, security] of Object.entries(open)) {
      expect([path, security]).toEqual([path, []]);
      expect(path).toMatch(
        /^\/(livez|readyz|unsubscribe|subscribe|manage|preference-requests|archive|confirm|c|f|o|i)(\/\{|$)/,
      );
    }
  });

  test("exactly the routes with a security requirement answer 401 without a key", async () => {
    for (const { path, method, operation } of operations()) {
      const isOpen = listAtOrNull(operation, "security")?.length === 0;
      const real = path.replaceAll(/\{\w+\}/g, "x");
      const { status } = await t.call(method.toUpperCase(), real, undefined, { key: null });
      t.clock.advance(60_000); // Resets the limit of failed authentication.
      expect([method, path, status === 401]).toEqual([method, path, !isOpen]);
    }
  });
});

/** Returns true for the routes that recipients open, whose errors are HTML pages as well. */
function isPage(path: string): boolean {
  return /^\/(unsubscribe|subscribe|manage|preference-requests|archive|confirm|c|f)\//.test(path);
}

const OPTIONAL_BODIES = [
  "sendCampaign",
  "previewCampaign",
  "followUpCampaign",
  "rehearseCampaign",
  "previewTemplate",
  "testTemplate",
];
const ERROR_BODY = {
  "application/json": {
    schema: { $ref: "#/components/schemas/Error" },
    example: expect.objectContaining({ success: false }),
  },
};
const HTML_PAGE = {
  "text/html": {
    schema: expect.objectContaining({ type: "string", contentMediaType: "text/html" }),
    example: expect.any(String),
  },
};

test("every reference can be resolved", () => {
  const references = [...walk(answer.body)].flatMap(([, value]) =>
    "$ref" in value ? [String(value.$ref)] : [],
  );
  expect(references.length).toBeGreaterThan(10);
  for (const reference of new Set(references)) {
    expect(reference).toStartWith("#/");
    expect([reference, resolve(reference)]).toEqual([reference, expect.any(Object)]);
  }
});

test("schemas use only keywords of JSON Schema 2020-12", () => {
  const types = ["string", "number", "integer", "boolean", "object", "array", "null"];
  const schemas = [...walk(answer.body)].filter(
    ([path]) => /\/schema(\/|$)|\/schemas\//.test(path) && !path.includes("/examples/"),
  );
  expect(schemas.length).toBeGreaterThan(200);
  for (const [path, value] of schemas) {
    if (/\/(properties|patternProperties|schemas)$/.test(path) || Array.isArray(value)) continue;
    if ("type" in value)
      expect([path, types]).toEqual([path, expect.arrayContaining([value.type])]);
    expect([path, "nullable" in value]).toEqual([path, false]);
    if ("required" in value && Array.isArray(value.required)) {
      const properties = members(valueAt(value, "properties")).map(([name]) => name);
      expect([path, properties]).toEqual([path, expect.arrayContaining(value.required)]);
    }
    if ("enum" in value || "anyOf" in value) {
      expect(listAt(value, "enum" in value ? "enum" : "anyOf").length).toBeGreaterThan(0);
    }
  }
});

describe("the documentation page", () => {
  const assets = ["/docs", "/docs/start.js", "/docs/swagger-ui.js", "/docs/swagger-ui.css"];

  for (const path of assets) {
    test(`${path} needs no key, and its policy forbids other servers`, async () => {
      const { status, headers, body } = await t.call("GET", path, undefined, { key: null });
      expect(status).toBe(200);
      expect(String(body).length).toBeGreaterThan(100);
      const types = { "/docs": "text/html", css: "text/css", js: "text/javascript" };
      const type = Object.entries(types).find(([end]) => path.endsWith(end))?.[1] ?? "?";
      expect(headers.get("content-type")).toStartWith(type);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      const policy = headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'self'");
      expect(policy).not.toMatch(/https?:|\*/);
    });
  }

  test("refers only to assets of this server", async () => {
    const page = String((await t.call("GET", "/docs", undefined, { key: null })).body);
    const start = String((await t.call("GET", "/docs/start.js", undefined, { key: null })).body);
    expect(page + start).not.toMatch(/(https?:)?\/\/\w/);
    const named = [...page.matchAll(/(?:src|href)="(\/[^"]*)"/g)].map(([, path = ""]) => path);
    expect(named.sort()).toEqual(assets.slice(1).sort());
    expect(start).toContain('url: "/openapi.json"');
    expect(start).toContain("validatorUrl: null");
  });

  test("has a style sheet that loads nothing", async () => {
    const css = String(
      (await t.call("GET", "/docs/swagger-ui.css", undefined, { key: null })).body,
    );
    expect(css.match(/url\((?!["']?data:)[^)]*\)|@import/g)).toBeNull();
  });
});

function listAtOrNull(value: unknown, path: string): unknown[] | null {
  return valueAt(value, path) === undefined ? null : listAt(value, path);
}
