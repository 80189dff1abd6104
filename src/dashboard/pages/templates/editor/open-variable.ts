/** A variable that is being typed into a field of one line, such as `{{ na`. Pure. */

/** Where the variable begins, and what of its name is there; `end` is the place of the cursor. */
export type OpenVariable = { start: number; end: number; query: string };

/** The variable that is open at the cursor; null if there is none. */
export function findOpenVariable(text: string, cursor: number): OpenVariable | null {
  const before = text.slice(0, cursor);
  const start = before.lastIndexOf("{{");
  if (start === -1) return null;
  const query = before.slice(start + "{{".length);
  // A filter or a default follows the name, and braces end it.
  return /[{}|?"']/.test(query) ? null : { start, end: cursor, query: query.trim() };
}

/** Completes the variable; braces that close it already stay. */
export function completeVariable(
  text: string,
  { start, end }: OpenVariable,
  name: string,
): { text: string; cursor: number } {
  const rest = text.slice(end).replace(/^\s*\}\}/, "");
  const written = `{{ ${name} }}`;
  return { text: text.slice(0, start) + written + rest, cursor: start + written.length };
}
