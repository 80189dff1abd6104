/** Origins of web pages, in the spelling of the Origin header (RFC 6454 §6.2). */

import { parseUrl } from "./url.ts";

/** Null for text that names more or less than one origin of http or https. */
export function parseWebOrigin(text: string): string | null {
  if (!/^https?:\/\//i.test(text) || /[\s*]/.test(text)) return null;
  const url = parseUrl(text);
  // A path, a query or a user would stand behind the origin in `href`.
  return url !== null && url.href === `${url.origin}/` ? url.origin : null;
}
