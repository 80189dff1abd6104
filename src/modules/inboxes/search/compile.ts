/**
 * Compiles the terms of a query to SQL with bound values. The tables have the aliases `m`
 * (inbox_messages) and `t` (inbox_texts; its columns are null for a message that was not parsed).
 */

import type { SearchFilter, SearchQuery, SearchField, Term } from "./syntax.ts";

type Binding = string | number;
export type Sql = { sql: string; values: Binding[] };

export type CompiledSearch = {
  /** All conditions except those on text: fields, states, dates and sizes. */
  conditions: Sql;
  /** The terms on text compared with the indexed text. */
  text: Sql;
  /** Terms on text, which the longer texts are compared with. */
  texts: { value: string; isNegated: boolean }[];
  /** Whether a condition reads the table of texts. */
  usesTexts: boolean;
  /** The query of the trigram index; null if no term has three characters. */
  match: string | null;
};

const COLUMNS: Readonly<Record<SearchField, string>> = {
  from: "sender",
  to: "recipients",
  cc: "cc",
  bcc: "bcc",
  replyTo: "reply_to",
  subject: "subject",
  messageId: "message_id",
};

/** The most trigrams of a query that the index is asked for; the texts are compared afterwards. */
const MAX_TRIGRAMS = 48;

/** So many rare trigrams of an address are enough for the index. */
const MIN_RARE_TRIGRAMS = 3;

/** `tagSets`: the stored lists of tags that contain a tag. */
export function compileQuery(
  query: SearchQuery,
  tagSets: (tag: string) => readonly string[],
): CompiledSearch {
  const onText: Sql[] = [];
  const others: Sql[] = [];
  const texts: CompiledSearch["texts"] = [];
  for (const { filter, isNegated } of query.terms) {
    const condition = conditionOf(filter, tagSets);
    const sql = isNegated ? `NOT ${condition.sql}` : condition.sql;
    if (filter.kind === "text") texts.push({ value: filter.value, isNegated });
    (filter.kind === "text" ? onText : others).push({ ...condition, sql });
  }
  return {
    conditions: allHold(others),
    text: allHold(onText),
    texts,
    usesTexts: query.terms.some(({ filter }) => filter.kind === "text" || filter.kind === "field"),
    match: matchOf(query.terms),
  };
}

function conditionOf(filter: SearchFilter, tagSets: (tag: string) => readonly string[]): Sql {
  switch (filter.kind) {
    case "text":
      return contains("t.text", filter.value);
    case "field": {
      const found = filter.fields.map((field) => contains(`t.${COLUMNS[field]}`, filter.value));
      return {
        sql: `(${found.map(({ sql }) => sql).join(" OR ")})`,
        values: found.flatMap(({ values }) => values),
      };
    }
    case "tag": {
      const sets = JSON.stringify(tagSets(filter.value));
      return { sql: "(m.tags IN (SELECT value FROM json_each(?)))", values: [sets] };
    }
    case "flag":
      return { sql: FLAG_CONDITIONS[filter.flag], values: [] };
    case "since":
      return { sql: "(m.received_at >= ?)", values: [filter.at] };
    case "larger":
      return { sql: "(m.size > ?)", values: [filter.bytes] };
    case "smaller":
      return { sql: "(m.size < ?)", values: [filter.bytes] };
  }
}

const FLAG_CONDITIONS = {
  read: "(m.is_read = 1)",
  tagged: "(m.tags <> '[]')",
  attachment: "(m.attachments > 0)",
  inline: "(m.inlines > 0)",
} as const;

function contains(column: string, value: string): Sql {
  return { sql: `(ifnull(instr(${column}, ?), 0) > 0)`, values: [value] };
}

/** A balanced tree, because SQLite limits the depth of an expression. */
export function allHold(conditions: readonly Sql[]): Sql {
  const values = conditions.flatMap((condition) => condition.values);
  return { sql: joinAll(conditions.map(({ sql }) => sql)), values };
}

function joinAll(conditions: readonly string[]): string {
  if (conditions.length <= 1) return conditions[0] ?? "1";
  const middle = conditions.length >> 1;
  return `(${joinAll(conditions.slice(0, middle))} AND ${joinAll(conditions.slice(middle))})`;
}

/** All trigrams must occur in the indexed text of a message that matches. */
function matchOf(terms: readonly Term[]): string | null {
  const trigrams = new Set(terms.flatMap(indexedValue).flatMap(trigramsOf));
  if (trigrams.size === 0) return null;
  const quoted = [...trigrams].slice(0, MAX_TRIGRAMS).map((each) => `"${each}"`);
  return quoted.join(" AND ");
}

/** The text that the index must contain; empty for terms that the index does not help. */
function indexedValue({ filter, isNegated }: Term): string[] {
  if (isNegated) return [];
  if (filter.kind === "text") return [filter.value];
  if (filter.kind !== "field" || filter.fields.includes("messageId")) return [];
  return [filter.indexed];
}

/** Pieces of three characters that cover the term. Folded terms contain no quotes. */
function trigramsOf(term: string): string[] {
  const characters = Array.from(term);
  const rare = rareTrigrams(characters);
  if (rare.length >= MIN_RARE_TRIGRAMS) return rare;
  const found: string[] = [];
  for (let at = 0; at + 3 <= characters.length; at += 3) {
    found.push(characters.slice(at, at + 3).join(""));
  }
  if (characters.length > 3) found.push(characters.slice(-3).join(""));
  return found;
}

/**
 * The trigrams with digits in the local part of an address. Few addresses share them, but many share
 * the others and the domain, and the index would read a long list for each of those.
 */
function rareTrigrams(characters: readonly string[]): string[] {
  const found: string[] = [];
  const end = characters.indexOf("@") + 1;
  for (let at = 0; at + 3 <= end; at++) {
    const trigram = characters.slice(at, at + 3).join("");
    if (/[0-9]/.test(trigram)) found.push(trigram);
  }
  return found;
}
