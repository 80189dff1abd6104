/**
 * Which client a request is counted for. It is the peer of the socket, unless that peer is a proxy
 * of the operator's: then X-Forwarded-For names the client, whose right end the proxy wrote itself.
 * IPv6 clients are counted by their /64, since one client has that many addresses to choose from.
 */

import { isIPv4 } from "node:net";
import ipaddr from "ipaddr.js";
import { type AddressRange, isInRanges, parseAddress } from "../lib/address-ranges.ts";
import { embeddedIPv4, isPublicAddress } from "../lib/ip-addresses.ts";
import type { Log } from "../lib/log.ts";

export type Hops = {
  /** Address of the socket's other end; null where the socket is gone. */
  peer: string | null;
  /** The X-Forwarded-For header: addresses from the client to the last proxy but one. */
  forwardedFor: string | null;
};

/** Proxies behind each other; a longer list was not written by proxies alone. */
const MOST_HOPS = 32;
/** Bytes of an IPv6 address that name its network; one host chooses the rest (RFC 4291 §2.5.4). */
const NETWORK_BYTES = 8;

/** Makes the function that tells under which text a client is counted. */
export function clientAddressReader(options: {
  trusted: readonly AddressRange[];
  log: Log;
}): (hops: Hops) => string {
  const { trusted, log } = options;
  let isProxyReported = false;

  /** A private peer that forwards is most likely a proxy that the operator forgot to name. */
  function reportProxy(peer: string): void {
    if (isProxyReported || isPublicAddress(peer) || isInRanges(peer, trusted)) return;
    isProxyReported = true;
    log.warn(
      "X-Forwarded-For is ignored: clients behind this peer share one rate limit; " +
        "if it is your proxy, name it with --trusted-proxy",
      { peer },
    );
  }

  return ({ peer, forwardedFor }) => {
    if (peer !== null && forwardedFor !== null) reportProxy(peer);
    let client = peer ?? "";
    let rest = forwardedFor ?? "";
    for (let hops = 0; hops < MOST_HOPS && isInRanges(client, trusted); hops++) {
      const comma = rest.lastIndexOf(",");
      const entry = addressIn(rest.slice(comma + 1));
      // Not written as an address: the proxy that wrote it is the last hop that is known.
      if (entry === null) break;
      client = entry;
      if (comma === -1) break;
      rest = rest.slice(0, comma);
    }
    return counted(client);
  };
}

/** `address`, `address:port`, `[address]` or `[address]:port`. */
function addressIn(entry: string): string | null {
  const text = entry.trim();
  const bracketed = /^\[([\da-f:.]+)\](?::\d{1,5})?$/i.exec(text)?.[1];
  const withPort = /^([\d.]+):\d{1,5}$/.exec(text)?.[1];
  const address = bracketed ?? withPort ?? text;
  return parseAddress(address) === null ? null : address;
}

function counted(text: string): string {
  if (isIPv4(text)) return text; // The usual case, without the cost of parsing.
  const address = parseAddress(text);
  if (address === null) return "unknown";
  if (address instanceof ipaddr.IPv4) return address.toString();
  const host = embeddedIPv4(address);
  return host === null ? networkOf(address) : host.toString();
}

function networkOf(address: ipaddr.IPv6): string {
  const bytes = address.toByteArray().map((byte, index) => (index < NETWORK_BYTES ? byte : 0));
  return `${new ipaddr.IPv6(bytes).toString()}/64`;
}
