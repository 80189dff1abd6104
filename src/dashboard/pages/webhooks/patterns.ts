/** The event patterns of a webhook as a text with one in each line, and the names that they match. */

/** Names that are listed below the field; the number of the others follows. */
const MAX_SHOWN = 8;

export function patternsOf(text: string): string[] {
  return text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
}

/** A pattern is a name, or a prefix of names followed by `*`. */
export function matches(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) =>
    pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name,
  );
}

/** The names that the patterns match, as a sentence for the reader of the form. */
export function matchText(patterns: readonly string[], names: readonly string[]): string {
  if (patterns.length === 0) return "Write at least one pattern, such as email.* or order.paid.";
  const found = names.filter((name) => matches(patterns, name));
  if (found.length === 0) {
    return "No event of this project has such a name yet. Events are sent from the first one on.";
  }
  const shown = found.slice(0, MAX_SHOWN).join(", ");
  const rest = found.length - MAX_SHOWN;
  return rest > 0 ? `Matches now: ${shown} and ${rest} more.` : `Matches now: ${shown}.`;
}
