/**
 * Fetches the policy file over HTTPS (RFC 8461 §3.3): from an address that was looked up and
 * checked, with a certificate for `mta-sts.<domain>`, without redirects, and with limits on size
 * and time.
 */

import type { GuardedResponse } from "../fetch-guarded/exchange.ts";
import { createFetchGuarded } from "../fetch-guarded/fetch-guarded.ts";
import { FetchRefused } from "../fetch-guarded/refusal.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Dns } from "../dns/client.ts";

type Fetched = { ok: true; text: string } | { ok: false; reason: string };

/** Never rejects. */
export type FetchPolicy = (domain: string) => Promise<Fetched>;

export type PolicyFetcherOptions = {
  dns: Pick<Dns, "resolve">;
  /** Allows addresses of this machine and its network, for tests. */
  allowPrivateAddresses?: boolean;
  port?: number;
  timeoutMs?: number;
  /** Measures that time; by default the clock of the system. */
  clock?: Clock | undefined;
  /** PEM; trusted instead of the built-in authorities. */
  ca?: string | undefined;
};

const TIMEOUT_MS = 20_000;

export function policyFetcher(options: PolicyFetcherOptions): FetchPolicy {
  const { allowPrivateAddresses = false, port = 443, timeoutMs = TIMEOUT_MS, ...rest } = options;
  const fetchGuarded = createFetchGuarded({
    ...rest,
    allowPrivateAddresses,
    timeoutMs,
    followsRedirects: false,
  });
  return async (domain) => {
    const url = `https://mta-sts.${domain}:${port}/.well-known/mta-sts.txt`;
    try {
      return read(await fetchGuarded(url, { method: "GET", headers: { accept: "text/plain" } }));
    } catch (error) {
      if (error instanceof FetchRefused) return { ok: false, reason: error.message };
      throw error;
    }
  };
}

/** Accepts only status 200, and no media type or text/plain with any parameters. */
function read({ status, headers, body, isTruncated }: GuardedResponse): Fetched {
  if (status !== 200) return { ok: false, reason: `HTTP status ${status}` };
  const type = headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (type !== "" && type !== "text/plain") {
    return { ok: false, reason: `media type ${type.slice(0, 60)}` };
  }
  if (isTruncated) return { ok: false, reason: `more than ${body.length} octets` };
  return { ok: true, text: Buffer.from(body).toString("utf8") };
}
