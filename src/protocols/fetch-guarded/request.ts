/** What is sent: to the first address asked, and after a redirect. */

import { VERSION } from "../../lib/version.ts";
import { FetchRefused } from "./refusal.ts";

/** A request that was checked. Without a body where the method has none. */
export type CheckedRequest = {
  url: URL;
  method: string;
  headers: Headers;
  body: string | null;
};

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const WITHOUT_BODY = ["GET", "HEAD"];

/** They say how a message is carried and to whom: ours to write (RFC 9110 §7.2, RFC 9112 §6). */
const OURS = [
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

/** Null, or why a header cannot be sent for somebody: one sentence. */
function objectToHeader(name: string, value: string): string | null {
  const lower = name.toLowerCase();
  if (OURS.includes(lower) || lower.startsWith("proxy-")) {
    return `The header ${name} is set by the service.`;
  }
  try {
    new Headers().set(name, value);
    return null;
  } catch {
    return "A header name or value has characters that HTTP does not allow."; // The TypeError says no more.
  }
}

/** Throws FetchRefused. */
export function checkRequest(
  url: URL,
  request: { method: string; headers?: Record<string, string>; body?: string },
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
    const objection = objectToHeader(name, value);
    if (objection !== null) throw new FetchRefused("invalid_request", objection);
    headers.set(name, value);
  }
  const body = WITHOUT_BODY.includes(method) ? null : (request.body ?? null);
  return { url, method, headers, body };
}

/** All that another origin gets to see; whatever else there is may be a credential. */
const FOR_ANYBODY = [
  "accept",
  "accept-encoding",
  "accept-language",
  "content-encoding",
  "content-language",
  "content-type",
  "user-agent",
];

/** Statuses that name another place (RFC 9110 §15.4); 304 and 300 do not. */
const REDIRECTS = [301, 302, 303, 307, 308];

/**
 * Where an answer sends a request to, as it stands there; null for one that is the answer. What is
 * sent is meant for the receiver: it is sent on as it is, and 303, which asks for a GET of something
 * else, is an answer to anything but a GET (RFC 9110 §15.4.4).
 */
export function locationOf(
  method: string,
  { status, headers }: { status: number; headers: Headers },
) {
  if (!REDIRECTS.includes(status)) return null;
  const isElse = status === 303 && !WITHOUT_BODY.includes(method);
  return isElse ? null : headers.get("location");
}

/** The same request, elsewhere. Another origin gets none of the headers that tell who is asking. */
export function followRedirect(request: CheckedRequest, url: URL): CheckedRequest {
  if (url.origin === request.url.origin) return { ...request, url };
  const kept = [...request.headers].filter(([name]) => FOR_ANYBODY.includes(name));
  return { ...request, url, headers: new Headers(kept) };
}
