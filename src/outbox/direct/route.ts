/**
 * Computes where mail for a domain is sent (RFC 5321 §5.1): from the DNS answers either the hosts
 * to try, in order, or the reason why there are none. Pure: DNS answers and randomness are
 * arguments.
 */

import type { Decision } from "../outcome.ts";
import { isIP } from "node:net";
import type { DnsAnswer, MxRecord } from "../../protocols/dns/answer.ts";
import { canonicalDomain, domainOf } from "../../protocols/mime/address.ts";
import { loop, missingDomain, nullMx, unanswered, unusableHosts } from "./obstacles.ts";

type Hosts = {
  /** Names in lower case, in the order to try them. */
  hosts: readonly string[];
  /** The hosts of the best preference, sorted: domains with the same hosts share a site. */
  best: readonly string[];
  /** True if the domain has no MX records, so that it is its own host. */
  isImplicit: boolean;
};

export type Route = ({ kind: "hosts" } & Hosts) | { kind: "obstacle"; obstacle: Decision };

export type RouteInput = {
  domain: string;
  mx: DnsAnswer<MxRecord>;
  /** Names of this server, in lower case. */
  ownNames: ReadonlySet<string>;
  /** 0 ≤ random() < 1. */
  random: () => number;
};

/**
 * The recipient's domain in canonical form (docs/delivery.md#W1); null if it is not a domain name.
 */
export function recipientDomain(address: string): string | null {
  return canonicalDomain(domainOf(address).replace(/\.$/, ""));
}

export function findRoute(input: RouteInput): Route {
  const { domain, mx } = input;
  switch (mx.kind) {
    case "failed":
      return obstacle(unanswered(domain, mx.reason));
    case "nxdomain":
      return obstacle(missingDomain(domain));
    case "none":
      return routeTo([{ preference: 0, exchange: domain }], input, true);
    case "records":
      return isNullMx(mx.records) ? obstacle(nullMx(domain)) : routeTo(mx.records, input, false);
  }
}

/** A null MX is a single record whose host is the root (RFC 7505 §3). */
function isNullMx(records: readonly MxRecord[]): boolean {
  return records.length === 1 && records[0]?.exchange === ".";
}

/**
 * Drops this server and all hosts of the same or a worse preference, because they would return the
 * mail to this server (docs/delivery.md#W4, RFC 5321 §5.1).
 */
function routeTo(
  records: readonly MxRecord[],
  { domain, ownNames, random }: RouteInput,
  isImplicit: boolean,
): Route {
  const own = records.filter(({ exchange }) => ownNames.has(exchange));
  const limit = Math.min(...own.map(({ preference }) => preference));
  const better = records.filter(({ preference }) => preference < limit);
  const usable = better.filter(({ exchange }) => isHost(exchange));
  if (usable.length === 0) {
    return obstacle(better.length < records.length ? loop(domain) : unusableHosts(domain));
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

/** True for a host name; address literals and the root are not hosts (RFC 5321 §5.1). */
function isHost(name: string): boolean {
  return isIP(name) === 0 && HOST.test(name);
}

/** Accepts underscores, which are not allowed in host names but do occur. */
const HOST = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/;

/** Sorts by preference, equal preferences in random order, each host once (RFC 5321 §5.1). */
function inOrder(records: readonly MxRecord[], random: () => number): string[] {
  const sorted = shuffle(records, random).sort((a, b) => a.preference - b.preference);
  return [...new Set(sorted.map(({ exchange }) => exchange))];
}

/** Fisher-Yates shuffle: every order is equally likely. */
export function shuffle<Item>(items: readonly Item[], random: () => number): Item[] {
  const shuffled: Item[] = [];
  for (const item of items) {
    const at = Math.floor(random() * (shuffled.length + 1));
    shuffled.push(...shuffled.splice(at, 1, item));
  }
  return shuffled;
}

export type IpFamily = 4 | 6;

type AddressInput = {
  host: string;
  a: DnsAnswer<string>;
  aaaa: DnsAnswer<string>;
  /** The address families that mail is sent by. */
  families: ReadonlySet<IpFamily>;
  random: () => number;
};

/**
 * - addresses: in the order to try them.
 * - missing: the host has no address, or does not exist.
 * - failed: the DNS query failed, or all addresses are of a family that mail is not sent by.
 */
export type HostAddresses =
  | { kind: "addresses"; addresses: readonly string[] }
  | { kind: "missing"; reason: string }
  | { kind: "failed"; reason: string };

/**
 * Alternates between IPv4 and IPv6, so that a family without a route costs one try, not all of them
 * (docs/delivery.md#W5). IPv4 is first, because receivers are stricter with senders that use IPv6.
 */
export function orderAddresses({ host, a, aaaa, families, random }: AddressInput): HostAddresses {
  const v4 = a.kind === "records" ? shuffle(a.records, random) : [];
  const v6 = aaaa.kind === "records" ? shuffle(aaaa.records, random) : [];
  const addresses = interleave(families.has(4) ? v4 : [], families.has(6) ? v6 : []);
  if (addresses.length > 0) return { kind: "addresses", addresses };
  if (v4.length + v6.length > 0) {
    const reason = `4.4.4 mail is sent by IPv${[...families].join()} only, and ${host} has no such address`;
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
  const pairs = Array.from({ length: longest }, (_, i) => [first[i], second[i]]);
  return pairs.flat().filter((address) => address !== undefined);
}

function obstacle(found: Decision): Route {
  return { kind: "obstacle", obstacle: found };
}
