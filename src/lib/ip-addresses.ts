/**
 * Decides which IP addresses are public, so that URLs and hosts from callers may lead to them, and
 * which addresses count as one client.
 */

import { isIP, isIPv4 } from "node:net";
import ipaddr from "ipaddr.js";
import { parseIpAddress } from "./address-ranges.ts";

/** Bytes of an IPv6 address that name its network; one host chooses the rest (RFC 4291 §2.5.4). */
const NETWORK_BYTES = 8;

/**
 * Returns true only for globally reachable host addresses. It returns false for private, loopback,
 * link-local, carrier-grade NAT, multicast, broadcast, unspecified, documentation, benchmarking,
 * reserved and unique local addresses, and for IPv6 addresses that contain one of them
 * (docs/delivery.md#W6; the registries of RFC 6890). It also returns false for text that is not an
 * address, such as `0x7f.1` and `fe80::1%eth0`.
 */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0 || text.includes("%") || COMPATIBLE.test(text)) return false;
  const address = ipaddr.parse(text);
  if (address instanceof ipaddr.IPv4) return isPublicIPv4(address);
  const wrapped = embeddedIPv4(address);
  return wrapped === null ? isPublicIPv6(address) : isPublicIPv4(wrapped);
}

/** `::8.8.8.8` (RFC 4291 §2.5.5.1). ipaddr.js reads it as `::ffff:8.8.8.8`; the system does not. */
const COMPATIBLE = /^::\d+\./;

function isPublicIPv4(address: ipaddr.IPv4): boolean {
  return address.range() === "unicast";
}

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * Only addresses in 2000::/3 are assigned (RFC 4291 §2.4). 6to4 (RFC 7526) and Teredo (RFC 4380)
 * addresses are in this range and are always refused, because no mail server uses them.
 */
function isPublicIPv6(address: ipaddr.IPv6): boolean {
  return address.match(GLOBAL_UNICAST) && address.range() === "unicast";
}

const NAT64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");

/**
 * Returns the IPv4 address in an IPv4-mapped address (RFC 4291 §2.5.5.2) or in an address of a
 * NAT64 translator (RFC 6052 §2.1); a machine with only IPv6 reaches all of IPv4 through the
 * latter. Returns null for local-use translators in 64:ff9b:1::/48 (RFC 8215), because the position
 * of the IPv4 address in them is not known; they are not public.
 */
function embeddedIPv4(address: ipaddr.IPv6): ipaddr.IPv4 | null {
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  return address.match(NAT64) ? new ipaddr.IPv4(address.toByteArray().slice(12)) : null;
}

/**
 * Returns the key under which a client is counted: its IPv4 address, or the /64 network of its IPv6
 * address, because one client can use all addresses of its network.
 */
export function clientNetwork(text: string): string {
  if (isIPv4(text)) return text; // This usual case needs no parsing.
  const address = parseIpAddress(text);
  if (address === null) return "unknown";
  if (address instanceof ipaddr.IPv4) return address.toString();
  const host = embeddedIPv4(address);
  return host === null ? networkOf(address) : host.toString();
}

function networkOf(address: ipaddr.IPv6): string {
  const bytes = address.toByteArray().map((byte, index) => (index < NETWORK_BYTES ? byte : 0));
  return `${new ipaddr.IPv6(bytes).toString()}/64`;
}
