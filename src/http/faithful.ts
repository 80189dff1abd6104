/**
 * Refuses JSON that cannot be stored or sent unchanged: U+0000 and lone surrogates in names and
 * strings, and numbers too large for a double (1e400 is parsed as Infinity and would be stored as
 * null). Fields that the schema of a route does not describe are ignored together with their
 * values.
 */

import { type FieldError, validationError } from "../lib/errors.ts";
import { DEEPEST_NESTING } from "../lib/nesting.ts";
import { tooDeep } from "./json-bounds.ts";
import { isRecord, MAX_ERRORS } from "./validation.ts";

/**
 * The used part of a value: everything, or only some members of objects and the items of arrays.
 */
export type UsedPart =
  "everything" | { members: ReadonlyMap<string, UsedPart>; items: UsedPart | null };

const NOTHING: UsedPart = { members: new Map(), items: null };

/**
 * Returns the part of a value that a JSON schema describes. A schema without members or items
 * describes everything.
 */
export function usedPartOf(schema: unknown): UsedPart {
  if (!isRecord(schema)) return "everything";
  const { anyOf, type, properties, items } = schema;
  if (Array.isArray(anyOf)) return anyOf.map(usedPartOf).reduce(union, NOTHING);
  if ("const" in schema) return NOTHING;
  if (type === "object" && isRecord(properties)) {
    const members = Object.entries(properties).map(
      ([name, inner]) => [name, usedPartOf(inner)] as const,
    );
    return { members: new Map(members), items: null };
  }
  if (type === "array" && items !== undefined)
    return { members: new Map(), items: usedPartOf(items) };
  return typeof type === "string" && SCALARS.has(type) ? NOTHING : "everything";
}

const SCALARS = new Set(["string", "number", "integer", "boolean", "null"]);

function union(one: UsedPart, other: UsedPart): UsedPart {
  if (one === "everything" || other === "everything") return "everything";
  const members = new Map(one.members);
  for (const [name, used] of other.members) {
    const known = members.get(name);
    members.set(name, known === undefined ? used : union(known, used));
  }
  const items =
    one.items === null || other.items === null
      ? (one.items ?? other.items)
      : union(one.items, other.items);
  return { members, items };
}

/** Throws 422 with the paths of the first 100 invalid values. */
export function refuseUnstorable(value: unknown, used: UsedPart = "everything"): void {
  const errors: FieldError[] = [];
  collect(value, used, { path: [], errors });
  if (errors.length > 0) throw validationError(errors);
}

/** `path` is the path of the current value. The whole search shares one array. */
type Search = { path: (string | number)[]; errors: FieldError[] };

function collect(value: unknown, used: UsedPart, search: Search): void {
  if (typeof value === "string") {
    if (isBadText(value)) addError(search, textError(search.path));
  } else if (typeof value === "number") {
    if (!Number.isFinite(value)) addError(search, numberError(search.path));
  } else if (typeof value === "object" && value !== null) {
    if (search.path.length >= DEEPEST_NESTING) throw tooDeep();
    if (Array.isArray(value)) collectItems(value, used, search);
    else collectMembers(value, used, search);
  }
}

function collectItems(items: readonly unknown[], used: UsedPart, search: Search): void {
  const inner = used === "everything" ? used : used.items;
  if (inner === null) return;
  for (let i = 0; i < items.length && search.errors.length < MAX_ERRORS; i++) {
    search.path.push(i);
    collect(items[i], inner, search);
    search.path.pop();
  }
}

function collectMembers(value: object, used: UsedPart, search: Search): void {
  for (const [name, member] of Object.entries(value)) {
    const inner = used === "everything" ? used : used.members.get(name);
    if (inner === undefined) continue;
    if (isBadText(name)) addError(search, textError(search.path));
    search.path.push(name);
    collect(member, inner, search);
    search.path.pop();
    if (search.errors.length >= MAX_ERRORS) return;
  }
}

function addError({ errors }: Search, error: FieldError): void {
  if (errors.length < MAX_ERRORS) errors.push(error);
}

function isBadText(text: string): boolean {
  return text.includes("\0") || !text.isWellFormed();
}

function textError(path: Search["path"]): FieldError {
  const message = "must not contain NUL characters or lone surrogates";
  return { field: dottedPath(path), message, code: "invalid_format" };
}

function numberError(path: Search["path"]): FieldError {
  const message = "must be a number between -1.8e308 and 1.8e308";
  return { field: dottedPath(path), message, code: "invalid_type" };
}

function dottedPath(path: Search["path"]): string {
  return path.map((part) => String(part).toWellFormed().replaceAll("\0", "\u{fffd}")).join(".");
}
