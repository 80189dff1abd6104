/**
 * The cookie of a session. Over https it is called `__Host-mailstead` and is Secure, so that it is
 * only ever sent over https and no other host name can set it (RFC 6265bis §4.1.3). Over plain http
 * browsers refuse such a cookie, and it is called `mailstead`.
 */

import { type AddressRange, isInRanges } from "../lib/address-ranges.ts";

const SECURE_PREFIX = "__Host-";
/** 43 characters of base 62, which have 256 bits of entropy. */
const VALUE = /^[0-9A-Za-z]{43}$/;
/** Longest Cookie header that is read. Browsers send at most 4 KiB for each cookie. */
const LONGEST_HEADER = 16_384;

export function createSessionCookies(options: {
  /** The value of `--url`, or the address on which the server listens. */
  url: string;
  /** Peers whose X-Forwarded-Proto is believed. */
  trustedProxies: readonly AddressRange[];
  /** Name over plain http. */
  name?: string;
}) {
  const { trustedProxies, name: plainName = "mailstead" } = options;
  const secureName = `${SECURE_PREFIX}${plainName}`;
  const isPublicHttps = options.url.startsWith("https:");

  /** Whether the browser sent the request over https. `peer` is the address of the socket. */
  function isHttps({ headers }: Request, peer: string | null): boolean {
    const isFromProxy = peer !== null && isInRanges(peer, trustedProxies);
    const forwarded = isFromProxy ? headers.get("x-forwarded-proto") : null;
    if (forwarded === null) return isPublicHttps;
    return forwarded.slice(forwarded.lastIndexOf(",") + 1).trim() === "https";
  }

  function headerOf(request: Request, peer: string | null, value: string, maxAge: number): string {
    const isSecure = isHttps(request, peer);
    const name = isSecure ? secureName : plainName;
    const secure = isSecure ? "; Secure" : "";
    return `${name}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure}`;
  }

  return {
    /** The value of the session cookie of a request; null if it has none. */
    read(request: Request, peer: string | null): string | null {
      const header = request.headers.get("cookie") ?? "";
      if (header === "" || header.length > LONGEST_HEADER) return null;
      const name = isHttps(request, peer) ? secureName : plainName;
      const cookie = header
        .split(";")
        .map((part) => part.trim())
        .find((part) => part.startsWith(`${name}=`));
      const value = cookie?.slice(name.length + 1) ?? "";
      return VALUE.test(value) ? value : null;
    },

    /** The Set-Cookie header that stores a session in the browser. */
    set: (request: Request, peer: string | null, value: string, maxAgeSeconds: number): string =>
      headerOf(request, peer, value, maxAgeSeconds),

    /** The Set-Cookie header that removes the session from the browser. */
    clear: (request: Request, peer: string | null): string => headerOf(request, peer, "", 0),
  };
}
