/**
 * Turns the schemas of the OpenAPI document into the form from which clients are generated: a schema
 * that `named` gave a name becomes a component to which all its uses refer, a union of constants an
 * enumeration, a free-form object a reference to JsonObject, a private format a pattern.
 */

import { NAME, SHOWN, USE } from "./documented.ts";
import { patternOf } from "./formats.ts";
import { isRecord } from "./validation.ts";

export type Components = Map<string, unknown>;
type Schema = Readonly<Record<string, unknown>>;

/** Any key is allowed in the records of TypeBox. */
const ANY_KEY = "^(.*)$";
const FREE_FORM = "JsonObject";
const COMPONENTS = "#/components/schemas/";

const JSON_OBJECT = {
  type: "object",
  additionalProperties: true,
  description: "A free-form JSON object",
  examples: [{ plan: "pro" }],
};

export function createComponents(): Components {
  return new Map<string, unknown>([[FREE_FORM, JSON_OBJECT]]);
}

/** Returns the component that a reference leads to, or the schema itself. */
export function resolved(schema: unknown, components: Components): unknown {
  const reference = isRecord(schema) ? schema["$ref"] : undefined;
  return typeof reference === "string"
    ? components.get(reference.slice(COMPONENTS.length))
    : schema;
}

/** Replaces the named schemas in a schema, and adds them to `components`. */
export function extractSchemas(value: unknown, components: Components): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => extractSchemas(item, components));
  if (!isRecord(value)) return value;
  const { [SHOWN]: shown, [NAME]: name, [USE]: use, ...rest } = value;
  if (isRecord(shown)) {
    const { description } = rest;
    return extractSchemas(
      description === undefined ? shown : withUse(shown, description),
      components,
    );
  }
  const { own, limits } = splitLimits(rest);
  const schema = simplified(
    Object.fromEntries(
      Object.entries(own)
        .filter(([key, inner]) => !isAddedByElysia(key, inner))
        .map(([key, inner]) => [key, extractMember(key, inner, components)]),
    ),
  );
  const description = typeof use === "string" ? { description: use } : {};
  if (typeof name !== "string") return { ...schema, ...description, ...limits };
  if (!isPlaceholder(schema)) define(name, schema, components);
  return { $ref: `${COMPONENTS}${name}`, ...description, ...limits };
}

function extractMember(key: string, value: unknown, components: Components): unknown {
  if (LITERAL.has(key)) return value;
  if (key !== "properties" || !isRecord(value)) return extractSchemas(value, components);
  // A property may have the name of a keyword, such as `examples`.
  const entries = Object.entries(value);
  return Object.fromEntries(entries.map(([name, of]) => [name, extractSchemas(of, components)]));
}

/** Keywords whose values are data and contain no schemas. */
const LITERAL = new Set(["examples", "example", "const", "enum", "required"]);

/**
 * At the first request of a route, Elysia forbids other members in the schema of its response. So
 * the document would depend on earlier requests, and equal schemas of two routes would differ.
 */
function isAddedByElysia(key: string, value: unknown): boolean {
  return key === "additionalProperties" && value === false;
}

function withUse(schema: Schema, description: unknown): Schema {
  return { ...schema, [NAME in schema ? USE : "description"]: description };
}

/** The limits of a body belong to its route, so they stay beside a reference to its schema. */
function splitLimits(schema: Schema): { own: Schema; limits: Schema } {
  const isLimit = ([key]: [string, unknown]) => key.startsWith("x-max-");
  const entries = Object.entries(schema);
  return {
    own: Object.fromEntries(entries.filter((entry) => !isLimit(entry))),
    limits: Object.fromEntries(entries.filter(isLimit)),
  };
}

/**
 * A schema without keywords accepts any value, because other code checks it. It names a component
 * that is defined elsewhere. So does an object without properties, inside its own component.
 */
function isPlaceholder(schema: Schema): boolean {
  return Object.keys(schema).every((key) => key === "type");
}

function define(name: string, schema: unknown, components: Components): void {
  const known = components.get(name);
  if (known !== undefined && !Bun.deepEquals(known, schema)) {
    throw new Error(`two different schemas have the name ${name}`);
  }
  components.set(name, schema);
}

function simplified(schema: Schema): Schema {
  const { anyOf, patternProperties, format, ...rest } = schema;
  if (Array.isArray(anyOf) && anyOf.every(isTextConstant)) {
    return { ...rest, type: "string", enum: anyOf.map((variant) => variant.const) };
  }
  if (isRecord(patternProperties) && ANY_KEY in patternProperties) {
    const values = patternProperties[ANY_KEY];
    if (!isRecord(values) || Object.keys(values).length > 0) {
      return { ...rest, additionalProperties: values };
    }
    const { type: _, ...annotations } = rest;
    return { $ref: `${COMPONENTS}${FREE_FORM}`, ...annotations };
  }
  const pattern = typeof format === "string" ? patternOf(format) : null;
  return pattern === null ? schema : { ...rest, pattern };
}

function isTextConstant(variant: unknown): variant is { const: string } {
  return isRecord(variant) && typeof variant["const"] === "string";
}
