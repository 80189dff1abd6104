/**
 * Decides which requests need no API key for inboxes. Only `mailstead dev` accepts such requests.
 *
 * 1. The client must be this machine, or a machine that the operator named. A request that came
 *    through a proxy counts as one of the proxy's client, and only a trusted proxy tells who that is.
 * 2. The Host header must be a loopback name, or a name that the operator allowed; otherwise a name
 *    of another site could lead to this server (DNS rebinding).
 * 3. The Origin header, if there is one, must be this server's own (RFC 6454 §7).
 *
 * A client of another machine gets false (it needs a key). A client that is admitted, with a request
 * that could come from a page of another site in a browser, is refused.
 */

import type { App } from "../core/app.ts";
import { type AddressRange, isInRanges, parseAddressRange } from "../lib/address-ranges.ts";
import { AppError } from "../lib/errors.ts";
import { perApp } from "../lib/per-app.ts";
import { clientBehind } from "./client-address.ts";

const LOOPBACK = ["127.0.0.0/8", "::1"].flatMap((text) => parseAddressRange(text) ?? []);
/** A request with one of these headers came through a proxy, so its peer is not its client. */
export const PROXY_HEADERS = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];

type LocalAccess = {
  /**
   * Returns true if the request needs no key, and false if it needs one. Throws 403 if the request
   * may come from a page of another site.
   */
  isOpen(request: Request, peer: string | null): boolean;
};

/** Null if every request needs a key. */
export const localAccessOf = perApp(({ config, hasOpenInboxes }: App) => {
  // With users of its own, Mailpit's interface asks for them, and inboxes are closed to all other clients.
  return hasOpenInboxes && config.uiAuth.length === 0 ? createLocalAccess(config) : null;
});

export function createLocalAccess(options: {
  /** Lower-case host names without a port. */
  allowedHosts: readonly string[];
  keylessPeers: readonly AddressRange[];
  trustedProxies: readonly AddressRange[];
}): LocalAccess {
  const { allowedHosts, keylessPeers, trustedProxies } = options;
  const admitted = [...LOOPBACK, ...keylessPeers];
  return {
    isOpen(request, peer) {
      const client = clientOf(request, peer, trustedProxies);
      if (client === null || !isInRanges(client, admitted)) return false;
      const host = request.headers.get("host") ?? "";
      const name = hostNameOf(host);
      if (!allowedHosts.includes(name) && !isLoopbackName(name)) throw foreignHost();
      if (isForeignPage(request, host)) throw foreignOrigin();
      return true;
    },
  };
}

/** Null if the client is not known. */
function clientOf(
  { headers }: Request,
  peer: string | null,
  trustedProxies: readonly AddressRange[],
): string | null {
  if (!PROXY_HEADERS.some((header) => headers.has(header))) return peer;
  const forwardedFor = headers.get("x-forwarded-for");
  if (peer === null || forwardedFor === null || !isInRanges(peer, trustedProxies)) return null;
  const client = clientBehind(trustedProxies, { peer, forwardedFor });
  // If the list has no client, the proxy is the last known hop.
  return client === peer ? null : client;
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
