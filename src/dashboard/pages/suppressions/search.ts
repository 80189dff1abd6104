/** The search parameters of the list of suppressions, and the query of the interface that they mean. */

import type { Query } from "../../api.ts";
import type { Filters } from "../../ui/filter-bar.tsx";
import { textsOf } from "../../ui/search-texts.ts";

const FILTER_KEYS = ["q", "reason"] as const;
/** `address` is the entry that is open. */
const KEYS = [...FILTER_KEYS, "address"] as const;

export type SuppressionSearch = { [Key in (typeof KEYS)[number]]?: string };

export const readSuppressionSearch = (given: Readonly<Record<string, unknown>>) =>
  textsOf(given, KEYS);

export const filtersOfSuppressions = (search: SuppressionSearch): Filters =>
  textsOf(search, FILTER_KEYS);

/** The parameters of GET /suppressions. */
export const suppressionQuery = ({ q, reason }: SuppressionSearch): Query => ({
  email: q,
  reason: reason?.toUpperCase(),
});
