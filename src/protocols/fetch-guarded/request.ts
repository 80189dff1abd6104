/** Checks a request, and builds the request that follows a redirect. */

import { VERSION } from "../../lib/version.ts";
import { FetchRefused } from "./refusal.ts";

/** A checked request. `body` is null if the method has none. */
export type CheckedRequest = {
  url: URL;
  method: string;
  headers: Headers;
  body: string | null;
  /** Most bytes of the body of the response that are read. */
  maxBodyBytes: number;
};

const MAX_BODY_BYTES = 65_536;

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const WITHOUT_BODY = ["GET", "HEAD"];

/** Headers for routing and framing, which only the client sets (RFC 9110 §7.2, RFC 9112 §6). */
const OWN_HEADERS = [
  "host",
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

/** Returns in one sentence why a header of the caller cannot be sent; null if it can. */
function findHeaderFault(name: string, value: string): string | null {
  const lower = name.toLowerCase();
  if (OWN_HEADERS.includes(lower) || lower.startsWith("proxy-")) {
    return `The header ${name} is set by the service.`;
  }
  try {
    new Headers().set(name, value);
    return null;
  } catch {
    return "A header name or value has characters that HTTP does not allow.";
  }
}

/** Builds a checked request. Throws FetchRefused if the method or a header is not allowed. */
export function checkRequest(
  url: URL,
  request: {
    method: string;
    headers?: Record<string, string>;
    body?: string;
    maxBodyBytes?: number;
  },
): CheckedRequest {
  const method = request.method.toUpperCase();
  if (!METHODS.includes(method)) {
    throw new FetchRefused("invalid_request", "Requests with this method are not sent.");
  }
  const headers = new Headers({
    accept: "*/*",
    "accept-encoding": "identity",
    "user-agent": `Mailstead/${VERSION}`,
  });
  for (const [name, value] of Object.entries(request.headers ?? {})) {
    const fault = findHeaderFault(name, value);
    if (fault !== null) throw new FetchRefused("invalid_request", fault);
    headers.set(name, value);
  }
  const body = WITHOUT_BODY.includes(method) ? null : (request.body ?? null);
  return { url, method, headers, body, maxBodyBytes: request.maxBodyBytes ?? MAX_BODY_BYTES };
}

/** Headers that are sent to another origin. All others may contain credentials. */
const PUBLIC_HEADERS = [
  "accept",
  "accept-encoding",
  "accept-language",
  "content-encoding",
  "content-language",
  "content-type",
  "user-agent",
];

/** Statuses that redirect to another URL (RFC 9110 §15.4); 300 and 304 do not. */
const REDIRECTS = [301, 302, 303, 307, 308];

/**
 * Returns the Location header of a redirect as it was received; null if the response is final. A
 * redirected request keeps its method and body. Status 303 asks for a GET of another resource, so
 * it is followed only for GET and HEAD (RFC 9110 §15.4.4).
 */
export function locationOf(
  method: string,
  { status, headers }: { status: number; headers: Headers },
) {
  if (!REDIRECTS.includes(status)) return null;
  const isOtherResource = status === 303 && !WITHOUT_BODY.includes(method);
  return isOtherResource ? null : headers.get("location");
}

/** Returns the same request for another URL. Another origin gets only the public headers. */
export function followRedirect(request: CheckedRequest, url: URL): CheckedRequest {
  if (url.origin === request.url.origin) return { ...request, url };
  const headers = [...request.headers].filter(([name]) => PUBLIC_HEADERS.includes(name));
  return { ...request, url, headers: new Headers(headers) };
}
