/**
 * The listener without TLS beside HTTPS. It answers the challenges of a CA, which asks here whether we
 * control a name (RFC 8555 §8.3), and redirects all else to the same path of the public address.
 */

import type { hostedNames } from "../core/hosted-names.ts";
import { cannotListen } from "../config/listen-error.ts";
import { hasTwoHosts } from "../lib/host-header.ts";

const IDLE_SECONDS = 10;
/** Requests with a longer body are refused; the redirect makes the client send it again. */
const MAX_BODY_BYTES = 65_536;
const CHALLENGE =
  /^https?:\/\/[^/]*\/\.well-known\/(acme-challenge|mailstead-tracking)\/([A-Za-z0-9_-]{1,200})$/;

type PublicUrls = { url: string; trackingUrl: string | null };

type Settings = PublicUrls & {
  address: { host: string; port: number };
  /** Returns the key authorization of a token (RFC 8555 §8.1); null for an unknown token. */
  keyAuthorization: (token: string) => string | null;
  /** The hosts beside the names of the installation. */
  hosted?: Pick<ReturnType<typeof hostedNames>, "isHosted" | "answerCheck">;
};

/** Listens on `--plain-http`. Throws ConfigError if it cannot. */
export function servePlainHttp({ address, keyAuthorization, hosted, ...urls }: Settings) {
  try {
    return Bun.serve({
      hostname: address.host,
      port: address.port,
      reusePort: false,
      idleTimeout: IDLE_SECONDS,
      maxRequestBodySize: MAX_BODY_BYTES,
      development: false,
      fetch(request) {
        const [, kind, token = ""] = CHALLENGE.exec(request.url) ?? [];
        if (kind === undefined) return redirected(request, urls, hosted);
        const isChallenge = kind === "acme-challenge";
        const answer = isChallenge ? keyAuthorization(token) : (hosted?.answerCheck(token) ?? null);
        if (answer === null) return new Response("Not found\n", { status: 404 });
        return new Response(answer, { headers: { "Content-Type": "application/octet-stream" } });
      },
    });
  } catch (error) {
    throw cannotListen(address, "--plain-http HOST:PORT", error);
  }
}

/** The Host header only chooses between our own addresses, so that it cannot redirect to another site. */
function redirected(
  request: Request,
  { url, trackingUrl }: PublicUrls,
  hosted: Settings["hosted"],
): Response {
  if (hasTwoHosts(request) || !URL.canParse(request.url)) {
    return new Response("A request must have exactly one Host header\n", { status: 400 });
  }
  const asked = new URL(request.url);
  const tracking = trackingUrl === null ? null : new URL(trackingUrl);
  const isTracking = tracking?.hostname === asked.hostname;
  const base = isTracking && tracking !== null ? tracking : new URL(url);
  const port = (tracking ?? base).port === "" ? "" : `:${(tracking ?? base).port}`;
  const host = hosted?.isHosted(asked.hostname) === true ? asked.hostname + port : base.host;
  const headers = { Location: `https://${host}${asked.pathname}${asked.search}` };
  return new Response(null, { status: 308, headers });
}
