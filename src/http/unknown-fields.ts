/**
 * Unknown fields of bodies and unknown query parameters, for all endpoints that need a key or a
 * session (docs/interface.md#requests):
 *
 * 1. A name that other services use (foreign-fields.ts), that differs from one of ours by a typing
 *    error, or whose words mean an effect (significant-names.ts), is refused with 422, because the
 *    caller expects this effect.
 * 2. Any other unknown name is ignored and listed in the response header Mailstead-Ignored.
 *
 * A member of the answer of PUT and PATCH is no fault, so a caller may send back what it has read.
 */

import { KindGuard, type TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type FieldError, validationError } from "../lib/errors.ts";
import { editDistance } from "../lib/nearest.ts";
import { perApp } from "../lib/per-app.ts";
import type { Project } from "./admission.ts";
import {
  comparedName,
  FOREIGN_FIELDS,
  FOREIGN_PARAMETERS,
  type ForeignField,
} from "./foreign-fields.ts";
import type { Incoming } from "./incoming.ts";
import { type UsedPart, usedPartOf } from "./json-checks.ts";
import {
  isFilter,
  isSignificantField,
  isSignificantParameter,
  type Operation,
  type Purpose,
  purposeOf,
} from "./significant-names.ts";
import { fieldErrors, isLenient, isRecord, MAX_ERRORS } from "./validation.ts";

const HEADER = "mailstead-ignored";
/** Most names in the header, and most characters of each. */
const MAX_NAMES = 20;
const MAX_NAME_LENGTH = 60;
/** Longest name that is compared for typing errors, and most names of a request that are. */
const MAX_COMPARED_LENGTH = 40;
const MAX_COMPARED = 200;
/** Most unknown names of a request whose words are read. */
const MAX_READ = 2_000;

type Route = { method: string; path: string; hooks: object };
type DeclaredRoute = Route & { purpose: Purpose };

type Rule = {
  /** Null for a route without a body. */
  body: { schema: TSchema; used: UsedPart } | null;
  query: { schema: TSchema; used: UsedPart } | null;
  /** The members of the answer that a caller may send back, with their schemas. */
  readable: Readonly<Record<string, unknown>>;
  operation: Operation;
};

/** The unknown names of a request. */
type Found = { errors: FieldError[]; ignored: string[]; compared: number };

export type UnknownFields = ReturnType<typeof createUnknownFields>;

export const unknownFieldsOf = perApp(createUnknownFields);

function createUnknownFields() {
  const routes = new Map<string, DeclaredRoute>();
  const rules = new Map<string, Rule>();

  function check(
    part: Rule["body"],
    value: unknown,
    { incoming, project, find }: Checked & { find: (used: UsedPart) => Found },
  ): void {
    const { errors, ignored } = find(part?.used ?? NO_MEMBERS);
    if (errors.length > 0) {
      const others =
        part === null
          ? []
          : fieldErrors(part.schema, value, { project, isLenient: isLenient(incoming.request) });
      const fields = new Set(errors.map(({ field }) => field));
      const more = others.filter(({ field }) => !fields.has(field));
      throw validationError([...errors, ...more].slice(0, MAX_ERRORS));
    }
    if (ignored.length > 0) addToHeader(incoming, ignored);
  }

  function ruleOf({ request, route }: Incoming): Rule | undefined {
    const name = `${request.method === "HEAD" ? "GET" : request.method} ${route}`;
    const declared = routes.get(name);
    if (declared === undefined) return undefined;
    const rule = rules.get(name) ?? readRule(declared);
    rules.set(name, rule);
    return rule;
  }

  return {
    /** Remembers the routes of all operations, also of imitated ones; called once. Their schemas are read at their first request. */
    registerRoutes(all: readonly Route[]): void {
      for (const route of all) {
        const { detail } = Object(route.hooks);
        if (!isRecord(detail) || detail["operationId"] === undefined) continue;
        const { method, path, hooks } = route;
        routes.set(`${method} ${path}`, { method, path, hooks, purpose: purposeOf(path) });
      }
    },

    /** Checks a body that was parsed; throws 422. */
    checkBody(incoming: Incoming, body: unknown, project: Project | null): void {
      const rule = ruleOf(incoming);
      if (rule === undefined || rule.body === null) return;
      const find = (used: UsedPart) => unknownIn(body, used, rule);
      check(rule.body, body, { incoming, project, find });
    },

    /** Checks the query of an admitted request; throws 422. */
    checkQuery(incoming: Incoming, project: Project | null): void {
      const { url } = incoming.request;
      const at = url.indexOf("?");
      const rule = at === -1 ? undefined : ruleOf(incoming);
      if (rule === undefined) return;
      const query = Object.fromEntries(new URLSearchParams(url.slice(at)));
      check(rule.query, query, {
        incoming,
        project,
        find: (used) => unknownParameters(query, used, rule),
      });
    },
  };
}

function readRule({ method, hooks, purpose }: DeclaredRoute): Rule {
  const { body, query, response } = Object(hooks);
  const isChange = method === "PUT" || method === "PATCH";
  const [bodyPart, queryPart] = [partOf(body), partOf(query)];
  const isRead = method === "GET";
  const hasFilters = isRead && memberNames(queryPart).some(isFilter);
  return {
    body: bodyPart,
    query: queryPart,
    readable: isChange ? answerMembers(response) : {},
    operation: {
      isChange: !isRead,
      purpose,
      members: hasFilters ? listMembers(response) : null,
    },
  };
}

/** The errors of names in a value that its schema does not have, and that must not be ignored. */
export const refusedFields = (schema: TSchema, value: unknown): FieldError[] =>
  unknownIn(value, usedPartOf(schema), NO_RULE).errors;

const NO_RULE: Pick<Rule, "readable" | "operation"> = {
  readable: {},
  operation: { isChange: true, purpose: "other", members: null },
};

type Checked = { incoming: Incoming; project: Project | null };

const NO_MEMBERS: UsedPart = { members: new Map(), items: null };

function partOf(schema: unknown): Rule["body"] {
  return KindGuard.IsSchema(schema) ? { schema, used: usedPartOf(schema) } : null;
}

/** The members of the answer of a success, which may be the `data` of an envelope. */
function answerMembers(response: unknown): Readonly<Record<string, unknown>> {
  if (!isRecord(response)) return {};
  const members = propertiesOf(response["200"] ?? response["201"]);
  const { data } = members;
  return "success" in members ? propertiesOf(data) : members;
}

function propertiesOf(schema: unknown): Readonly<Record<string, unknown>> {
  const properties = isRecord(schema) ? schema["properties"] : null;
  return isRecord(properties) ? properties : {};
}

/** The names of the members of a list's items; empty for an answer that is no list. */
function listMembers(response: unknown): ReadonlySet<string> {
  const names = Object.values(answerMembers(response)).flatMap((member) =>
    isRecord(member) ? Object.keys(propertiesOf(member["items"])) : [],
  );
  return new Set(names);
}

function memberNames(part: Rule["query"]): string[] {
  return part === null || part.used === "everything" ? [] : [...part.used.members.keys()];
}

function unknownIn(
  body: unknown,
  used: UsedPart,
  { readable, operation: { purpose } }: Pick<Rule, "readable" | "operation">,
): Found {
  const found: Found = { errors: [], ignored: [], compared: 0 };
  const isReadable = (path: string, value: unknown) => {
    const schema = readable[path];
    return KindGuard.IsSchema(schema) && Value.Check(schema, value);
  };
  walk(body, used, { found, path: [], isReadable, purpose });
  return found;
}

type Walk = {
  found: Found;
  /** The path of the current value. The whole walk shares one array. */
  path: (string | number)[];
  isReadable: (path: string, value: unknown) => boolean;
  purpose: Purpose;
};

function walk(value: unknown, used: UsedPart, state: Walk): void {
  if (used === "everything" || typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) walkItems(value, used.items, state);
  else if (used.members.size > 0) walkMembers(value, used.members, state);
}

function walkItems(items: readonly unknown[], used: UsedPart | null, state: Walk): void {
  if (used === null || used === "everything") return;
  for (let i = 0; i < items.length && state.found.errors.length < MAX_ERRORS; i++) {
    state.path.push(i);
    walk(items[i], used, state);
    state.path.pop();
  }
}

function walkMembers(value: object, members: ReadonlyMap<string, UsedPart>, state: Walk): void {
  const { found, path, isReadable, purpose } = state;
  for (const [name, member] of Object.entries(value)) {
    const inner = members.get(name);
    path.push(name);
    if (inner !== undefined) walk(member, inner, state);
    else if (isReadable(path.join("."), member)) found.ignored.push(path.join("."));
    else {
      const isInner = path.length > 1;
      addUnknown(found, {
        name,
        path: path.join("."),
        known: members,
        table: FOREIGN_FIELDS,
        isSignificant: () => isSignificantField(name, purpose, isInner),
        noun: "field",
      });
    }
    path.pop();
    if (found.errors.length >= MAX_ERRORS) return;
  }
}

function unknownParameters(
  query: Readonly<Record<string, string>>,
  used: UsedPart,
  { operation }: Pick<Rule, "operation">,
): Found {
  const found: Found = { errors: [], ignored: [], compared: 0 };
  const known = used === "everything" ? null : used.members;
  for (const name of Object.keys(query)) {
    if (known === null || known.has(name)) continue;
    addUnknown(found, {
      name,
      path: name,
      known,
      table: FOREIGN_PARAMETERS,
      isSignificant: () => isSignificantParameter(name, operation),
      noun: "parameter",
    });
    if (found.errors.length >= MAX_ERRORS) break;
  }
  return found;
}

function addUnknown(
  found: Found,
  unknown: {
    name: string;
    path: string;
    known: ReadonlyMap<string, UsedPart>;
    table: ReadonlyMap<string, ForeignField>;
    isSignificant: () => boolean;
    noun: "field" | "parameter";
  },
): void {
  const { name, path, known, table, isSignificant, noun } = unknown;
  const mayCompare = name.length <= MAX_COMPARED_LENGTH;
  const similar = mayCompare
    ? (spellingMessage(name, known) ??
      foreignMessage(entryOf(table, name, path), known) ??
      (found.compared < MAX_COMPARED ? misspellingMessage(name, known) : null))
    : null;
  const isRefused = similar === null && found.compared++ < MAX_READ && isSignificant();
  const message = isRefused ? knownNames(noun, known) : similar;
  if (message === null) found.ignored.push(path);
  else found.errors.push({ field: path, message, code: "unknown_field" });
}

/** The message for a name that has no counterpart, but may mean an effect. */
function knownNames(noun: "field" | "parameter", known: ReadonlyMap<string, UsedPart>): string {
  if (known.size === 0) return `is not supported; this endpoint has no ${noun}s`;
  return `is not supported; the ${noun}s are ${[...known.keys()].join(", ")}`;
}

function entryOf(table: ReadonlyMap<string, ForeignField>, name: string, path: string) {
  const key = comparedName(name);
  return table.get(key) ?? (path === name ? undefined : table.get(`.${key}`));
}

function foreignMessage(
  foreign: ForeignField | undefined,
  known: ReadonlyMap<string, UsedPart>,
): string | null {
  if (foreign === undefined) return null;
  const ours = foreign.ours.find((name) => known.has(name));
  return ours === undefined ? foreign.otherwise : rightName(ours);
}

const rightName = (name: string): string => `is not a field of this endpoint; use ${name}`;

/** The message for a name that differs from ours only in letter case or in its separators. */
function spellingMessage(name: string, known: ReadonlyMap<string, UsedPart>): string | null {
  const given = comparedName(name);
  for (const ours of known.keys()) if (comparedName(ours) === given) return rightName(ours);
  return null;
}

function misspellingMessage(name: string, known: ReadonlyMap<string, UsedPart>): string | null {
  const given = comparedName(name);
  for (const ours of known.keys()) {
    if (isMisspelt(given, comparedName(ours))) return rightName(ours);
  }
  return null;
}

/**
 * Whether `given` is `ours` with a typing error. Short words become other words by one letter (`date`
 * and `data`), so a word of up to four letters must have a letter too many, too few or exchanged.
 */
function isMisspelt(given: string, ours: string): boolean {
  const length = Math.max(given.length, ours.length);
  if (Math.min(given.length, ours.length) < 3) return false;
  if (length <= 4) {
    const isExchanged = sortedLetters(given) === sortedLetters(ours);
    return (isExchanged || given.length !== ours.length) && editDistance(given, ours) === 1;
  }
  return editDistance(given, ours) <= (length < 8 ? 1 : 2);
}

const sortedLetters = (word: string): string => word.split("").sort().join("");

/** Adds names to the header; of many names it says only the number. */
function addToHeader({ set }: Incoming, names: readonly string[]): void {
  const shown = names.slice(0, MAX_NAMES).map(headerName);
  const rest = names.length - shown.length;
  const before = set.headers[HEADER];
  const list = [...(before === undefined ? [] : [String(before)]), ...shown];
  set.headers[HEADER] = [...list, ...(rest > 0 ? [`and ${rest} more`] : [])].join(", ");
}

/** A name in the characters that a list in a header may contain. */
function headerName(name: string): string {
  return name
    .slice(0, MAX_NAME_LENGTH)
    .toWellFormed()
    .replace(/[^\w.~-]/gu, (letter) => encodeURIComponent(letter));
}
