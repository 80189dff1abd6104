/** The search parameters of the page of events, and the query of the interface that they mean. */

import type { Query } from "../../api.ts";
import type { Filters } from "../../ui/filter-bar.tsx";
import { textsOf } from "../../ui/search-texts.ts";
import { queryOf, readSearch } from "../emails/search.ts";

const FILTER_KEYS = ["name", "contact"] as const;
const RANGE_KEYS = ["range", "since", "until"] as const;
/** `event` is the id of the event that is open. */
const KEYS = [...FILTER_KEYS, ...RANGE_KEYS, "event"] as const;

export type EventSearch = { [Key in (typeof KEYS)[number]]?: string };

export const readEventSearch = (given: Readonly<Record<string, unknown>>): EventSearch =>
  textsOf(given, KEYS);

export const filtersOfEvents = (search: EventSearch): Filters => textsOf(search, FILTER_KEYS);

export const isEventsFiltered = (search: EventSearch): boolean =>
  [...FILTER_KEYS, ...RANGE_KEYS].some((key) => search[key] !== undefined);

/** Words without a field are an address if they contain `@`, and the name of an event otherwise. */
export function withEventFilters(search: EventSearch, { q, ...filters }: Filters): EventSearch {
  const words = q === undefined ? {} : { [q.includes("@") ? "contact" : "name"]: q };
  return readEventSearch({ ...search, ...filters, ...words });
}

/** The parameters of GET /events. A range that ends now is counted from `nowMs`. */
export function eventQuery(search: EventSearch, nowMs: number): Query {
  const { since, until } = queryOf(readSearch(textsOf(search, RANGE_KEYS)), nowMs);
  return { event: search.name, email: search.contact, from: since, to: until };
}

/** Messages of the live stream that are not about the event log. */
const NO_EVENTS = ["email.queued", "inbox.message", "webhook.delivery", "workflow.execution"];

/** Whether a live message may be about an event that the search finds. */
export function isAboutEvents({ name }: EventSearch, type: string): boolean {
  if (type === "reload") return true;
  return name === undefined ? !NO_EVENTS.includes(type) : type === name;
}
