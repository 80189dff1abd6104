/** SPF records (RFC 7208) as far as advice about them needs it. Pure. */

import ipaddr from "ipaddr.js";

export function isSpfRecord(record: string): boolean {
  return /^v=spf1( |$)/i.test(record);
}

/** How an address is allowed (RFC 7208 §5.6). */
export function addressMechanism(address: string): string {
  return `${ipaddr.parse(address).kind() === "ipv4" ? "ip4" : "ip6"}:${address}`;
}

/**
 * Whether the record allows what `mechanism` allows: by the same words, or by a network that the
 * address lies in. What other mechanisms lead to is not looked up.
 */
export function allows(record: string, mechanism: string): boolean {
  const terms = record.toLowerCase().split(/ +/).slice(1);
  const wanted = mechanism.toLowerCase();
  return terms.some((term) => {
    const bare = term.replace(/^\+/, "");
    return bare === wanted || contains(bare, wanted);
  });
}

/** Characters of an IPv6 network in its longest form, with an IPv4 address at its end. */
const LONGEST_NETWORK = 49;

function contains(term: string, wanted: string): boolean {
  const [, kind, network] = /^(ip4|ip6):(.+\/\d+)$/.exec(term) ?? [];
  const [, wantedKind, address] = /^(ip4|ip6):([^/]+)$/.exec(wanted) ?? [];
  if (network === undefined || address === undefined || kind !== wantedKind) return false;
  if (network.length > LONGEST_NETWORK) return false;
  if (!ipaddr.isValidCIDR(network) || !ipaddr.isValid(address)) return false;
  const range = ipaddr.parseCIDR(network);
  const wantedAddress = ipaddr.parse(address);
  // A record may name an IPv4 network behind ip6:, which means nothing.
  return range[0].kind() === wantedAddress.kind() && wantedAddress.match(range);
}

/** RFC 7208 §4.6.4: at the eleventh, receivers give up with an error. */
export const MOST_LOOK_UPS = 10;

/** Whether its own terms already need more look-ups than allowed; what they lead to adds to that. */
export function needsTooMuch(record: string): boolean {
  return record.split(/ +/).filter(needsLookUp).length > MOST_LOOK_UPS;
}

function needsLookUp(term: string): boolean {
  return /^(?:[+?~-]?(?:(?:include|exists):|(?:a|mx|ptr)(?:[:/]|$))|redirect=)/i.test(term);
}

/** One record that allows what all of `records` did and `mechanisms` besides. */
export function mergeSpf(records: readonly string[], mechanisms: readonly string[]): string {
  const terms = records.flatMap((record) => record.split(/ +/).slice(1));
  const isEnd = (term: string) => /^([+?~-]?all|redirect=.*)$/i.test(term);
  const kept = terms.filter((term) => !isEnd(term));
  const missing = mechanisms.filter((wanted) => !records.some((record) => allows(record, wanted)));
  const ends = terms.filter(isEnd);
  return ["v=spf1", ...new Set([...missing, ...kept]), ends[0] ?? "~all"].join(" ");
}
