/** The search parameters of the list of contacts, and the query of the interface that they mean. */

import type { BulkQuery } from "../../../modules/contacts/bulk/model.ts";
import type { Query } from "../../api.ts";
import type { Filters } from "../../ui/filter-bar.tsx";
import { wordsOf } from "../../ui/filter-terms.ts";
import { textsOf } from "../../ui/search-texts.ts";

/** `data` has terms such as `city:Berlin`. `sort` begins with `-` if the order is descending. */
const KEYS = ["q", "subscribed", "topic", "data", "sort"] as const;

export type ContactSearch = { [Key in (typeof KEYS)[number]]?: string };

export const readContactSearch = (given: Readonly<Record<string, unknown>>): ContactSearch =>
  textsOf(given, KEYS);

const FLAGS: Readonly<Record<string, string>> = { yes: "true", no: "false" };
/** The names of filters that are no keys of the data. */
const OWN = ["q", "subscribed", "topic"];

/** The keys and the parts of values of terms such as `city:Berlin "First Name:Ada"`. */
function termsOf(text: string): Record<string, string> {
  return Object.fromEntries(
    wordsOf(text).flatMap((word) => {
      const colon = word.indexOf(":");
      return colon > 0 && colon < word.length - 1
        ? [[word.slice(0, colon), word.slice(colon + 1)]]
        : [];
    }),
  );
}

const textOf = (terms: Filters): string =>
  Object.entries(terms)
    .flatMap(([key, value = ""]) => (value === "" ? [] : [`${key}:${value}`]))
    .map((term) => (term.includes(" ") ? `"${term}"` : term))
    .join(" ");

/** The chips of the search field: each key of the data has its own. */
export const filtersOfContacts = ({ q, subscribed, topic, data = "" }: ContactSearch): Filters => ({
  ...termsOf(data),
  ...textsOf({ q, subscribed, topic }, ["q", "subscribed", "topic"]),
});

/**
 * Reads a typed search. Words with a colon are keys of the data, if the user may search by them.
 * `known` are keys of the project: `city:Berlin` means its key `City`, and `First Name:Ada` its key
 * with a space.
 */
export function contactTerms(
  text: string,
  maySearchData: boolean,
  known: readonly string[] = [],
): Filters {
  const words = withKnownKeys(wordsOf(text), [
    "subscribed",
    "topic",
    ...(maySearchData ? known : []),
  ]);
  const isTerm = (word: string): boolean => {
    const [key = ""] = Object.keys(termsOf(`"${word}"`));
    return key === "subscribed" || key === "topic" || (maySearchData && key !== "");
  };
  const terms = words.filter(isTerm).map((word) => `"${word}"`);
  const rest = words.filter((word) => !isTerm(word)).join(" ");
  return { ...termsOf(terms.join(" ")), ...(rest === "" ? {} : { q: rest }) };
}

/** The words, with the keys that are known as they are spelled there, and in one word each. */
function withKnownKeys(words: readonly string[], known: readonly string[]): string[] {
  const spellings = new Map(known.toReversed().map((key) => [key.toLowerCase(), key]));
  const longest = Math.max(1, ...known.map((key) => key.split(" ").length));
  const found: string[] = [];
  for (const word of words) {
    const colon = word.indexOf(":");
    if (colon === -1) {
      found.push(word);
      continue;
    }
    const last = word.slice(0, colon);
    const before = found.slice(Math.max(0, found.length - longest + 1));
    // The longest key first: the words before this one are all in it, then fewer of them.
    const keys = Array.from({ length: before.length + 1 }, (_, i) => ({
      typed: [...before.slice(i), last].join(" "),
      taken: before.length - i,
    }));
    const key = keys.find(({ typed }) => spellings.has(typed.toLowerCase()));
    if (key === undefined) {
      found.push(word);
      continue;
    }
    const { typed, taken } = key;
    found.length -= taken;
    const spelled = known.includes(typed) ? typed : spellings.get(typed.toLowerCase());
    found.push(`${spelled}${word.slice(colon)}`);
  }
  return found;
}

/** The search parameters of the chips. */
export function searchOfFilters(filters: Filters, { sort }: ContactSearch): ContactSearch {
  const data = Object.entries(filters).filter(([key]) => !OWN.includes(key));
  const { q, subscribed, topic } = filters;
  return readContactSearch({ q, subscribed, topic, sort, data: textOf(Object.fromEntries(data)) });
}

/** The filters of GET /contacts. A word that is not known is sent, so the interface says why. */
export function filterQuery({ q, subscribed, topic, data }: ContactSearch): Query {
  return {
    search: q,
    topic,
    subscribed: subscribed === undefined ? undefined : (FLAGS[subscribed] ?? subscribed),
    data: data === undefined ? undefined : JSON.stringify(termsOf(data)),
  };
}

/** The parameters of GET /contacts. */
export function contactQuery(search: ContactSearch): Query {
  const { sort } = search;
  if (sort === undefined) return filterQuery(search);
  const { by, isDescending } = sortOf(sort);
  return { ...filterQuery(search), sort: by, order: isDescending ? "desc" : "asc" };
}

/** The same contacts for an action on all of them. */
export function bulkQuery({ q, subscribed, topic, data }: ContactSearch): BulkQuery {
  return {
    ...(q === undefined ? {} : { search: q }),
    ...(subscribed === undefined ? {} : { subscribed: subscribed === "yes" }),
    ...(topic === undefined ? {} : { topic }),
    ...(data === undefined ? {} : { data: termsOf(data) }),
  };
}

export const sortOf = (sort: string): { by: string; isDescending: boolean } => ({
  by: sort.replace(/^-/, ""),
  isDescending: sort.startsWith("-"),
});

/** The order after a click on a column: first ascending, then descending, then newest first. */
export function nextSort(sort: string | undefined, by: string): string | undefined {
  if (sort === by) return `-${by}`;
  return sort === `-${by}` ? undefined : by;
}
