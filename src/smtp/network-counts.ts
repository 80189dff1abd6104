/**
 * Counts what clients hold at a time, such as sockets: all together, and by the network of the client
 * (lib/client-network.ts). Only the limit for all clients holds for this machine.
 */

import type { Socket } from "node:net";
import { clientNetwork } from "../lib/client-network.ts";
import { isLoopback } from "../protocols/smtp/relay-url.ts";

type NetworkLimits = {
  total: number;
  /** The limit of one IPv4 address or IPv6 /64. */
  each: number;
};

export function createNetworkCounts({ total, each }: NetworkLimits) {
  const counts = new Map<string, number>();
  let sum = 0;
  const countOf = (peer: string) => counts.get(clientNetwork(peer)) ?? 0;

  return {
    /** Counts one more; the returned function, which must be called once, counts it no longer. */
    add(peer: string): () => void {
      const network = clientNetwork(peer);
      sum++;
      counts.set(network, countOf(peer) + 1);
      return () => {
        sum--;
        const left = (counts.get(network) ?? 0) - 1;
        if (left > 0) counts.set(network, left);
        else counts.delete(network);
      };
    },

    /** Whether one more of this client is within the limits. */
    mayAdd: (peer: string): boolean => sum < total && (isLoopback(peer) || countOf(peer) < each),

    /** Whether all clients, or those of the network of this one, have more than they may. */
    isBeyond: (peer: string): boolean => sum > total || (!isLoopback(peer) && countOf(peer) > each),
  };
}

/**
 * The open sockets of a listener, from the moment at which they are accepted, so that a client which
 * sends nothing, or never ends its TLS handshake, counts as well.
 */
export function createClientSockets(limits: { maxClients: number; maxPerAddress: number }) {
  const counts = createNetworkCounts({ total: limits.maxClients, each: limits.maxPerAddress });
  return {
    /** Counts a socket until it is closed. */
    add: (socket: Socket): void =>
      void socket.once("close", counts.add(socket.remoteAddress ?? "")),

    /** True if the client of a counted socket has more than it may, or all clients together have. */
    isBeyond: counts.isBeyond,
  };
}
