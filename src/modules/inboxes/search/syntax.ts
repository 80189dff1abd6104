/**
 * Reads the search syntax of Mailpit. A query is a list of terms, and a
 * message matches if it matches all of them.
 *
 * word "exact phrase"                          in any text of the message
 * to: from: cc: bcc: reply-to: addressed:      in this field; `addressed:` means any of the five
 * subject: message-id:
 * tag:name                                     has this tag
 * is:read is:unread is:tagged                  has this state
 * has:attachment has:inline                    has such a part
 * before:date after:date                       was received then
 * larger:10K smaller:2MB                       has this size
 * -term !term                                  does not match the term
 *
 * A value may be quoted; quotes cannot be escaped. A filter without a value, or with a date that
 * cannot be read, is dropped, and `hasDropped` tells so: then the query matches more than it says.
 */

import { parseDate } from "./dates.ts";
import { exactAddress, foldText, type SearchFields } from "./fold.ts";

export type SearchField = keyof SearchFields;

export type SearchFilter =
  | { kind: "text"; value: string }
  /** The value occurs in one of the fields. */
  | { kind: "field"; fields: readonly SearchField[]; value: string; indexed: string }
  | { kind: "tag"; value: string }
  | { kind: "flag"; flag: "read" | "tagged" | "attachment" | "inline" }
  /** Received at this time or later. */
  | { kind: "since"; at: number }
  | { kind: "larger"; bytes: number }
  | { kind: "smaller"; bytes: number };

export type Term = { isNegated: boolean; filter: SearchFilter };

export type SearchQuery = { terms: readonly Term[]; hasDropped: boolean };

type ParsedQuery = { ok: true; query: SearchQuery } | { ok: false; reason: string };

export type QueryOptions = {
  /** IANA name of the zone in which dates are read; UTC without one. */
  timeZone?: string;
  /** Whether a quoted value of an address field means the whole address. */
  isExactWhenQuoted?: boolean;
};

/** Longest query in characters. */
const MAX_QUERY = 16 * 1024;

const ADDRESS_FIELDS = ["from", "to", "cc", "bcc", "replyTo"] as const;
const FIELDS: ReadonlyMap<string, readonly SearchField[]> = new Map([
  ...ADDRESS_FIELDS.map((field): [string, readonly SearchField[]] => [field, [field]]),
  ["reply-to", ["replyTo"]],
  ["addressed", ADDRESS_FIELDS],
  ["subject", ["subject"]],
  ["message-id", ["messageId"]],
]);
const FLAGS: ReadonlyMap<string, Term> = new Map([
  ["is:read", flag("read", false)],
  ["is:unread", flag("read", true)],
  ["is:tagged", flag("tagged", false)],
  ["has:attachment", flag("attachment", false)],
  ["has:attachments", flag("attachment", false)],
  ["has:inline", flag("inline", false)],
  ["has:inlines", flag("inline", false)],
]);

function flag(name: "read" | "tagged" | "attachment" | "inline", isNegated: boolean): Term {
  return { isNegated, filter: { kind: "flag", flag: name } };
}

/** Parses a query. An empty one has no terms, and matches all messages. */
export function parseQuery(text: string, options: QueryOptions = {}): ParsedQuery {
  if (text.length > MAX_QUERY) {
    return { ok: false, reason: `A query has at most ${MAX_QUERY} characters.` };
  }
  const terms = new Map<string, Term>();
  let hasDropped = false;
  for (const token of tokensOf(text)) {
    const isNegated = token.text.length > 1 && /^[-!]/.test(token.text);
    const found = termOf(isNegated ? { ...token, text: token.text.slice(1) } : token, options);
    if (found === null) hasDropped = true;
    else {
      const term = { isNegated: found.isNegated !== isNegated, filter: found.filter };
      terms.set(JSON.stringify(term), term);
    }
  }
  return { ok: true, query: { terms: [...terms.values()], hasDropped } };
}

/** The text of a token has no quotes. */
type Token = { text: string; isValueQuoted: boolean };

/** Splits a query at blanks that are not between quotes. */
function tokensOf(query: string): Token[] {
  const tokens: Token[] = [];
  let isQuoted = false;
  let current = "";
  const end = (): void => {
    const text = current.replaceAll('"', "").trim();
    const isValueQuoted = /^[^":]{1,20}:"[^"]+"?$/.test(current);
    if (current !== "") tokens.push({ text, isValueQuoted });
    current = "";
  };
  for (const character of query) {
    if (character === '"') isQuoted = !isQuoted;
    if (!isQuoted && /\s/.test(character)) end();
    else current += character;
  }
  end();
  return tokens;
}

/** Null for a term that says nothing. */
function termOf({ text, isValueQuoted }: Token, options: QueryOptions): Term | null {
  const lower = text.toLowerCase();
  const state = FLAGS.get(lower);
  if (state !== undefined) return state;
  const colon = lower.indexOf(":");
  const name = lower.slice(0, Math.max(colon, 0));
  const value = text.slice(colon + 1);
  const filter = name === "before" || name === "after" ? null : filterOf(name, value, text);
  if (filter === undefined) return null;
  if (filter !== null) {
    const isExact = isValueQuoted && options.isExactWhenQuoted === true;
    return { isNegated: false, filter: isExact ? exactly(filter, value) : filter };
  }
  const at = parseDate(foldText(value), options.timeZone ?? "");
  return at === null ? null : { isNegated: name === "before", filter: { kind: "since", at } };
}

/** Undefined if the filter has no value. */
function filterOf(name: string, value: string, whole: string): SearchFilter | undefined {
  const fields = FIELDS.get(name);
  const folded = foldText(value);
  if (fields !== undefined) {
    return folded === "" ? undefined : { kind: "field", fields, value: folded, indexed: folded };
  }
  if (name === "tag") return folded === "" ? undefined : { kind: "tag", value: folded };
  if (name === "larger" || name === "smaller") {
    const bytes = sizeOf(folded);
    if (bytes > 0) return { kind: name, bytes };
  }
  const text = foldText(whole);
  return text === "" ? undefined : { kind: "text", value: text };
}

/** The filter for the whole address instead of a part of it. */
function exactly(filter: SearchFilter, value: string): SearchFilter {
  if (filter.kind !== "field" || filter.fields.some((field) => !isAddressField(field))) {
    return filter;
  }
  return { ...filter, value: exactAddress(value) };
}

function isAddressField(field: SearchField): boolean {
  return ADDRESS_FIELDS.some((name) => name === field);
}

const UNITS: Readonly<Record<string, number>> = {
  "": 1,
  b: 1,
  k: 1024,
  m: 1024 ** 2,
  g: 1024 ** 3,
};

/** Bytes of a size such as `100`, `10K`, `1.5 MB`; 0 if it is not one. */
function sizeOf(text: string): number {
  const found = /^(\d{1,12}(?:\.\d{1,6})?) ?([kmg]?)(?:i?b)?$/.exec(text);
  return found === null ? 0 : Math.floor(Number(found[1]) * (UNITS[found[2] ?? ""] ?? 1));
}
