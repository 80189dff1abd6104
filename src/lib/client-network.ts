/**
 * The network by which a client is counted: its IPv4 address, or the /64 of its IPv6 address, because
 * one client can use all addresses of its network.
 */

import { isIPv4 } from "node:net";
import ipaddr from "ipaddr.js";
import { parseIpAddress } from "./address-ranges.ts";
import { embeddedIPv4 } from "./ip-addresses.ts";

/** Bytes of an IPv6 address that name its network; one host chooses the rest (RFC 4291 §2.5.4). */
const NETWORK_BYTES = 8;

/** Returns "unknown" for a text that is no address, such as that of a closed socket. */
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
