/**
 * Finds the hosts for the mail of a domain (RFC 5321 §5.1). From the answers of DNS: either the hosts
 * to try, in order, or the reason why there are none; the addresses of a host; the address that it is
 * sent from; and the name of the site, whose limits all its mail shares.
 */

import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { sha256 } from "../../lib/crypto.ts";
import type { DnsAnswer, MxRecord } from "../../protocols/dns/answer.ts";
import type { Dns } from "../../protocols/dns/client.ts";
import { canonicalDomain, domainOf } from "../../protocols/mime/address.ts";
import type { Decision } from "../outcome.ts";

export type LookupOptions = {
  dns: Pick<Dns, "resolve">;
  ownNames: ReadonlySet<string>;
  /** The address families that mail is sent by. */
  families: ReadonlySet<IpFamily>;
  random: () => number;
};

export async function lookUpRoute(domain: string, options: LookupOptions): Promise<Route> {
  const { dns, ownNames, random } = options;
  return findRoute({ domain, mx: await dns.resolve(domain, "MX"), ownNames, random });
}

/**
 * Queries both families even if mail is sent by one only: a host that has addresses of the other
 * family exists, and the mail must not bounce.
 */
export async function lookUpAddresses(
  host: string,
  { dns, families, random }: LookupOptions,
): Promise<HostAddresses> {
  const [a, aaaa] = await Promise.all([dns.resolve(host, "A"), dns.resolve(host, "AAAA")]);
  return orderAddresses({ host, a, aaaa, families, random });
}

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

/** The recipient's domain in canonical form (docs/delivery.md#W1); null if it is not a domain name. */
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

type Sources = {
  /** Only the families of the configured addresses are dialled, because SPF names these addresses. */
  families: ReadonlySet<IpFamily>;
  /** The next address of the target's family, in rotation; undefined means any address. */
  next(target: string): string | undefined;
};

export function createSources(addresses: readonly string[]): Sources {
  const byFamily = new Map<IpFamily, string[]>();
  for (const address of addresses) {
    const family = isIP(address) === 6 ? 6 : 4;
    byFamily.set(family, [...(byFamily.get(family) ?? []), address]);
  }
  const counters = new Map<IpFamily, number>();
  return {
    families: addresses.length === 0 ? new Set([4, 6]) : new Set(byFamily.keys()),
    next(target) {
      const family = isIP(target) === 6 ? 6 : 4;
      const own = byFamily.get(family) ?? [];
      const count = counters.get(family) ?? 0;
      counters.set(family, count + 1);
      return own[count % own.length];
    },
  };
}

/** True if this machine has an IPv6 address that is neither loopback nor link-local. */
export function hasIPv6(): boolean {
  return Object.values(networkInterfaces()).some((addresses = []) =>
    addresses.some(
      ({ family, internal, address }) =>
        family === "IPv6" && !internal && !address.toLowerCase().startsWith("fe80:"),
    ),
  );
}

// The site of a set of MX hosts (docs/delivery.md#S7). The recipient's domain would not do, because one
// provider hosts thousands of domains.

/**
 * Providers that give each customer different MX hosts but count the mail of one sender over all of
 * them. A host belongs to the provider if it has this name or is a subdomain of it.
 */
const PROVIDERS: readonly string[] = [
  "barracudanetworks.com",
  "gmx.net",
  "google.com",
  "googlemail.com",
  "gpphosted.com",
  "hornetsecurity.com",
  "icloud.com",
  "iphmx.com",
  "kundenserver.de",
  "mail.protection.outlook.com",
  "messagelabs.com",
  "mimecast.com",
  "mx.microsoft",
  "olc.protection.outlook.com",
  "ovh.net",
  "ppe-hosted.com",
  "pphosted.com",
  "secureserver.net",
  "trendmicro.com",
  "trendmicro.eu",
  "yahoodns.net",
];

/** Computed once, because each mail compares them. */
const SUFFIXES = PROVIDERS.map((name) => [name, `.${name}`] as const);

const LONGEST_NAME = 120;

/**
 * Returns the provider's name, or else the hosts themselves, so that unrelated servers never share
 * a site. `best` are the hosts of the best preference, sorted.
 */
export function siteName(best: readonly string[]): string {
  const providers = new Set(best.map(providerOf));
  const [provider = null] = providers;
  if (provider !== null && providers.size === 1) return provider;
  const name = best.join(" ");
  return name.length <= LONGEST_NAME ? name : sha256(name);
}

function providerOf(host: string): string | null {
  return SUFFIXES.find(([name, end]) => host === name || host.endsWith(end))?.[0] ?? null;
}

// Outcomes of mails for which no host can be tried: the reason that operator and sender read, whether it
// is temporary or permanent, and its class (docs/delivery.md#R1, docs/delivery.md#R2). A reason begins
// with the enhanced status code (RFC 3463).

export function invalidDomain(): Decision {
  const reason = "5.1.3 the recipient's domain is not a valid domain name";
  return { kind: "failed", class: "content", reason };
}

/** A DNS failure is temporary (docs/delivery.md#W2); either side's name servers may cause it. */
function unanswered(domain: string, reason: string): Decision {
  const text = `4.4.3 the MX records of ${domain} could not be looked up: ${reason}`;
  return { kind: "deferred", class: "infrastructure", reason: text };
}

function missingDomain(domain: string): Decision {
  const reason = `5.1.2 the domain ${domain} does not exist`;
  return { kind: "bounced", class: "no_such_recipient", reason };
}

/** The code 5.1.2 also means a system that is "incapable of accepting mail" (RFC 3463 §3.2). */
export function domainWithoutHost(domain: string): Decision {
  const reason = `5.1.2 the domain ${domain} has neither MX records nor an address`;
  return { kind: "bounced", class: "no_such_recipient", reason };
}

function nullMx(domain: string): Decision {
  const reason = `5.1.10 the domain ${domain} accepts no mail: it has a null MX record (RFC 7505)`;
  return { kind: "bounced", class: "no_such_recipient", reason };
}

/** Either our own names or the domain's DNS are misconfigured; the recipient is not at fault. */
function loop(domain: string): Decision {
  const reason = `5.4.6 mail for ${domain} would loop: its MX records name this server`;
  return { kind: "bounced", class: "infrastructure", reason };
}

/**
 * Temporary, because such a mistake in the DNS is usually fixed soon. The domain's own address is
 * not tried instead (docs/delivery.md#W3).
 */
export function unusableHosts(domain: string): Decision {
  const reason = `4.4.4 no MX record of ${domain} names a usable host`;
  return { kind: "deferred", class: "temporary", reason };
}

export function suspended(domain: string, reason: string): Decision {
  const text = `4.4.1 not tried, no host of ${domain} could be reached recently: ${reason}`;
  return { kind: "deferred", class: "infrastructure", reason: text };
}

/** Such a host must not get the mail (RFC 8461 §5). Temporary: policy or MX records may be fixed. */
export function forbiddenHosts(domain: string, hosts: readonly string[]): Decision {
  const names = hosts.slice(0, 3).join(", ");
  const reason = `4.7.5 the MTA-STS policy of ${domain} allows none of its hosts: ${names}`;
  return { kind: "deferred", class: "infrastructure", reason };
}
