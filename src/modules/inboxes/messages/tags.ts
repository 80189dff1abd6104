/** Tags of messages: words for people and for searches, in the form that Mailpit gives them. */

const MAX_TAGS = 100;
const MAX_TAG_CHARACTERS = 100;
/** Characters that a tag cannot have. Mailpit also removes letters outside of ASCII. */
const OTHER_CHARACTERS = /[^\p{L}\p{N}\-_.@= ]+/gu;

/**
 * Makes tags from texts: characters that a tag cannot have become spaces, and a long text is cut.
 * The result has each tag once without regard to case, sorted.
 */
export function tagsFrom(texts: readonly string[]): string[] {
  const tags = new Map<string, string>();
  for (const text of texts) {
    const spaced = text.slice(0, 2 * MAX_TAG_CHARACTERS).replace(OTHER_CHARACTERS, " ");
    const tag = spaced.split(" ").filter(Boolean).join(" ").slice(0, MAX_TAG_CHARACTERS).trim();
    const key = tag.toLowerCase();
    if (tag !== "" && !tags.has(key)) tags.set(key, tag);
    if (tags.size === MAX_TAGS) break;
  }
  return sortedTags([...tags.values()]);
}

/** Sorts tags without regard to case. */
export function sortedTags(tags: readonly string[]): string[] {
  const compare = (a: string, b: string) => Number(a > b) - Number(a < b);
  return tags.toSorted((a, b) => compare(a.toLowerCase(), b.toLowerCase()) || compare(a, b));
}

/** The details of an address: `signup` and `test` of `ada+signup+test@example.com` (RFC 5233). */
export function plusTagsOf(address: string): string[] {
  return address
    .slice(0, Math.max(0, address.lastIndexOf("@")))
    .split("+")
    .slice(1);
}
