/** Origins of web pages, in the spelling of the Origin header (RFC 6454 §6.2). */

import { parseUrl } from "./url.ts";

/** Returns null if the text is not exactly one http or https origin. */
export function parseWebOrigin(text: string): string | null {
  if (!/^https?:\/\//i.test(text) || /[\s*]/.test(text)) return null;
  const url = parseUrl(text);
  // `href` would also contain a path, a query or a user.
  return url !== null && url.href === `${url.origin}/` ? url.origin : null;
}
