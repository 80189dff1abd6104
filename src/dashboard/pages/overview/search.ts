/** The search parameters of the overview; their period is computed in period.ts, with the page. */

const KEYS = ["range", "since", "until", "metric", "view"] as const;

/**
 * `range` ends now. `since` and `until` are days such as 2026-11-22, both included, or times.
 * `metric` is the key of the figure in the chart, and `view` is "table" or absent.
 */
export type OverviewSearch = { [Key in (typeof KEYS)[number]]?: string };

export function readOverviewSearch(given: Readonly<Record<string, unknown>>): OverviewSearch {
  const search: OverviewSearch = {};
  for (const key of KEYS) {
    const value = given[key];
    if (typeof value === "string" && value !== "") search[key] = value;
  }
  return search;
}
