/** The limit for the nesting of JSON from callers. */

/**
 * RFC 8259 §9 allows a limit. Data that is stored and rendered later must not exhaust the stack.
 */
export const DEEPEST_NESTING = 100;

/** Whether arrays and objects are nested more than `levels` deep. */
export function isNestedDeeper(value: unknown, levels: number = DEEPEST_NESTING): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((inner) => isNestedDeeper(inner, levels - 1));
}
