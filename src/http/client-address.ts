/**
 * Finds the client address by which a request is rate-limited. It is the peer of the socket, unless
 * that peer is a trusted proxy: then it is the last entry of X-Forwarded-For, which the proxy has
 * written itself.
 */

import type { App } from "../core/app.ts";
import { type AddressRange, isInRanges, parseIpAddress } from "../lib/address-ranges.ts";
import { clientNetwork } from "../lib/client-network.ts";
import { isPublicAddress } from "../lib/ip-addresses.ts";
import type { Log } from "../lib/log.ts";
import { type Incoming, peerOf } from "./incoming.ts";

type Hops = {
  /** Remote address of the socket; null if the socket is closed. */
  peer: string | null;
  /** The X-Forwarded-For header: addresses from the client to the second-last proxy. */
  forwardedFor: string | null;
};

/** Most entries of X-Forwarded-For that are read; real chains of proxies are shorter. */
const MAX_HOPS = 32;

/** Returns a function that returns the key of a client for rate limits. */
export function clientAddressReader(options: {
  trusted: readonly AddressRange[];
  log: Log;
}): (hops: Hops) => string {
  const { trusted, log } = options;
  let isProxyReported = false;

  /**
   * A private peer that sends X-Forwarded-For is probably a proxy that the operator did not name.
   */
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
    return clientNetwork(clientBehind(trusted, { peer, forwardedFor }));
  };
}

/** The address of the client of a request behind trusted proxies; null for a closed socket. */
export function clientAddress(
  { config }: App,
  incoming: Pick<Incoming, "request" | "server">,
): string | null {
  const forwardedFor = incoming.request.headers.get("x-forwarded-for");
  const hops = { peer: peerOf(incoming), forwardedFor };
  return clientBehind(config.trustedProxies, hops) || null;
}

/** The address of the client behind trusted proxies; empty for a closed socket. */
export function clientBehind(
  trusted: readonly AddressRange[],
  { peer, forwardedFor }: Hops,
): string {
  let client = peer ?? "";
  let rest = forwardedFor ?? "";
  for (let hops = 0; hops < MAX_HOPS && isInRanges(client, trusted); hops++) {
    const comma = rest.lastIndexOf(",");
    const entry = addressIn(rest.slice(comma + 1));
    // If the entry is not an address, the proxy that wrote it is the last known hop.
    if (entry === null) break;
    client = entry;
    if (comma === -1) break;
    rest = rest.slice(0, comma);
  }
  return client;
}

/** Reads `address`, `address:port`, `[address]` or `[address]:port`. */
function addressIn(entry: string): string | null {
  const text = entry.trim();
  const bracketed = /^\[([\da-f:.]+)\](?::\d{1,5})?$/i.exec(text)?.[1];
  const withPort = /^([\d.]+):\d{1,5}$/.exec(text)?.[1];
  const address = bracketed ?? withPort ?? text;
  return parseIpAddress(address) === null ? null : address;
}
