/** Matches event names with the patterns of a webhook: names, or prefixes that end in `*`. Pure. */

export type Matcher = (eventName: string) => boolean;

export function matcherOf(patterns: readonly string[]): Matcher {
  const names = new Set(patterns.filter((pattern) => !pattern.endsWith("*")));
  const prefixes = patterns
    .filter((pattern) => pattern.endsWith("*"))
    .map((pattern) => pattern.slice(0, -1));
  return (name) => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
}
