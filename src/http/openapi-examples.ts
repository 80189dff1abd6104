/** Derives examples for the OpenAPI document from the examples in its schemas. */

import { type Components, resolved } from "./openapi-schemas.ts";
import { isRecord } from "./validation.ts";

/**
 * Returns an example of a schema: its own, or one composed of the examples of its parts. Returns
 * undefined if a required part has none.
 */
export function exampleOf(schema: unknown, components: Components): unknown {
  const target = resolved(schema, components);
  if (!isRecord(target)) return undefined;
  const { examples, anyOf, oneOf, type, items } = target;
  if (Array.isArray(examples)) return examples[0];
  if ("const" in target) return target["const"];
  if (Array.isArray(target["enum"])) return target["enum"][0];
  const variants = anyOf ?? oneOf;
  if (Array.isArray(variants)) return exampleOf(variants[0], components);
  if (type === "object") return exampleOfObject(target, components);
  if (type !== "array") return undefined;
  const item = exampleOf(items, components);
  return item === undefined ? undefined : [item];
}

function exampleOfObject(
  { properties, required }: Readonly<Record<string, unknown>>,
  components: Components,
): unknown {
  const entries = Object.entries(isRecord(properties) ? properties : {})
    .map(([name, property]): [string, unknown] => [name, exampleOf(property, components)])
    .filter(([, example]) => example !== undefined);
  const names = new Set(entries.map(([name]) => name));
  const isComplete = !Array.isArray(required) || required.every((name) => names.has(String(name)));
  return isComplete ? Object.fromEntries(entries) : undefined;
}
