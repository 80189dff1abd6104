/** Normalises the path of a request, so that all code that stores or compares paths agrees. */

/** Returns the path of an absolute URL as routes are written: without query and trailing slash. */
export function routePath(url: string): string {
  // The URL is only a path if the Host header is missing or invalid.
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("//") + 2);
  const end = url.indexOf("?", start);
  return withoutTrailingSlash(end === -1 ? url.slice(start) : url.slice(start, end));
}

/**
 * Returns the canonical spelling of a path: without one trailing slash, and with percent-encoding
 * only where a segment needs it (RFC 3986 §6.2.2.2). Ids are part of the path, so two resources
 * never have the same canonical path.
 */
export function canonicalPath(path: string): string {
  const trimmed = withoutTrailingSlash(path);
  return trimmed.includes("%") ? trimmed.split("/").map(reencode).join("/") : trimmed;
}

/** The prefix of the routes that imitate the interface of Plunk (modules/plunk/plunk.ts). */
export const PLUNK = "/plunk";

/** The path without the prefix of an imitated interface: `/v1/send` for `/plunk/v1/send`. */
export function withoutImitation(path: string): string {
  return path.startsWith(`${PLUNK}/`) ? path.slice(PLUNK.length) : path;
}

/** A path with one trailing slash names the same route as without it. */
function withoutTrailingSlash(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

/** A segment that is not percent-encoded UTF-8 stays unchanged, because its route refuses it. */
function reencode(segment: string): string {
  try {
    return encodeURIComponent(decodeURIComponent(segment));
  } catch (error) {
    if (error instanceof URIError) return segment;
    throw error;
  }
}
