/**
 * A body that violates its schema gets 422 with the name of the field, and stores nothing: one test for
 * all operations. The OpenAPI document says what is valid, and its examples are changed in one place.
 * Rules that the document does not state are tested beside the code of their noun.
 */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type TestApp, type TestResponse, testApp } from "../support/app.ts";
import { listAt, stringAt, valueAt } from "../support/json.ts";
import { openApiDocument } from "../support/openapi.ts";
import { signIn, type UserSession } from "../support/session.ts";

let t: TestApp;
let owner: UserSession;
let document: TestResponse;
/** A workflow that exists, because the config of a step is checked for its type of step. */
let workflow: string;

beforeAll(async () => {
  t = await testApp();
  owner = await signIn(t);
  document = await openApiDocument();
  const steps = [{ id: "wait", type: "DELAY", config: { amount: 2, unit: "days" } }];
  const graph = { trigger: { type: "EVENT", eventName: "seen" }, steps, transitions: [] };
  workflow = await t.create("/workflows", { name: "Flow", ...graph }, "data.id");
});
afterAll(() => t.close());

type Schema = Readonly<Record<string, unknown>>;
/** A body with one fault, and what the answer says of it. */
type Wrong = { body: unknown; field: string; code: string; why: string };

const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const entriesOf = (value: unknown) => Object.entries<unknown>(Object(value));
const TYPES = ["string", "number", "boolean", "array", "object", "null"] as const;
const SAMPLES = {
  string: "x",
  number: 5.5,
  boolean: true,
  array: [[5]],
  object: { x: 5 },
  null: null,
};

function typeOf(value: unknown): (typeof TYPES)[number] | undefined {
  const given = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  return TYPES.find((type) => type === given);
}

function schemaAt(given: unknown): Schema {
  const reference = valueAt(given, "$ref");
  if (typeof reference !== "string") return isObject(given) ? given : {};
  const names = reference.slice("#/".length).split("/");
  const found = names.reduce<unknown>((inner, name) => Object(inner)[name], document.body);
  return { ...schemaAt(found), ...(isObject(given) ? given : {}) };
}

/** The schemas of which a value must satisfy one. */
function variantsOf(given: unknown): Schema[] {
  const schema = schemaAt(given);
  const variants = schema["anyOf"] ?? schema["oneOf"];
  return Array.isArray(variants) ? variants.flatMap(variantsOf) : [schema];
}

/** Conditions have a parser of their own, which test/modules/segments tests. */
const isCondition = (given: unknown) =>
  JSON.stringify(given).includes('"#/components/schemas/Condition"');

/** The JSON types of a schema; null if it permits all. */
function typesOf(variant: Schema): readonly string[] | null {
  const { type } = variant;
  if (Array.isArray(type)) return type.map(String);
  if (typeof type === "string") return [type === "integer" ? "number" : type];
  if ("const" in variant) return [String(typeOf(variant["const"]))];
  return "enum" in variant ? ["string"] : null;
}

/** Values that the schema of a field refuses, with the code of the error. */
function* wrongValues(given: unknown): Generator<[value: unknown, code: string, why: string]> {
  const variants = variantsOf(given);
  const types = variants.map(typesOf);
  if (!types.includes(null)) {
    const permitted = types.flat();
    const [first] = variants;
    const isOneValue = variants.length === 1 && first !== undefined && "const" in first;
    const code = isOneValue ? "invalid_value" : "invalid_type";
    for (const type of TYPES)
      if (!permitted.includes(type)) yield [SAMPLES[type], code, `is ${type}`];
  }
  const [only, ...others] = variants.filter(
    (variant) => typesOf(variant)?.includes("null") !== true,
  );
  if (only === undefined) return;
  const choices = [only, ...others].flatMap((variant) =>
    "const" in variant ? [variant["const"]] : Array.isArray(variant["enum"]) ? variant["enum"] : [],
  );
  if (choices.length > 0) yield ["no such value", "invalid_value", `is not in ${choices.join()}`];
  if (others.length > 0 || choices.length > 0) return;
  yield* outOfBounds(only);
}

function* outOfBounds(schema: Schema): Generator<[value: unknown, code: string, why: string]> {
  const at = (name: string) => (typeof schema[name] === "number" ? schema[name] : null);
  const text = { minLength: at("minLength"), maxLength: at("maxLength") };
  if (text.minLength !== null && text.minLength > 0) yield ["", "too_small", "is empty"];
  if (text.maxLength !== null) yield ["x".repeat(text.maxLength + 1), "too_big", "is too long"];
  const { minimum, maximum, minItems, maxItems } = {
    minimum: at("minimum"),
    maximum: at("maximum"),
    minItems: at("minItems"),
    maxItems: at("maxItems"),
  };
  if (minimum !== null) yield [minimum - 1, "too_small", "is too small"];
  if (maximum !== null) yield [maximum + 1, "too_big", "is too big"];
  if (schema["type"] === "integer") yield [(minimum ?? 0) + 0.5, "invalid_type", "is a fraction"];
  if (minItems !== null && minItems > 0) yield [[], "too_small", "is an empty list"];
  if (maxItems !== null && maxItems <= 10_000)
    yield [Array.from({ length: maxItems + 1 }, () => "x"), "too_big", "is a long list"];
  if (schema["format"] === "date-time" || schema["format"] === "email")
    yield ["soon", "invalid_format", `is no ${schema["format"]}`];
}

/** All bodies that differ from `example` in one fault of one field. */
function* wrongBodies(
  schema: Schema,
  example: Schema,
  path: readonly string[],
  wrap: (changed: unknown) => unknown,
): Generator<Wrong> {
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  for (const [name, property] of entriesOf(schema["properties"])) {
    if (isCondition(property)) continue;
    const field = [...path, name].join(".");
    if (required.includes(name)) {
      const { [name]: _, ...rest } = example;
      yield { body: wrap(rest), field, code: "required", why: "is missing" };
    }
    const put = (value: unknown) => wrap({ ...example, [name]: value });
    for (const [value, code, why] of wrongValues(property)) {
      yield { body: put(value), field, code, why };
    }
    yield* wrongParts(property, example[name], [...path, name], put);
  }
}

/** The faults inside of a value of the example. */
function* wrongParts(
  property: unknown,
  value: unknown,
  path: readonly string[],
  put: (value: unknown) => unknown,
): Generator<Wrong> {
  if (value === undefined || path.length > 6) return;
  const variants = variantsOf(property).filter(
    (variant) => typesOf(variant)?.includes(String(typeOf(value))) === true,
  );
  const [only, ...others] = variants;
  if (only === undefined || others.length > 0) return;
  if (isObject(value)) yield* wrongBodies(only, value, path, put);
  if (!Array.isArray(value) || value.length === 0) return;
  const putFirst = (item: unknown) => put([item, ...value.slice(1)]);
  for (const [item, code, why] of wrongValues(only["items"])) {
    yield { body: putFirst(item), field: [...path, "0"].join("."), code, why };
  }
  yield* wrongParts(only["items"], value[0], [...path, "0"], putFirst);
}

type Operation = { method: string; path: string; operation: unknown };

function operations(): Operation[] {
  return entriesOf(document.at("paths")).flatMap(([path, item]) =>
    entriesOf(item).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path: path
        .replace("/projects/{id}", `/projects/${t.project.id}`)
        .replace("/workflows/{id}", `/workflows/${workflow}`)
        .replace("{stepId}", "wait")
        .replaceAll(/\{\w+\}/g, "unknown"),
      operation,
    })),
  );
}

/** Sends a request with the secret key, or as an owner if the operation needs a session. */
function send({ method, path, operation }: Operation, body?: unknown): Promise<TestResponse> {
  const needsSession = Bun.deepEquals(valueAt(operation, "security"), [{ session: [] }]);
  return needsSession
    ? owner.call(method, path, body, { "x-project": t.project.id })
    : t.call(method, path, body);
}

/** Returns null if the answer has the expected error, and else what it has. */
function faultOf(answer: TestResponse, { field, code, why }: Omit<Wrong, "body">) {
  const errors = answer.status === 422 ? listAt(answer.body, "error.errors") : [];
  const found = errors.find((error) => valueAt(error, "field") === field);
  return valueAt(found, "code") === code ? null : [field, why, code, answer.status, found];
}

async function checkBodies(
  isMeant: (operation: Operation) => boolean,
  least: number,
): Promise<void> {
  const faults: unknown[] = [];
  let count = 0;
  for (const operation of operations().filter(isMeant)) {
    const request = valueAt(operation.operation, "requestBody");
    const media = valueAt(request, "content.application/json");
    const example = valueAt(media, "example");
    const [schema = {}] = variantsOf(valueAt(media, "schema")).filter((variant) =>
      isObject(variant["properties"]),
    );
    if (!isObject(example)) continue;
    const bodies: Wrong[] = [...wrongBodies(schema, example, [], (body) => body)];
    for (const [body, code, why] of wrongValues(valueAt(media, "schema"))) {
      // A body that is not required may also be null.
      if (body !== null || valueAt(request, "required") === true)
        bodies.push({ body, field: "", code, why });
    }
    const before = t.contents();
    for (const { body, ...expected } of bodies) {
      count++;
      const fault = faultOf(await send(operation, body), expected);
      if (fault !== null) faults.push([operation.method, operation.path, ...fault]);
    }
    if (!Bun.deepEquals(t.contents(), before))
      faults.push([operation.method, operation.path, "something was stored"]);
  }
  expect(faults).toEqual([]);
  expect(count).toBeGreaterThan(least);
}

describe("every violation of the schema of a body gets 422 with its field, and nothing is stored,", () => {
  const isPost = ({ method }: Operation) => method === "POST";
  const isEarly = ({ path }: Operation) => path < "/m";
  test("by POST to /a to /l", () => checkBodies((each) => isPost(each) && isEarly(each), 300));
  test("by POST to /m to /z", () => checkBodies((each) => isPost(each) && !isEarly(each), 400));
  test("by other methods", () => checkBodies((each) => !isPost(each), 350));
});

test("every wrong query parameter gets 422 with its name", async () => {
  const faults: unknown[] = [];
  let count = 0;
  for (const operation of operations()) {
    for (const parameter of listAt(operation.operation, "parameters")) {
      if (valueAt(parameter, "in") !== "query") continue;
      const name = stringAt(parameter, "name");
      for (const [value, code, why] of wrongTexts(valueAt(parameter, "schema"))) {
        count++;
        const path = `${operation.path}?${new URLSearchParams({ [name]: value }).toString()}`;
        const fault = faultOf(await send({ ...operation, path }), { field: name, code, why });
        if (fault !== null) faults.push([operation.method, path, ...fault]);
      }
    }
  }
  expect(faults).toEqual([]);
  expect(count).toBeGreaterThan(100);
});

/** Texts that a parameter refuses. */
function* wrongTexts(schema: unknown): Generator<[text: string, code: string, why: string]> {
  const [only, ...others] = variantsOf(schema);
  if (only?.["type"] === "integer" || only?.["type"] === "boolean")
    yield ["abc", "invalid_type", `is no ${only["type"]}`];
  for (const [value, code, why] of wrongValues(schema)) {
    const isText = typeof value === "string" && value !== "x";
    if (isText || (typeof value === "number" && value !== 5.5 && others.length === 0))
      yield [String(value), code, why];
  }
}
