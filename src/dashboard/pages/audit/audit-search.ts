/** The search parameters of the audit log, and the query of the interface that they mean. */

import type { Query } from "../../api.ts";
import type { Filters } from "../../ui/filter-bar.tsx";
import { textsOf } from "../../ui/search-texts.ts";
import { queryOf, readSearch } from "../emails/search.ts";

const FILTER_KEYS = ["actor", "by", "action", "type", "object"] as const;
const RANGE_KEYS = ["range", "since", "until"] as const;
/** `change` is the id of the change in the drawer; the others are filters. */
const KEYS = [...FILTER_KEYS, ...RANGE_KEYS, "change"] as const;

export type AuditSearch = { [Key in (typeof KEYS)[number]]?: string };

/** Parameters with other names, and those without a text, are left out. */
export const readAuditSearch = (given: Readonly<Record<string, unknown>>): AuditSearch =>
  textsOf(given, KEYS);

/** The filters of the search field. */
export const auditFiltersOf = (search: AuditSearch): Filters => textsOf(search, FILTER_KEYS);

/** Words without a field are the id of an object. */
export const auditSearchOf = (search: AuditSearch, { q, ...filters }: Filters): AuditSearch =>
  readAuditSearch({
    ...textsOf(search, RANGE_KEYS),
    ...filters,
    ...(q === undefined ? {} : { object: q }),
  });

/** The parameters of GET /audit. A range that ends now is counted from `nowMs`. */
export function auditQuery({ by, ...search }: AuditSearch, nowMs: number): Query {
  const { since, until } = queryOf(readSearch(textsOf(search, RANGE_KEYS)), nowMs);
  const { actor, action, type, object } = search;
  return { actor, by: by?.toUpperCase(), action, type, object, from: since, to: until };
}
