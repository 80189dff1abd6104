/** Which URLs may be asked at all, and at which addresses. */

import { isIP } from "node:net";
import { isPublicAddress } from "../../lib/ip-addresses.ts";
import type { Dns } from "../dns/client.ts";
import type { DnsAnswer } from "../dns/answer.ts";
import { trimEndOf } from "../../lib/trim.ts";
import { parseUrl } from "../../lib/url.ts";
import { FetchRefused } from "./refusal.ts";

export type TargetRules = {
  dns: Pick<Dns, "resolve">;
  /** Private and loopback addresses are dialled as well; `localhost` is this machine then. */
  allowPrivateAddresses: boolean;
  /** For tests, where the open internet has to be a part of loopback. */
  isPublic?: ((address: string) => boolean) | undefined;
};

const SCHEMES = ["http:", "https:"];
const LEAST_FREE_PORT = 1024;
/** Of one host; the first that takes a connection is the one. */
const MOST_ADDRESSES = 4;

/**
 * The URL as the platform reads it: decimal, octal and hexadecimal addresses are dotted ones then,
 * zones of IPv6 are refused. Without the fragment, and without final dots of a name. Throws
 * FetchRefused for what is not asked: other schemes, user names and passwords, ports of the system
 * other than 80 and 443 (behind which other protocols listen, mail among them).
 */
export function readTarget(text: string): URL {
  const url = parseUrl(text);
  // Three slashes are two to URL parsers, and what was to be the path is the host then.
  if (url === null || /^https?:\/\/[/\\]/i.test(text.trim())) {
    throw new FetchRefused("invalid_url", "This is not a URL.");
  }
  if (!SCHEMES.includes(url.protocol)) {
    throw new FetchRefused("scheme", "Only http and https URLs are requested.");
  }
  if (url.username !== "" || url.password !== "") {
    throw new FetchRefused("credentials", "User names and passwords in URLs are not sent.");
  }
  const port = url.port === "" ? null : Number(url.port);
  if (port !== null && port < LEAST_FREE_PORT && port !== 80 && port !== 443) {
    throw new FetchRefused("port", "Only the ports 80, 443 and those from 1024 on are requested.");
  }
  url.hash = "";
  url.hostname = trimEndOf(url.hostname, ".");
  return url;
}

/**
 * What a URL tells by itself, before any look-up: null, or why it would never be asked. For the
 * moment in which somebody stores it.
 */
export function objectToTarget(text: string, rules: Omit<TargetRules, "dns">): FetchRefused | null {
  try {
    const url = readTarget(text);
    const known = knownAddresses(url);
    if (known !== null) allowedOf(known, url.hostname, rules);
    return null;
  } catch (error) {
    if (error instanceof FetchRefused) return error;
    throw error;
  }
}

/** The addresses of the host that may be dialled, at least one. Throws FetchRefused. */
export async function addressesOf(url: URL, rules: TargetRules): Promise<readonly string[]> {
  const known = knownAddresses(url);
  if (known !== null) return allowedOf(known, url.hostname, rules);
  const answers = await Promise.all([
    rules.dns.resolve(url.hostname, "A"),
    rules.dns.resolve(url.hostname, "AAAA"),
  ]);
  return allowedOf(recordsOf(answers, url.hostname), url.hostname, rules);
}

/**
 * The addresses of a host that is one itself, or of this machine (RFC 6761 §6.3: `localhost` is
 * never asked of the DNS, whose answer could be anything). Null for all others.
 */
function knownAddresses({ hostname }: URL): string[] | null {
  const bare = hostname.replace(/^\[|\]$/g, "");
  if (isIP(bare) !== 0) return [bare];
  return /(?:^|\.)localhost$/.test(hostname) ? ["127.0.0.1", "::1"] : null;
}

function recordsOf(answers: readonly DnsAnswer<string>[], host: string): string[] {
  const records = answers.flatMap((answer) => (answer.kind === "records" ? answer.records : []));
  if (records.length > 0) return records;
  const failed = answers.some(({ kind }) => kind === "failed");
  throw new FetchRefused(
    "unresolvable",
    failed ? `${host} could not be looked up in the DNS` : `${host} has no address in the DNS`,
  );
}

function allowedOf(
  addresses: readonly string[],
  host: string,
  { allowPrivateAddresses, isPublic = isPublicAddress }: Omit<TargetRules, "dns">,
): string[] {
  const allowed = allowPrivateAddresses ? addresses : addresses.filter(isPublic);
  if (allowed.length === 0) throw noPublicAddress(host);
  return allowed.slice(0, MOST_ADDRESSES);
}

function noPublicAddress(host: string): FetchRefused {
  return new FetchRefused("private_address", `${host} has no address that may be asked`);
}
