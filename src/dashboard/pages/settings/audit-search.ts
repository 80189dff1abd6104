/** The search parameters of the audit log. */

import type { Filters } from "../../ui/filter-bar.tsx";

/** `change` is the id of the change in the drawer; the others are filters. */
const KEYS = ["actor", "action", "object", "change"] as const;

export type AuditSearch = { [Key in (typeof KEYS)[number]]?: string };

/** Parameters with other names, and those without a text, are left out. */
export function readAuditSearch(given: Readonly<Record<string, unknown>>): AuditSearch {
  const search: AuditSearch = {};
  for (const key of KEYS) {
    const value = given[key];
    if (typeof value === "string" && value !== "") search[key] = value;
  }
  return search;
}

/** Words without a field are the id of an object. */
export const auditSearchOf = ({ q, ...filters }: Filters): AuditSearch =>
  readAuditSearch({ ...filters, ...(q === undefined ? {} : { object: q }) });
