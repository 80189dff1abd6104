/**
 * The OpenAPI document is complete: every operation, parameter, property, request and response is
 * described and has an example, and the document says what the server does.
 */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type TestResponse, type TestApp, testApp } from "../support/app.ts";
import { listAt, stringAt, valueAt } from "../support/json.ts";
import { openApiDocument } from "../support/openapi.ts";
import { signIn, type UserSession } from "../support/session.ts";

let t: TestApp;
let document: TestResponse;
beforeAll(async () => {
  t = await testApp({ config: { apiRate: 100_000 } });
  document = await openApiDocument();
});
afterAll(() => t.close());

type Operation = { id: string; method: string; path: string; operation: unknown };
const entriesOf = (value: unknown) => Object.entries<unknown>(Object(value));

function operations(): Operation[] {
  return entriesOf(document.at("paths")).flatMap(([path, item]) =>
    entriesOf(item).map(([method, operation]) => {
      const id = String(valueAt(operation, "operationId"));
      return { id, method: method.toUpperCase(), path, operation };
    }),
  );
}

/** Returns what a reference leads to, or the value itself. */
function dereferenced(value: unknown): unknown {
  const reference = valueAt(value, "$ref");
  if (typeof reference !== "string") return value;
  return reference
    .slice("#/".length)
    .split("/")
    .reduce<unknown>((inner, name) => Reflect.get(Object(inner), name), document.body);
}

const isText = (value: unknown) => typeof value === "string" && value.length > 2;
const responsesOf = (operation: unknown) =>
  entriesOf(valueAt(operation, "responses")).map(
    ([status, response]) => [status, dereferenced(response)] as const,
  );
const parametersOf = (operation: unknown) => listAt(operation, "parameters").map(dereferenced);
const contentOf = (value: unknown) => entriesOf(valueAt(value, "content"));

/** Returns what an operation lacks. */
function faultsOf(operation: unknown): string[] {
  const faults: string[] = [];
  const id = valueAt(operation, "operationId");
  if (typeof id !== "string" || !/^[a-z][A-Za-z0-9]*$/.test(id)) faults.push("operationId");
  for (const name of ["summary", "description"]) {
    if (!isText(valueAt(operation, name))) faults.push(name);
  }
  const declared = listAt(document.body, "tags").map((tag) => stringAt(tag, "name"));
  const tags = valueAt(operation, "tags");
  const isTagged = Array.isArray(tags) && tags.length === 1 && declared.includes(String(tags[0]));
  if (!isTagged) faults.push("tags");
  for (const parameter of parametersOf(operation)) {
    const name = stringAt(parameter, "name");
    if (!isText(valueAt(parameter, "description"))) faults.push(`description of ${name}`);
  }
  const bodies = [
    ["request", valueAt(operation, "requestBody")] as const,
    ...responsesOf(operation),
  ];
  for (const [name, body] of bodies) {
    for (const [, media] of contentOf(body)) {
      if (valueAt(media, "example") === undefined) faults.push(`example of ${name}`);
    }
  }
  return faults;
}

test("every operation has an id, texts, a declared tag and examples", () => {
  const faults = operations().flatMap(({ method, path, operation }) =>
    faultsOf(operation).map((fault) => `${method} ${path}: ${fault}`),
  );
  expect(faults).toEqual([]);
});

test("an operation without them is found", () => {
  const response = { description: "Done", content: { "application/json": { schema: {} } } };
  const operation = {
    operationId: "rotate-secret",
    tags: ["Unknown"],
    parameters: [{ name: "id", in: "path" }],
    responses: { 200: response },
  };
  expect(faultsOf(operation)).toEqual([
    "operationId",
    "summary",
    "description",
    "tags",
    "description of id",
    "example of 200",
  ]);
});

test("every component and every property is described", () => {
  const found: string[] = [];
  function collectUndescribed(schema: unknown, path: string): void {
    if (schema === undefined) return;
    for (const [name, property] of entriesOf(valueAt(schema, "properties"))) {
      const at = `${path}.${name}`;
      const isDescribed = isText(valueAt(property, "description"));
      if (!isDescribed && !isText(valueAt(dereferenced(property), "description"))) found.push(at);
      collectUndescribed(property, at);
    }
    for (const keyword of ["items", "additionalProperties"]) {
      collectUndescribed(valueAt(schema, keyword), `${path}.${keyword}`);
    }
    for (const keyword of ["anyOf", "oneOf"]) {
      for (const [i, variant] of entriesOf(valueAt(schema, keyword)))
        collectUndescribed(variant, `${path}.${i}`);
    }
  }
  const schemas = entriesOf(document.at("components.schemas"));
  for (const [name, schema] of schemas) {
    if (!isText(valueAt(schema, "description"))) found.push(name);
    collectUndescribed(schema, name);
  }
  for (const { id, operation } of operations()) {
    for (const [, media] of contentOf(valueAt(operation, "requestBody"))) {
      collectUndescribed(valueAt(media, "schema"), id);
    }
  }
  expect(found).toEqual([]);
  expect(schemas.length).toBeGreaterThan(80);
});

test("the nouns of the API are named schemas", () => {
  const names = entriesOf(document.at("components.schemas")).map(([name]) => name);
  const nouns =
    "Contact Email DeliveryAttempt Campaign CampaignStats Segment Condition Template Domain Event " +
    "Suppression Verification Webhook WebhookDelivery Workflow WorkflowExecution TriggerStep " +
    "SendEmailStep DelayStep WaitForEventStep ConditionStep WebhookStep UpdateContactStep ExitStep " +
    "Error FieldError JsonObject";
  expect(nouns.split(" ").filter((noun) => !names.includes(noun))).toEqual([]);
});

test("schemas use no private format, and one schema for free-form objects", () => {
  const text = JSON.stringify(document.body);
  const formats = new Set([...text.matchAll(/"format":"([^"]+)"/g)].map(([, name = ""]) => name));
  // CODE and png are values of fields `format` in examples.
  expect([...formats].sort()).toEqual(["CODE", "binary", "date-time", "email", "png"]);
  const freeForm = [...text.matchAll(/\{"type":"object","additionalProperties":true,/g)];
  expect(freeForm.length).toBe(1);
  expect(text).not.toMatch(/"x-(?!max-|role"|scopes")/);
});

test("a condition has one recursive schema", () => {
  const reference = { $ref: "#/components/schemas/Condition" };
  const schemas = document.at("components.schemas");
  expect(valueAt(schemas, "ConditionGroup.properties.conditions")).toMatchObject(reference);
  expect(valueAt(schemas, "BulkInput.properties.filter")).toMatchObject(reference);
  for (const path of [
    "Segment.properties.condition",
    "SegmentInput.properties.condition",
    "Campaign.properties.audienceFilter",
    "CampaignInput.properties.audienceFilter",
  ]) {
    expect([path, valueAt(schemas, `${path}.anyOf.0`)]).toEqual([path, reference]);
  }
});

test("links lead from values of the response to the parameters of operations", () => {
  const byId = new Map(operations().map((each) => [each.id, each]));
  const found: unknown[] = [];
  for (const { operation } of operations()) {
    for (const [, response] of responsesOf(operation)) {
      const [example] = contentOf(response).map(([, media]) => valueAt(media, "example"));
      for (const [name, link] of entriesOf(valueAt(response, "links"))) {
        const target = byId.get(name);
        const names = [...(target?.path ?? "").matchAll(/\{(\w+)\}/g)].map(
          ([, inner = ""]) => inner,
        );
        const values = entriesOf(valueAt(link, "parameters"));
        expect([name, values.map(([parameter]) => parameter)]).toEqual([name, names]);
        for (const [, expression] of values) {
          const path = String(expression).replace("$response.body#/", "").replaceAll("/", ".");
          expect([name, path, valueAt(example, path)]).toEqual([name, path, expect.any(String)]);
        }
        found.push(name);
      }
    }
  }
  expect(found.length).toBeGreaterThan(30);
});

describe("the server", () => {
  let owner: UserSession;
  beforeAll(async () => {
    owner = await signIn(t);
  });
  const sent = (path: string) =>
    path.replace("/projects/{id}", `/projects/${t.project.id}`).replaceAll(/\{\w+\}/g, "unknown");

  /** Sends a request with the secret key, or as an owner if the operation needs a session. */
  function send(
    { method, path, operation }: { method: string; path: string; operation: unknown },
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<TestResponse> {
    const needsSession = Bun.deepEquals(valueAt(operation, "security"), [{ session: [] }]);
    return needsSession
      ? owner.call(method, sent(path), body, { ...headers, "x-project": t.project.id })
      : t.call(method, sent(path), body, { headers });
  }

  const exampleOf = (operation: unknown) =>
    valueAt(operation, "requestBody.content.application/json.example");

  test("accepts every example of a request", async () => {
    const refused: unknown[] = [];
    for (const { method, path, operation } of operations()) {
      const example = exampleOf(operation);
      if (example === undefined) continue;
      const { status, body } = await send({ method, path, operation }, example);
      const codes = Object(valueAt(body, "error.errors") ?? []);
      const isUnknown = [...codes].every((error) => valueAt(error, "code") === "unknown_reference");
      if (status === 400 || (status === 422 && !isUnknown)) refused.push([method, path, body]);
    }
    expect(refused).toEqual([]);
  });

  test("requires exactly the bodies that are declared as required", async () => {
    for (const { method, path, operation } of operations()) {
      const isRequired = valueAt(operation, "requestBody.required");
      const [[mediaType] = []] = contentOf(valueAt(operation, "requestBody"));
      // The pages for recipients answer a missing form with a page: modules/subscription.
      if (mediaType === undefined || mediaType === FORM_TYPE) continue;
      const { status } = await send({ method, path, operation });
      expect([method, path, status === 422]).toEqual([method, path, isRequired === true]);
    }
  });

  test("reads the Idempotency-Key exactly where it is declared", async () => {
    for (const { method, path, operation } of operations()) {
      const isDeclared = parametersOf(operation).some(
        (parameter) => valueAt(parameter, "name") === "Idempotency-Key",
      );
      const headers = { "idempotency-key": "x".repeat(256) };
      const { body } =
        ["/contacts/import", "/suppressions/import", "/images"].includes(path) && method === "POST"
          ? await t.call(method, path, undefined, {
              raw: FORM,
              headers: { ...headers, ...MULTIPART },
            })
          : await send({ method, path, operation }, exampleOf(operation), headers);
      const isRead = valueAt(body, "error.errors.0.field") === "Idempotency-Key";
      expect([method, path, isRead]).toEqual([method, path, isDeclared]);
      const success = responsesOf(operation).find(([status]) => status < "300")?.[1];
      const replayed = valueAt(success, "headers.Idempotency-Replayed");
      expect([method, path, replayed !== undefined]).toEqual([method, path, isDeclared]);
    }
  });

  test("sends only headers that are declared", async () => {
    const known = entriesOf(document.at("components.headers")).map(([name]) => name);
    const seen = new Set<string>();
    for (const { method, path, operation } of operations()) {
      const declared = new Map(responsesOf(operation));
      for (const key of [null, t.publicKey, t.secretKey]) {
        const { status, headers } = await t.call(method, sent(path), exampleOf(operation), { key });
        const response = declared.get(String(status));
        expect([method, path, status, typeof response]).toEqual([method, path, status, "object"]);
        for (const name of known.filter((header) => headers.has(header))) {
          seen.add(name);
          const header = Object(valueAt(response, "headers"))[name];
          expect([method, path, status, name, header]).toEqual([
            method,
            path,
            status,
            name,
            { $ref: `#/components/headers/${name}` },
          ]);
        }
        t.clock.advance(60_000); // Resets the limit of failed authentication.
      }
    }
    expect([...seen].sort()).toEqual([
      "Content-Disposition",
      "ETag",
      "RateLimit-Limit",
      "RateLimit-Remaining",
      "RateLimit-Reset",
      "WWW-Authenticate",
      "X-Request-Id",
    ]);
  });
});

const FORM_TYPE = "application/x-www-form-urlencoded";
const MULTIPART = { "content-type": "multipart/form-data; boundary=x" };
const FORM =
  '--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nemail\r\na@b.co\r\n--x--\r\n';
