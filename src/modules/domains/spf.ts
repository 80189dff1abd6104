/** The parts of SPF (RFC 7208) that are needed to check and extend a record. Pure. */

import ipaddr from "ipaddr.js";

export function isSpfRecord(record: string): boolean {
  return /^v=spf1( |$)/i.test(record);
}

/** The mechanism that allows an address (RFC 7208 §5.6). */
export function addressMechanism(address: string): string {
  return `${ipaddr.parse(address).kind() === "ipv4" ? "ip4" : "ip6"}:${address}`;
}

/**
 * True if the record has the same mechanism, or a network that contains its address. The names in
 * other mechanisms are not looked up.
 */
export function allows(record: string, mechanism: string): boolean {
  const terms = record.toLowerCase().split(/ +/).slice(1);
  const wanted = mechanism.toLowerCase();
  return terms.some((term) => {
    const bare = term.replace(/^\+/, "");
    return bare === wanted || contains(bare, wanted);
  });
}

/** Length of the longest IPv6 network, with an IPv4 address at its end, in characters. */
const LONGEST_NETWORK = 49;

function contains(term: string, wanted: string): boolean {
  const [, kind, network] = /^(ip4|ip6):(.+\/\d+)$/.exec(term) ?? [];
  const [, wantedKind, address] = /^(ip4|ip6):([^/]+)$/.exec(wanted) ?? [];
  if (network === undefined || address === undefined || kind !== wantedKind) return false;
  if (network.length > LONGEST_NETWORK) return false;
  if (!ipaddr.isValidCIDR(network) || !ipaddr.isValid(address)) return false;
  const range = ipaddr.parseCIDR(network);
  const wantedAddress = ipaddr.parse(address);
  // An IPv4 network after ip6: has no meaning.
  return range[0].kind() === wantedAddress.kind() && wantedAddress.match(range);
}

/** Limit on DNS look-ups of a record; more are a permanent error (RFC 7208 §4.6.4). */
export const MAX_LOOK_UPS = 10;

/** True if the terms need too many look-ups; the look-ups of included records are not counted. */
export function needsTooMuch(record: string): boolean {
  return record.split(/ +/).filter(needsLookup).length > MAX_LOOK_UPS;
}

function needsLookup(term: string): boolean {
  return /^(?:[+?~-]?(?:(?:include|exists):|(?:a|mx|ptr)(?:[:/]|$))|redirect=)/i.test(term);
}

/** Merges `records` into one record that also allows `mechanisms`. */
export function mergeSpf(records: readonly string[], mechanisms: readonly string[]): string {
  const terms = records.flatMap((record) => record.split(/ +/).slice(1));
  const isEnd = (term: string) => /^([+?~-]?all|redirect=.*)$/i.test(term);
  const allowing = terms.filter((term) => !isEnd(term));
  const missing = mechanisms.filter((wanted) => !records.some((record) => allows(record, wanted)));
  const ends = terms.filter(isEnd);
  return ["v=spf1", ...new Set([...missing, ...allowing]), ends[0] ?? "~all"].join(" ");
}
