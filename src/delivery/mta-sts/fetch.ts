/**
 * The policy file over HTTPS (RFC 8461 §3.3): from an address we looked up and checked ourselves,
 * with a certificate for `mta-sts.<domain>`, without redirects, within bounds.
 */

import { isIP } from "node:net";
import { isPublicAddress } from "../../lib/addresses.ts";
import type { Dns } from "../../lib/dns/client.ts";

export type Fetched = { ok: true; text: string } | { ok: false; reason: string };

/** Never rejects. */
export type FetchPolicy = (domain: string) => Promise<Fetched>;

export type PolicyFetcherOptions = {
  dns: Pick<Dns, "resolve">;
  /** For tests: addresses of this machine and its network are fetched from as well. */
  allowPrivateAddresses?: boolean;
  port?: number;
  timeoutMs?: number;
  /** PEM; trusted instead of the built-in authorities. */
  ca?: string | undefined;
};

const MAX_BYTES = 65_536;
const MAX_ADDRESSES = 2;

export function policyFetcher(options: PolicyFetcherOptions): FetchPolicy {
  return async (domain) => {
    const host = `mta-sts.${domain}`;
    const addresses = await findAddresses(host, options);
    let last: Fetched = { ok: false, reason: `${host} has no address that may be asked` };
    const deadline = AbortSignal.timeout(options.timeoutMs ?? 20_000);
    for (const address of addresses) {
      last = await fetchFrom(address, host, { ...options, deadline });
      if (last.ok) return last;
    }
    return last;
  };
}

async function findAddresses(host: string, options: PolicyFetcherOptions): Promise<string[]> {
  const [a, aaaa] = await Promise.all([
    options.dns.resolve(host, "A"),
    options.dns.resolve(host, "AAAA"),
  ]);
  const found = [a, aaaa].flatMap((answer) => (answer.kind === "records" ? answer.records : []));
  const isAllowed = (address: string) =>
    options.allowPrivateAddresses === true || isPublicAddress(address);
  return found.filter(isAllowed).slice(0, MAX_ADDRESSES);
}

async function fetchFrom(
  address: string,
  host: string,
  options: PolicyFetcherOptions & { deadline: AbortSignal },
): Promise<Fetched> {
  const { port = 443, ca, deadline } = options;
  const authority = isIP(address) === 6 ? `[${address}]` : address;
  try {
    const response = await fetch(`https://${authority}:${port}/.well-known/mta-sts.txt`, {
      headers: { host, "accept-encoding": "identity", accept: "text/plain" },
      redirect: "manual",
      keepalive: false,
      signal: deadline,
      // The name in SNI and in the certificate; the address above is what is dialled.
      tls: { serverName: host, ...(ca !== undefined && { ca }) },
    });
    return await readResponse(response);
  } catch (error) {
    return {
      ok: false,
      reason: `${host}: ${error instanceof Error ? error.message : "no answer"}`,
    };
  }
}

async function readResponse(response: Response): Promise<Fetched> {
  const objection = objectTo(response);
  const text = objection === null ? await readText(response) : null;
  if (text !== null) return { ok: true, text };
  await response.body?.cancel();
  return { ok: false, reason: objection ?? `more than ${MAX_BYTES} octets` };
}

/** Only 200 is an answer. Media type: nothing, or text/plain with any parameters. */
function objectTo({ status, headers }: Response): string | null {
  if (status !== 200) return `HTTP status ${status}`;
  const type = headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
  return type === "" || type === "text/plain" ? null : `media type ${type.slice(0, 60)}`;
}

/** Null if it is too long. */
async function readText(response: Response): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > MAX_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
