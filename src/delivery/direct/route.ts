/**
 * Where mail for a domain goes (RFC 5321 §5.1): from what the DNS said to the hosts to try, in
 * order, or to the reason why there is none. Pure: DNS answers and randomness are arguments.
 */

import { isIP } from "node:net";
import type { DnsAnswer, MxRecord } from "../../lib/dns/answer.ts";
import { canonicalDomain, domainOf } from "../../mail/address.ts";
import {
  loop,
  missingDomain,
  nullMx,
  unanswered,
  unusableHosts,
  type Obstacle,
} from "./obstacles.ts";

export type Hosts = {
  /** In the order to try; names in lower case. */
  hosts: readonly string[];
  /** Those of the best preference, sorted: domains that share them share a site. */
  best: readonly string[];
  /** The domain itself, for want of MX records. */
  isImplicit: boolean;
};

export type Route = ({ kind: "hosts" } & Hosts) | { kind: "obstacle"; obstacle: Obstacle };

export type RouteQuestion = {
  domain: string;
  mx: DnsAnswer<MxRecord>;
  /** Names that mean this server, lower case. */
  ownNames: ReadonlySet<string>;
  /** 0 ≤ random() < 1. */
  random: () => number;
};

/** The recipient's domain in its one spelling (delivery rule W1); null for literals and nonsense. */
export function recipientDomain(address: string): string | null {
  return canonicalDomain(domainOf(address).replace(/\.$/, ""));
}

export function findRoute(question: RouteQuestion): Route {
  const { domain, mx } = question;
  switch (mx.kind) {
    case "failed":
      return obstacle(unanswered(domain, mx.reason));
    case "nxdomain":
      return obstacle(missingDomain(domain));
    case "none":
      return withoutOurselves([{ preference: 0, exchange: domain }], question, true);
    case "records":
      return isNullMx(mx.records)
        ? obstacle(nullMx(domain))
        : withoutOurselves(mx.records, question, false);
  }
}

/** RFC 7505 §3: the only record, and its host is the root. */
function isNullMx(records: readonly MxRecord[]): boolean {
  return records.length === 1 && records[0]?.exchange === ".";
}

/** Delivery rule W4: hosts behind us would only hand the mail back to us (RFC 5321 §5.1). */
function withoutOurselves(
  records: readonly MxRecord[],
  { domain, ownNames, random }: RouteQuestion,
  isImplicit: boolean,
): Route {
  const ours = records.filter(({ exchange }) => ownNames.has(exchange));
  const limit = Math.min(...ours.map(({ preference }) => preference));
  const ahead = records.filter(({ preference }) => preference < limit);
  const usable = ahead.filter(({ exchange }) => isHost(exchange));
  if (usable.length === 0) {
    return obstacle(ahead.length < records.length ? loop(domain) : unusableHosts(domain));
  }
  const least = Math.min(...usable.map(({ preference }) => preference));
  const best = usable.filter(({ preference }) => preference === least);
  return {
    kind: "hosts",
    hosts: inOrder(usable, random),
    best: [...new Set(best.map(({ exchange }) => exchange))].sort(),
    isImplicit,
  };
}

/** An MX record names a host (RFC 5321 §5.1): address literals, the root and nonsense are no host. */
function isHost(name: string): boolean {
  return isIP(name) === 0 && HOST.test(name);
}

/** Underscores are not allowed and are found all the same. */
const HOST = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/;

/** By preference, in random order where it is equal, each host once (RFC 5321 §5.1). */
function inOrder(records: readonly MxRecord[], random: () => number): string[] {
  const sorted = shuffle(records, random).sort((a, b) => a.preference - b.preference);
  return [...new Set(sorted.map(({ exchange }) => exchange))];
}

/** Every order is equally likely, as far as `random` is fair (Fisher and Yates). */
export function shuffle<Item>(items: readonly Item[], random: () => number): Item[] {
  const shuffled: Item[] = [];
  for (const item of items) {
    const at = Math.floor(random() * (shuffled.length + 1));
    shuffled.push(...shuffled.splice(at, 1, item));
  }
  return shuffled;
}

export type IpFamily = 4 | 6;

export type AddressQuestion = {
  host: string;
  a: DnsAnswer<string>;
  aaaa: DnsAnswer<string>;
  /** Those that mail leaves by. */
  families: ReadonlySet<IpFamily>;
  random: () => number;
};

/**
 * - addresses: in the order to try.
 * - missing: the host has none, or does not exist.
 * - failed: nobody could say, or we have no way to those it has.
 */
export type HostAddresses =
  | { kind: "addresses"; addresses: readonly string[] }
  | { kind: "missing"; reason: string }
  | { kind: "failed"; reason: string };

/**
 * IPv4 and IPv6 in turn, so that a family without a way out costs one try, not all of them
 * (delivery rule W5). IPv4 goes first: receivers ask more of a sender by IPv6.
 */
export function orderAddresses({
  host,
  a,
  aaaa,
  families,
  random,
}: AddressQuestion): HostAddresses {
  const v4 = a.kind === "records" ? shuffle(a.records, random) : [];
  const v6 = aaaa.kind === "records" ? shuffle(aaaa.records, random) : [];
  const addresses = interleave(families.has(4) ? v4 : [], families.has(6) ? v6 : []);
  if (addresses.length > 0) return { kind: "addresses", addresses };
  if (v4.length + v6.length > 0) {
    const reason = `4.4.4 mail leaves by IPv${[...families].join()} only, and ${host} is elsewhere`;
    return { kind: "failed", reason };
  }
  const failure = a.kind === "failed" ? a : aaaa.kind === "failed" ? aaaa : null;
  if (failure !== null) return { kind: "failed", reason: `4.4.3 ${failure.reason}` };
  const isMissing = a.kind === "nxdomain" || aaaa.kind === "nxdomain";
  const what = isMissing ? "does not exist" : "has no address";
  return { kind: "missing", reason: `the host ${host} ${what}` };
}

function interleave(first: readonly string[], second: readonly string[]): string[] {
  const longest = Math.max(first.length, second.length);
  const turns = Array.from({ length: longest }, (_, i) => [first[i], second[i]]);
  return turns.flat().filter((address) => address !== undefined);
}

function obstacle(found: Obstacle): Route {
  return { kind: "obstacle", obstacle: found };
}
