/**
 * Decides which requests need no API key for inboxes. Only `mailstead dev` accepts such requests.
 * They are refused when they could come from a page of another site in the developer's browser:
 *
 * 1. The Host header must be a loopback name, or a name that the operator allowed; otherwise a name
 *    of another site could lead to this server (DNS rebinding).
 * 2. The Origin header, if there is one, must be this server's own (RFC 6454 §7).
 * 3. The peer must be this machine, unless the operator allowed the name in the Host header.
 */

import { isInRanges, parseAddressRange } from "../lib/address-ranges.ts";
import { AppError } from "../lib/errors.ts";

const LOOPBACK = ["127.0.0.0/8", "::1"].flatMap((text) => parseAddressRange(text) ?? []);
/** A request with one of these headers came through a proxy, so its peer is not its client. */
const PROXY_HEADERS = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];

type LocalAccess = {
  /**
   * Returns true if the request needs no key, and false if it needs one. Throws 403 if the request
   * may come from a page of another site.
   */
  isOpen(request: Request, peer: string | null): boolean;
};

/** `allowedHosts` are lower-case host names without a port. */
export function createLocalAccess(allowedHosts: readonly string[]): LocalAccess {
  return {
    isOpen(request, peer) {
      const host = request.headers.get("host") ?? "";
      const name = hostNameOf(host);
      const isAllowedName = allowedHosts.includes(name);
      if (!isAllowedName && !isLocalPeer(request, peer)) return false;
      if (!isAllowedName && !isLoopbackName(name)) throw foreignHost();
      if (isForeignPage(request, host)) throw foreignOrigin();
      return true;
    },
  };
}

function isLocalPeer({ headers }: Request, peer: string | null): boolean {
  if (PROXY_HEADERS.some((header) => headers.has(header))) return false;
  return peer !== null && isInRanges(peer, LOOPBACK);
}

/** The name in a Host header, in lower case, without its port and brackets. */
function hostNameOf(host: string): string {
  return host
    .toLowerCase()
    .replace(/:\d{1,5}$/, "")
    .replace(/^\[([^\]]*)\]$/, "$1")
    .replace(/\.$/, "");
}

function isLoopbackName(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost") || isInRanges(name, LOOPBACK);
}

/**
 * Returns true for a request of a page of another origin. Browsers send Origin with every request
 * that scripts may read or that changes something, and Sec-Fetch-Site with all others.
 */
function isForeignPage({ headers }: Request, host: string): boolean {
  const origin = headers.get("origin");
  if (origin !== null) return origin !== `http://${host}` && origin !== `https://${host}`;
  if (headers.get("sec-fetch-site") !== "cross-site") return false;
  // A sandboxed page, such as a shown message, counts as another site for its own images.
  return headers.get("sec-fetch-mode") !== "navigate" && headers.get("sec-fetch-dest") !== "image";
}

function foreignHost(): AppError {
  return new AppError(403, "FORBIDDEN", "The Host header names another server.", {
    suggestion:
      "Use localhost, allow the name with mailstead dev --allowed-host NAME, or send an API key.",
  });
}

function foreignOrigin(): AppError {
  return new AppError(403, "FORBIDDEN", "Pages of other origins may not use inboxes.", {
    suggestion: "Send the request from a program, or with an API key.",
  });
}
