/** The search parameters of the inbox, and the chips of its search field. */

import type { Filters } from "../../ui/filter-bar.tsx";

const KEYS = ["q", "message", "tab", "panel"] as const;

/** `q`: a search in the syntax of the interface. `panel`: what is open beside the messages. */
export type InboxSearch = { [Key in (typeof KEYS)[number]]?: string };

/** Parameters with other names, and those without a text, are left out. */
export function readInboxSearch(given: Readonly<Record<string, unknown>>): InboxSearch {
  const search: InboxSearch = {};
  for (const key of KEYS) {
    const value = given[key];
    if (typeof value === "string" && value !== "") search[key] = value;
  }
  return search;
}

/** The fields of the search that become chips. Other terms stay in the text. */
export const FIELDS = ["to", "from", "subject", "tag", "has", "is", "before", "after"] as const;

/** Longest search that the interface accepts. */
const MAX_CHARACTERS = 2_000;

/**
 * The chips of a search: `to:ada tag:signup "exact phrase"` becomes
 * `{ to: "ada", tag: "signup", q: '"exact phrase"' }`. Quotes stay as they are, because a quoted
 * address means the whole address. A second term of a field, and a negated one, stay in the text.
 */
export function chipsOf(query: string): Filters {
  const filters: Record<string, string> = {};
  const words: string[] = [];
  for (const word of wordsOf(query.slice(0, MAX_CHARACTERS))) {
    const colon = word.indexOf(":");
    const key = word.slice(0, Math.max(colon, 0)).toLowerCase();
    const value = word.slice(colon + 1);
    const isChip = FIELDS.some((field) => field === key) && filters[key] === undefined;
    if (isChip && value !== "") filters[key] = value;
    else words.push(word);
  }
  return words.length === 0 ? filters : { ...filters, q: words.join(" ") };
}

/** The search of chips. */
export function searchOf({ q, ...fields }: Filters): string {
  const terms = FIELDS.flatMap((key) => {
    const value = fields[key]?.trim() ?? "";
    return value === "" ? [] : [`${key}:${quoted(value)}`];
  });
  return [...terms, q?.trim() ?? ""].filter((term) => term !== "").join(" ");
}

/** A value with blanks is one term only between quotes. */
const quoted = (value: string): string =>
  /\s/.test(value) && !value.includes('"') ? `"${value}"` : value;

/** Splits at blanks outside double quotes, which stay. */
function wordsOf(text: string): string[] {
  const words: string[] = [];
  let word = "";
  let isQuoted = false;
  for (const character of text) {
    if (character === '"') isQuoted = !isQuoted;
    if (/\s/.test(character) && !isQuoted) {
      words.push(word);
      word = "";
    } else word += character;
  }
  return [...words, word].filter((found) => found !== "");
}
