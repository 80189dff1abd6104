/**
 * Limits the simultaneous connections to one address, over all sites that had no good session so
 * far, so that a tarpit with one address does not get a connection for each of its domains. IPv6
 * addresses are counted by their /64, because one machine usually owns a whole /64.
 */

import ipaddr from "ipaddr.js";
import type { Busy } from "../outcome.ts";
import type { SiteQueue } from "./site-queue.ts";

const MAX_PER_NETWORK = 2;
const IPV6_PREFIX_BYTES = 8;
/** A mail that waits for a connection to an address asks again after this time. */
const ADDRESS_RETRY_MS = 2_000;

export class ConnectionLimit {
  /** Network → number of its connections; a network without connections has no entry. */
  readonly #connections = new Map<string, number>();

  isFull(network: string): boolean {
    return (this.#connections.get(network) ?? 0) >= MAX_PER_NETWORK;
  }

  /** False if the network is full; otherwise the caller must `release` the connection. */
  acquire(network: string): boolean {
    if (this.isFull(network)) return false;
    this.#connections.set(network, (this.#connections.get(network) ?? 0) + 1);
    return true;
  }

  release(network: string): void {
    const connections = this.#connections.get(network) ?? 0;
    if (connections <= 1) this.#connections.delete(network);
    else this.#connections.set(network, connections - 1);
  }
}

type Target = Pick<SiteQueue, "site" | "networks">;

/** The one connection of a mail. It is counted while it is reserved or open. */
export class CountedConnection {
  readonly #limit: ConnectionLimit;
  /** The network of its current or reserved connection. */
  #network: string | null = null;
  /** The network of its last connection. */
  #lastNetwork: string | null = null;
  #hasDialled = false;

  constructor(limit: ConnectionLimit) {
    this.#limit = limit;
  }

  /** The wait list whose mails can use the connection after its release; null if it has none. */
  get waitList(): string | null {
    return this.#lastNetwork === null ? null : networkWaitList(this.#lastNetwork);
  }

  /** Reserves a connection at admission, so that no more mails are admitted than can connect. */
  reserveAny({ site, networks }: Target): void {
    if (site.hasGoodSession) return;
    for (const network of networks) if (this.#acquire(network)) return;
  }

  /** Reserves a connection to this address; returns why it must not be dialled now, or null. */
  reserve(address: string, { site, networks }: Target): Busy | null {
    if (site.hasGoodSession) return null;
    const network = networkOf(address);
    if (!this.#hasDialled) networks.clear();
    this.#hasDialled = true;
    networks.add(network);
    return this.#acquire(network) ? null : awaitNetwork(network);
  }

  release(): void {
    if (this.#network !== null) this.#limit.release(this.#network);
    this.#network = null;
  }

  #acquire(network: string): boolean {
    if (network === this.#network) return true;
    this.release();
    if (!this.#limit.acquire(network)) return false;
    this.#network = network;
    this.#lastNetwork = network;
    return true;
  }
}

/** Why no mail can connect to any known address of a site without a good session, or null. */
export function findFullNetwork({ site, networks }: Target, limit: ConnectionLimit): Busy | null {
  if (site.hasGoodSession) return null;
  let full: string | null = null;
  for (const network of networks) {
    if (!limit.isFull(network)) return null;
    full ??= network;
  }
  return full === null ? null : awaitNetwork(full);
}

function awaitNetwork(network: string): Busy {
  const reason = `${network} has reached the connection limit for addresses of sites without a good session`;
  return {
    kind: "busy",
    why: "full",
    retryAfterMs: ADDRESS_RETRY_MS,
    waitList: networkWaitList(network),
    reason,
  };
}

/** The name of a network's wait list; a host name cannot contain "@" or a space. */
function networkWaitList(network: string): string {
  return `@ ${network}`;
}

/** `192.0.2.1` for an IPv4 address, the first 64 bits in hexadecimal for an IPv6 address. */
function networkOf(address: string): string {
  const parsed = ipaddr.process(address);
  if (parsed.kind() === "ipv4") return parsed.toString();
  return `${Buffer.from(parsed.toByteArray().slice(0, IPV6_PREFIX_BYTES)).toString("hex")}/64`;
}
