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
import { perApp } from "../lib/per-app.ts";
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

  function reportProxy(hops: Hops): void {
    const peer = isProxyReported ? null : unnamedProxy(trusted, hops);
    if (peer === null) return;
    isProxyReported = true;
    log.warn(
      "X-Forwarded-For is ignored: clients behind this peer share one rate limit; " +
        "if it is your proxy, name it with --trusted-proxy",
      { peer },
    );
  }

  return (hops) => {
    reportProxy(hops);
    return clientNetwork(clientBehind(trusted, hops));
  };
}

/**
 * A private peer that sends X-Forwarded-For is probably a proxy that the operator did not name. A public
 * one may be any client, so it is never proposed as a proxy.
 */
function unnamedProxy(
  trusted: readonly AddressRange[],
  { peer, forwardedFor }: Hops,
): string | null {
  if (peer === null || forwardedFor === null) return null;
  return isPublicAddress(peer) || isInRanges(peer, trusted) ? null : peer;
}

type Asked = Pick<Incoming, "request" | "server">;

const hopsOf = (asked: Asked): Hops => ({
  peer: peerOf(asked),
  forwardedFor: asked.request.headers.get("x-forwarded-for"),
});

/** The address of the client of a request behind trusted proxies; null for a closed socket. */
export function clientAddress({ config }: App, asked: Asked): string | null {
  return clientBehind(config.trustedProxies, hopsOf(asked)) || null;
}

const refusedProxy = perApp((): { peer: string | null } => ({ peer: null }));

/** A limit refuses a request. If a proxy is not named, the limit may be shared by all clients behind it. */
export function recordRefusal(app: App, asked: Asked): void {
  const peer = unnamedProxy(app.config.trustedProxies, hopsOf(asked));
  if (peer !== null) refusedProxy(app).peer = peer;
}

/** The latest proxy whose clients were refused together since the start; null if there is none. */
export const readRefusedProxy = (app: App): string | null => refusedProxy(app).peer;

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
