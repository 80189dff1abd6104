/** Compares a value with a pattern in which `*` stands for any characters. */

/** Ignores case. The time is at most the product of both lengths, and each is limited. */
export function matchesPattern(pattern: string, value: string): boolean {
  const [first = "", ...rest] = pattern.toLowerCase().split("*");
  const text = value.toLowerCase();
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
