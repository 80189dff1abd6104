/** Parses URLs that others wrote, within bounds. */

/** RFC 9110 §4.1 recommends support for at least 8,000 octets. */
const LONGEST_URL = 8_192;

/**
 * User, host and port. The parser normalizes host names, which takes quadratic time on runs of
 * combining marks (28 ms for 8,000 of them), so such a host does not reach it. A host name has at
 * most 253 octets (RFC 1035 §2.3.4); percent-encoded, three characters for each.
 */
const LONGEST_AUTHORITY = 1_000;

const AUTHORITY = /^(?:[a-z][a-z0-9+.-]{0,30}:[/\\]*|[/\\]{2,})([^/\\?#]*)/i;

/** Null for text that is no URL, or a longer one. `base` is the address of what refers to it. */
export function parseUrl(text: string, base?: string): URL | null {
  if (text.length > LONGEST_URL || authorityOf(text).length > LONGEST_AUTHORITY) return null;
  return URL.parse(text, base);
}

/** As the parser finds it, which removes line breaks and tabs, and spaces and controls in front. */
function authorityOf(text: string): string {
  const bare = text.replace(/[\t\r\n]/g, "");
  // oxlint-disable-next-line no-control-regex
  return AUTHORITY.exec(bare.replace(/^[\0-\x20]+/, ""))?.[1] ?? "";
}
