/** Parses untrusted URLs within limits. */

/** RFC 9110 §4.1 recommends support for at least 8,000 octets. */
const LONGEST_URL = 8_192;

/**
 * Longest user, host and port together. The parser normalizes host names, which takes quadratic
 * time on runs of combining marks (28 ms for 8,000 of them), so longer ones are refused first. A
 * host name has at most 253 octets (RFC 1035 §2.3.4), each percent-encoded in three characters.
 */
const LONGEST_AUTHORITY = 1_000;

const AUTHORITY = /^(?:[a-z][a-z0-9+.-]{0,30}:[/\\]*|[/\\]{2,})([^/\\?#]*)/i;

/**
 * Returns null if the text is too long or not a URL. `base` is the URL of the referring document.
 */
export function parseUrl(text: string, base?: string): URL | null {
  if (text.length > LONGEST_URL || authorityOf(text).length > LONGEST_AUTHORITY) return null;
  return URL.parse(text, base);
}

/** Finds the authority as the parser does, which removes line breaks, tabs and leading controls. */
function authorityOf(text: string): string {
  const bare = text.replace(/[\t\r\n]/g, "");
  // oxlint-disable-next-line no-control-regex
  return AUTHORITY.exec(bare.replace(/^[\0-\x20]+/, ""))?.[1] ?? "";
}
