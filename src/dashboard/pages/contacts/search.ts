/** The search parameters of the list of contacts, and the query of the interface that they mean. */

import type { Query } from "../../api.ts";
import type { Filters } from "../../ui/filter-bar.tsx";
import { textsOf } from "../../ui/search-texts.ts";

const KEYS = ["q", "subscribed"] as const;

export type ContactSearch = { [Key in (typeof KEYS)[number]]?: string };

export const readContactSearch = (given: Readonly<Record<string, unknown>>): ContactSearch =>
  textsOf(given, KEYS);

export const filtersOfContacts = (search: ContactSearch): Filters => textsOf(search, KEYS);

const FLAGS: Readonly<Record<string, string>> = { yes: "true", no: "false" };

/** The parameters of GET /contacts. A word that is not known is sent, so the interface says why. */
export const contactQuery = ({ q, subscribed }: ContactSearch): Query => ({
  search: q,
  subscribed: subscribed === undefined ? undefined : (FLAGS[subscribed] ?? subscribed),
});

/** The condition that the same contacts meet, for actions on all of them. */
export function conditionOf({ q = "", subscribed }: ContactSearch): object {
  // Each address has this sign.
  const filters: object[] = [{ field: "email", operator: "contains", value: q === "" ? "@" : q }];
  if (subscribed !== undefined) {
    filters.push({ field: "subscribed", operator: "equals", value: subscribed === "yes" });
  }
  return { logic: "AND", groups: [{ filters }] };
}
