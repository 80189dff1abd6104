/** The name servers: those of a setting, or those of the system. */

import { readFileSync } from "node:fs";
import { getServers } from "node:dns";
import { isIP } from "node:net";

export type DnsServer = { address: string; port: number };

type ParsedDnsServers =
  { ok: true; servers: readonly DnsServer[] } | { ok: false; message: string };

const DNS_PORT = 53;
const MAX_SERVERS = 8;
const LOCAL: DnsServer = { address: "127.0.0.1", port: DNS_PORT };

/**
 * Parses a list of `address[:port]` with commas or spaces between. An IPv6 address with a port is
 * in brackets.
 */
export function parseDnsServers(text: string): ParsedDnsServers {
  const words = text.split(/[\s,]+/).filter((word) => word !== "");
  if (words.length === 0) return refuse("names no server");
  if (words.length > MAX_SERVERS) return refuse(`names more than ${MAX_SERVERS} servers`);
  const servers: DnsServer[] = [];
  for (const word of words) {
    const server = parseServer(word);
    if (server === null) return refuse(`must be addresses such as 127.0.0.1:53 or [::1]:53`);
    servers.push(server);
  }
  return { ok: true, servers };
}

/** Formats a server in the form that `parseDnsServers` reads. */
export function formatServer({ address, port }: DnsServer): string {
  return isIP(address) === 6 ? `[${address}]:${port}` : `${address}:${port}`;
}

/** Returns the name servers of the system. They are read once, because they rarely change. */
export function systemDnsServers(): readonly DnsServer[] {
  const servers = process.platform === "linux" ? readSystemFile() : askSystem();
  return servers.length === 0 ? [LOCAL] : servers;
}

/**
 * Reads the first three `nameserver` lines, as the resolver of the system does (resolv.conf(5)).
 */
export function readResolvConf(text: string): readonly DnsServer[] {
  return text
    .split("\n")
    .flatMap((line) => /^\s*nameserver\s+(\S+)/.exec(line)?.[1] ?? [])
    .flatMap((address) => parseServer(address) ?? [])
    .slice(0, 3);
}

function readSystemFile(): readonly DnsServer[] {
  try {
    return readResolvConf(readFileSync("/etc/resolv.conf", "utf8"));
  } catch {
    return askSystem();
  }
}

function askSystem(): readonly DnsServer[] {
  return getServers().flatMap((server) => parseServer(server) ?? []);
}

function parseServer(word: string): DnsServer | null {
  if (isIP(word) !== 0) return { address: word, port: DNS_PORT };
  const [, bracketed, plain, digits] = /^(?:\[(.+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(word) ?? [];
  const address = bracketed ?? plain ?? "";
  if (isIP(address) !== (bracketed === undefined ? 4 : 6)) return null;
  const port = digits === undefined ? DNS_PORT : Number(digits);
  return port >= 1 && port <= 65_535 ? { address, port } : null;
}

function refuse(message: string): ParsedDnsServers {
  return { ok: false, message };
}
