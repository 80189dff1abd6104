/**
 * The listener without TLS beside HTTPS. It answers the challenges of a CA, which asks here whether we
 * control a name (RFC 8555 §8.3), and redirects all else to the same path of the public address.
 */

import { cannotListen } from "../config/listen-error.ts";
import { hasTwoHosts } from "../lib/host-header.ts";

const IDLE_SECONDS = 10;
/** Requests with a longer body are refused; the redirect makes the client send it again. */
const MAX_BODY_BYTES = 65_536;
const CHALLENGE = /^https?:\/\/[^/]*\/\.well-known\/acme-challenge\/([A-Za-z0-9_-]{1,200})$/;

type PublicUrls = { url: string; trackingUrl: string | null };

type Settings = PublicUrls & {
  address: { host: string; port: number };
  /** Returns the key authorization of a token (RFC 8555 §8.1); null for an unknown token. */
  keyAuthorization: (token: string) => string | null;
};

/** Listens on `--plain-http`. Throws ConfigError if it cannot. */
export function servePlainHttp({ address, keyAuthorization, ...urls }: Settings) {
  try {
    return Bun.serve({
      hostname: address.host,
      port: address.port,
      reusePort: false,
      idleTimeout: IDLE_SECONDS,
      maxRequestBodySize: MAX_BODY_BYTES,
      development: false,
      fetch(request) {
        const token = CHALLENGE.exec(request.url)?.[1];
        if (token === undefined) return redirected(request, urls);
        const answer = keyAuthorization(token);
        if (answer === null) return new Response("Not found\n", { status: 404 });
        return new Response(answer, { headers: { "Content-Type": "application/octet-stream" } });
      },
    });
  } catch (error) {
    throw cannotListen(address, "--plain-http HOST:PORT", error);
  }
}

/** The Host header only chooses between our own addresses, so that it cannot redirect to another site. */
function redirected(request: Request, { url, trackingUrl }: PublicUrls): Response {
  if (hasTwoHosts(request) || !URL.canParse(request.url)) {
    return new Response("A request must have exactly one Host header\n", { status: 400 });
  }
  const asked = new URL(request.url);
  const tracking = trackingUrl === null ? null : new URL(trackingUrl);
  const base = tracking?.hostname === asked.hostname ? tracking : new URL(url);
  const headers = { Location: `https://${base.host}${asked.pathname}${asked.search}` };
  return new Response(null, { status: 308, headers });
}
