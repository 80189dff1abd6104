/**
 * The open sockets of an SMTP listener, from the moment at which they are accepted, so that a client
 * which sends nothing, or never ends its TLS handshake, counts as well.
 */

import type { Socket } from "node:net";
import { clientNetwork } from "../lib/client-network.ts";
import { isLoopback } from "../protocols/smtp/relay-url.ts";

type Limits = {
  maxClients: number;
  /** Sockets of one IPv4 address or IPv6 /64; this machine has no limit. */
  maxPerAddress: number;
};

export function createClientSockets({ maxClients, maxPerAddress }: Limits) {
  /** Number of open sockets by the network of their clients. */
  const counts = new Map<string, number>();
  let total = 0;

  function remove(network: string): void {
    total--;
    const count = (counts.get(network) ?? 0) - 1;
    if (count > 0) counts.set(network, count);
    else counts.delete(network);
  }

  return {
    /** Counts a socket until it is closed. */
    add(socket: Socket): void {
      const network = clientNetwork(socket.remoteAddress ?? "");
      total++;
      counts.set(network, (counts.get(network) ?? 0) + 1);
      socket.once("close", () => remove(network));
    },

    /** True if the client of a counted socket has more than it may, or all clients together have. */
    isBeyond(peer: string): boolean {
      if (total > maxClients) return true;
      return !isLoopback(peer) && (counts.get(clientNetwork(peer)) ?? 0) > maxPerAddress;
    },
  };
}
