/** How deep JSON from outside may be nested. */

/** RFC 8259 §9 lets us bound it: what is stored and rendered later must not exhaust the stack. */
export const DEEPEST_NESTING = 100;

/** Whether arrays and objects lie in each other more than `levels` deep. */
export function isNestedDeeper(value: unknown, levels: number = DEEPEST_NESTING): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((inner) => isNestedDeeper(inner, levels - 1));
}
