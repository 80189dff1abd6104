/** The columns of the list of contacts that a user chose. A key of the data is `data:` and the key. */

import type { ContactData } from "./data-values.ts";

export const FIXED_COLUMNS = [
  { key: "subscribed", label: "Subscription" },
  { key: "createdAt", label: "Created" },
  { key: "updatedAt", label: "Changed" },
] as const;

const DATA = "data:";
/** More columns than these do not fit any window. */
export const MAX_COLUMNS = 12;
/** Keys that are shown before the user chooses. */
const FIRST_KEYS = 3;
/** Share of the rows that must have a key for it to be shown at first. */
const FIRST_SHARE = 0.3;

export const dataColumn = (key: string): string => DATA + key;

/** Returns null for a column that is no key of the data. */
export const dataKeyOf = (column: string): string | null =>
  column.startsWith(DATA) ? column.slice(DATA.length) : null;

const isColumn = (value: unknown): value is string =>
  typeof value === "string" &&
  (value.startsWith(DATA) || FIXED_COLUMNS.some(({ key }) => key === value));

/** A stored choice; null if there is none. */
export function readChoice(stored: unknown): string[] | null {
  if (!Array.isArray(stored)) return null;
  return [...new Set(stored.filter(isColumn))].slice(0, MAX_COLUMNS);
}

/** The columns before the user chooses: the most frequent keys of the rows that hold one value. */
export function firstChoice(rows: readonly { data: ContactData }[]): string[] {
  const counts = new Map<string, number>();
  for (const { data } of rows) {
    for (const [key, value] of Object.entries(data)) {
      if (typeof value !== "object" && key !== "") counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  const keys = [...counts]
    .filter(([, count]) => count >= rows.length * FIRST_SHARE)
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, FIRST_KEYS)
    .map(([key]) => dataColumn(key));
  return ["subscribed", ...keys, "createdAt"];
}

/** The choice with a column added at its end, or removed. */
export const toggled = (choice: readonly string[], column: string): string[] =>
  choice.includes(column)
    ? choice.filter((each) => each !== column)
    : [...choice, column].slice(0, MAX_COLUMNS);
