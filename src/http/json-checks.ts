/**
 * Checks of JSON documents before and after they are parsed.
 *
 * - `createJsonBounds` scans the bytes as they arrive and counts values, levels of nesting and escape
 *   sequences. A parsed document can take thirty times the memory of its bytes, so one with too many
 *   values is refused before it is parsed.
 * - `refuseUnstorable` refuses what cannot be stored or sent unchanged: U+0000 and lone surrogates in
 *   names and strings, and numbers too large for a double (1e400 is parsed as Infinity and would be
 *   stored as null). Fields that the schema of a route does not describe are not stored,
 *   so they are not checked.
 */

import { AppError, type FieldError, fieldError, validationError } from "../lib/errors.ts";
import { DEEPEST_NESTING } from "../lib/nesting.ts";
import { definitionOf, NAME } from "./documented.ts";
import { isRecord, MAX_ERRORS } from "./validation.ts";

/** Most escape sequences, because one costs the parser as much time as dozens of characters. */
const MAX_ESCAPES = 4_000_000;

/** The first bytes of a string are compared one by one; a native search covers the rest of it. */
const NEAR_BYTES = 32;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

type JsonBounds = {
  /** Scans the next bytes of the document. It throws 422 or 400 as soon as a limit is exceeded. */
  add(bytes: Uint8Array): void;
  /** Number of values so far; an empty object or array counts twice. */
  values(): number;
};

export function createJsonBounds(maxValues: number): JsonBounds {
  let values = 1;
  let depth = 0;
  let escapes = 0;
  let isInString = false;
  /** True if the last byte was a backslash in a string, so the next byte is escaped. */
  let isEscaped = false;
  /**
   * Positions of the next quote and backslash in the current bytes, from the last native search.
   */
  let quoteAt = -1;
  let backslashAt = -1;

  /** Returns the position of the first quote or backslash from `from` on, or the length. */
  function nextSpecial(bytes: Uint8Array, from: number): number {
    const near = Math.min(from + NEAR_BYTES, bytes.length);
    for (let at = from; at < near; at++) {
      const octet = bytes[at];
      if (octet === QUOTE || octet === BACKSLASH) return at;
    }
    if (near === bytes.length) return near;
    if (quoteAt < near) quoteAt = positionOf(QUOTE, bytes, near);
    if (backslashAt < near) backslashAt = positionOf(BACKSLASH, bytes, near);
    return Math.min(quoteAt, backslashAt);
  }

  /** Scans a string and returns the position after its end, or after the current bytes. */
  function scanString(bytes: Uint8Array, from: number): number {
    let at = nextSpecial(bytes, from);
    while (at < bytes.length && bytes[at] === BACKSLASH) {
      escapes++;
      if (escapes > MAX_ESCAPES) throw tooManyEscapes();
      isEscaped = at + 1 === bytes.length;
      at = nextSpecial(bytes, at + 2);
    }
    isInString = at >= bytes.length;
    return at + 1;
  }

  /** Scans outside of strings and returns the position after the next quote, or the length. */
  function scanStructure(bytes: Uint8Array, from: number): number {
    const { length } = bytes;
    let at = from;
    let octet: number | undefined = 0;
    while (at < length) {
      octet = bytes[at++];
      if (octet === QUOTE) break;
      if (octet === COMMA) addValue();
      else if (octet === OPEN_BRACE || octet === OPEN_BRACKET) open();
      else if (octet === CLOSE_BRACE || octet === CLOSE_BRACKET) depth--;
    }
    isInString = octet === QUOTE;
    return at;
  }

  function addValue(): void {
    values++;
    if (values > maxValues) throw tooManyValues(maxValues);
  }

  function open(): void {
    addValue();
    depth++;
    if (depth > DEEPEST_NESTING) throw tooDeep();
  }

  return {
    add(bytes) {
      quoteAt = -1;
      backslashAt = -1;
      let at = isEscaped ? 1 : 0;
      isEscaped = false;
      while (at < bytes.length) {
        at = isInString ? scanString(bytes, at) : scanStructure(bytes, at);
      }
    },
    values: () => values,
  };
}

function positionOf(octet: number, bytes: Uint8Array, from: number): number {
  const at = bytes.indexOf(octet, from);
  return at === -1 ? bytes.length : at;
}

function tooManyValues(limit: number): AppError {
  const message = `must have at most ${limit.toLocaleString("en-US")} JSON values`;
  return fieldError("", "too_big", message);
}

function tooManyEscapes(): AppError {
  const limit = MAX_ESCAPES.toLocaleString("en-US");
  const message = `must have at most ${limit} escape sequences such as \\/ or \\n`;
  return fieldError("", "too_big", message);
}

/** The error for a document with too many levels, which this scan or a later check has found. */
function tooDeep(): AppError {
  const message = `The body is nested more than ${DEEPEST_NESTING} levels deep.`;
  const suggestion = "Send a document with fewer levels of nesting.";
  return new AppError(400, "INVALID_JSON", message, { suggestion });
}

/**
 * The used part of a value: everything, or only some members of objects and the items of arrays.
 */
export type UsedPart =
  "everything" | { members: ReadonlyMap<string, UsedPart>; items: UsedPart | null };

const NOTHING: UsedPart = { members: new Map(), items: null };

/** The used parts of the schemas that were asked for. */
const usedParts = new WeakMap<object, UsedPart>();

/**
 * Returns the part of a value that a JSON schema describes. A schema without members or items
 * describes everything, unless it has the name of a schema with members (`named`).
 */
export function usedPartOf(schema: unknown): UsedPart {
  if (!isRecord(schema)) return "everything";
  const part = usedParts.get(schema) ?? computeUsedPart(schema, new Map());
  usedParts.set(schema, part);
  return part;
}

/** The named schema may be around the one with its name, so the members of a part may contain the part. */
function computeUsedPart(schema: unknown, around: ReadonlyMap<string, UsedPart>): UsedPart {
  if (!isRecord(schema)) return "everything";
  const { anyOf, type, properties, items, [NAME]: name } = schema;
  if (Array.isArray(anyOf)) {
    return anyOf.map((inner) => computeUsedPart(inner, around)).reduce(union, NOTHING);
  }
  if ("const" in schema) return NOTHING;
  if (type === "object" && isRecord(properties)) {
    const members = new Map<string, UsedPart>();
    const part: UsedPart = { members, items: null };
    const within = typeof name === "string" ? new Map([...around, [name, part]]) : around;
    for (const [key, inner] of Object.entries(properties)) {
      members.set(key, computeUsedPart(inner, within));
    }
    return part;
  }
  if (type === "array" && items !== undefined)
    return { members: new Map(), items: computeUsedPart(items, around) };
  if (typeof type === "string" && SCALARS.has(type)) return NOTHING;
  const definition = typeof name === "string" ? definitionOf(name) : null;
  return definition === null
    ? "everything"
    : (around.get(String(name)) ?? computeUsedPart({ ...definition, [NAME]: name }, around));
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
