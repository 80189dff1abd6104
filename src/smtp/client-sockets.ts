/**
 * The open sockets of an SMTP listener, from the moment at which they are accepted, so that a client
 * which sends nothing, or never ends its TLS handshake, counts as well.
 */

import type { Socket } from "node:net";
import { createNetworkCounts } from "./network-counts.ts";

type Limits = {
  maxClients: number;
  /** Sockets of one IPv4 address or IPv6 /64; this machine has no limit. */
  maxPerAddress: number;
};

export function createClientSockets({ maxClients, maxPerAddress }: Limits) {
  const counts = createNetworkCounts({ total: maxClients, each: maxPerAddress });
  return {
    /** Counts a socket until it is closed. */
    add(socket: Socket): void {
      socket.once("close", counts.add(socket.remoteAddress ?? ""));
    },

    /** True if the client of a counted socket has more than it may, or all clients together have. */
    isBeyond: counts.isBeyond,
  };
}
