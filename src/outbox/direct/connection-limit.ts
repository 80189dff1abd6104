/**
 * Limits the simultaneous connections to one address, over all sites that had no good session so
 * far, so that a tarpit with one address does not get a connection for each of its domains. IPv6
 * addresses are counted by their /64, because one machine usually owns a whole /64.
 */

import ipaddr from "ipaddr.js";

const MAX_PER_NETWORK = 2;
const IPV6_PREFIX_BYTES = 8;

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

/** `192.0.2.1` for an IPv4 address, the first 64 bits in hexadecimal for an IPv6 address. */
export function networkOf(address: string): string {
  const parsed = ipaddr.process(address);
  if (parsed.kind() === "ipv4") return parsed.toString();
  return `${Buffer.from(parsed.toByteArray().slice(0, IPV6_PREFIX_BYTES)).toString("hex")}/64`;
}
