/** Checks URLs, and finds the addresses to which a request may be sent. */

import { isIP } from "node:net";
import { isPublicAddress } from "../../lib/ip-addresses.ts";
import type { Dns } from "../dns/client.ts";
import type { DnsAnswer } from "../dns/answer.ts";
import { trimEndOf } from "../../lib/trim.ts";
import { parseUrl } from "../../lib/url.ts";
import { FetchRefused } from "./refusal.ts";

export type TargetRules = {
  dns: Pick<Dns, "resolve">;
  /** Allows private and loopback addresses, and `localhost`. */
  allowPrivateAddresses: boolean;
  /** Replaces the check for public addresses in tests, which use loopback addresses only. */
  isPublic?: ((address: string) => boolean) | undefined;
};

const SCHEMES = ["http:", "https:"];
const MIN_USER_PORT = 1024;
/** Largest number of addresses of a host that are tried. */
const MAX_ADDRESSES = 4;

/**
 * Parses a URL as the platform does, which converts decimal, octal and hexadecimal addresses to
 * dotted ones and refuses zones of IPv6. The fragment and final dots of the host are removed.
 * Throws FetchRefused for other schemes than http and https, for user names and passwords, and for
 * ports below 1024 except 80 and 443, because other protocols such as SMTP use them.
 */
export function readTarget(text: string): URL {
  const url = parseUrl(text);
  // URL parsers remove line breaks and tabs, so the URL would be another than the text. They read three
  // slashes as two, so the first part of the path would become the host.
  if (url === null || /\p{Cc}/u.test(text) || /^https?:\/\/[/\\]/i.test(text.trim())) {
    throw new FetchRefused("invalid_url", "This is not a URL.");
  }
  if (!SCHEMES.includes(url.protocol)) {
    throw new FetchRefused("scheme", "Only http and https URLs are requested.");
  }
  if (url.username !== "" || url.password !== "") {
    throw new FetchRefused("credentials", "User names and passwords in URLs are not sent.");
  }
  const port = url.port === "" ? null : Number(url.port);
  if (port !== null && port < MIN_USER_PORT && port !== 80 && port !== 443) {
    throw new FetchRefused("port", "Only the ports 80, 443 and those from 1024 on are requested.");
  }
  url.hash = "";
  url.hostname = trimEndOf(url.hostname, ".");
  return url;
}

/**
 * Checks a URL without a look-up, before it is stored. Returns the reason why no request would ever
 * be sent to it; null if there is none.
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

/**
 * Resolves the allowed addresses of the host, at least one. Throws FetchRefused if there is none.
 */
export async function addressesOf(
  { hostname }: Pick<URL, "hostname">,
  rules: TargetRules,
): Promise<readonly string[]> {
  const known = knownAddresses({ hostname });
  if (known !== null) return allowedOf(known, hostname, rules);
  const answers = await Promise.all([
    rules.dns.resolve(hostname, "A"),
    rules.dns.resolve(hostname, "AAAA"),
  ]);
  return allowedOf(recordsOf(answers, hostname), hostname, rules);
}

/**
 * Returns the addresses of a host that is an address, or of `localhost`, which must not be looked
 * up in the DNS (RFC 6761 §6.3). Returns null for all other hosts.
 */
function knownAddresses({ hostname }: Pick<URL, "hostname">): string[] | null {
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
  return allowed.slice(0, MAX_ADDRESSES);
}

function noPublicAddress(host: string): FetchRefused {
  return new FetchRefused("private_address", `${host} has no address that may be asked`);
}
