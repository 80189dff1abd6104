/** Addresses from a pasted text. */

/** One request has at most this many addresses. */
const MOST = 1_000;

/** The different addresses of a text with lines, commas, semicolons or `Name <address>`. */
export function addressesOf(text: string): string[] {
  const found = text.split(/[\s,;<>"']+/).filter((word) => word.includes("@"));
  return [...new Set(found)];
}

/** Parts that one request may have. */
export function partsOf<T>(items: readonly T[]): T[][] {
  const count = Math.ceil(items.length / MOST);
  return Array.from({ length: count }, (_, i) => items.slice(i * MOST, (i + 1) * MOST));
}
