/** Reads the tags of a mail as they are stored: a JSON object of texts, or null for none. */
export function readStoredTags(stored: string | null): Record<string, string> {
  if (stored === null) return {};
  const value: unknown = JSON.parse(stored);
  const entries = Object.entries(typeof value === "object" && value !== null ? value : {});
  return Object.fromEntries(entries.map(([name, text]) => [name, String(text)]));
}
