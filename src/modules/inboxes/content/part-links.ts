/** Links to the inline parts of a message in its HTML. */

import type { Part } from "../messages/record.ts";

/** Replaces references to inline parts (`cid:`, RFC 2392) by the addresses of the parts. */
export function withPartLinks(html: string, parts: readonly Part[], base: string): string {
  const links = new Map(
    parts.map(({ contentId, partId }) => [contentId.replace(/^<|>$/g, ""), partId]),
  );
  if (links.size === 0) return html;
  return html.replace(/\bcid:([^\s"'<>()]{1,998})/gi, (whole, id: string) => {
    const partId = links.get(id) ?? links.get(decoded(id));
    return partId === undefined ? whole : base + encodeURIComponent(partId);
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}
