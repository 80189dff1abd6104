/**
 * HTTPS: a listener that decrypts, and passes the bytes on to the HTTP listener of this process. The
 * HTTP server of the platform cannot change its certificate: another server would have to take over the
 * port, and connections whose handshake is under way would be lost. Here, each connection gets the
 * certificate that is current when it is accepted, and keeps it.
 */

import { connect, createServer, type Socket } from "node:net";
import { createSecureContext, type SecureContext, TLSSocket } from "node:tls";
import { cannotListen } from "../config/listen-error.ts";
import { clientNetwork } from "../lib/client-network.ts";
import type { Clock } from "../lib/clock.ts";
import { hasFreeDescriptors } from "../lib/descriptors.ts";
import type { Certificate } from "./certificate.ts";

/** Longest time for a TLS handshake. */
const HANDSHAKE_MS = 15_000;
/** A connection takes two descriptors, and its end at the HTTP listener a third; the rest is spare. */
const FREE_DESCRIPTORS = 8;
const MAX_CONNECTIONS = 10_000;

type Address = { host: string; port: number };

/** Tells the HTTP listener who the client of a connection is, until the returned function is called. */
export type KeepPeer = (end: { address: string; port: number }, client: string) => () => void;

export type HttpsListener = {
  /** Resolves to the port. Rejects with ConfigError. */
  listen(address: Address): Promise<number>;
  /** Shows this certificate to new connections. */
  useCertificate(certificate: Certificate): void;
  /** Accepts no more connections. Open connections end with the HTTP listener. */
  stop(): void;
};

export function createHttpsListener(deps: {
  certificate: Certificate;
  /** Where the HTTP listener of this process is. */
  target: Address;
  keepPeer: KeepPeer;
  clock: Pick<Clock, "after">;
  /** Whether many clients come from an address, as from that of a proxy. */
  isShared: (address: string) => boolean;
  /** Connections of one IPv4 address or IPv6 /64 at the same time, unless the address is shared. */
  maxPerNetwork: number;
}): HttpsListener {
  const { target, keepPeer, clock, isShared, maxPerNetwork } = deps;
  let context: SecureContext = createSecureContext(deps.certificate);
  const openOf = new Map<string, number>();
  let openCount = 0;

  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    const { remoteAddress = "" } = socket;
    if (!mayOpen(remoteAddress)) {
      socket.destroy();
      return;
    }
    count(clientNetwork(remoteAddress), 1);
    socket.once("close", () => count(clientNetwork(remoteAddress), -1));
    shake(socket);
  });

  function mayOpen(address: string): boolean {
    if (openCount >= MAX_CONNECTIONS || !hasFreeDescriptors(FREE_DESCRIPTORS)) return false;
    const ofNetwork = openOf.get(clientNetwork(address)) ?? 0;
    return ofNetwork < maxPerNetwork || isShared(address);
  }

  function count(network: string, by: 1 | -1): void {
    openCount += by;
    const ofNetwork = (openOf.get(network) ?? 0) + by;
    if (ofNetwork === 0) openOf.delete(network);
    else openOf.set(network, ofNetwork);
  }

  function shake(socket: Socket): void {
    const secure = new TLSSocket(socket, { isServer: true, secureContext: context });
    const cancel = clock.after(HANDSHAKE_MS, () => socket.destroy());
    secure.on("error", () => socket.destroy());
    secure.on("close", () => {
      cancel();
      socket.destroy();
    });
    secure.once("secure", () => {
      cancel();
      relay(secure, { target, keepPeer, client: socket.remoteAddress ?? "" });
    });
  }

  return {
    listen(address) {
      return new Promise((resolve, reject) => {
        server.once("error", (error) => reject(cannotListen(address, "--https HOST:PORT", error)));
        server.listen(address.port, address.host, () => {
          const bound = server.address();
          resolve(typeof bound === "object" && bound !== null ? bound.port : address.port);
        });
      });
    },
    useCertificate(certificate) {
      context = createSecureContext(certificate);
    },
    stop() {
      server.close();
    },
  };
}

/** Passes bytes on in both directions; each side waits while the other cannot take more. */
function relay(
  secure: TLSSocket,
  { target, keepPeer, client }: { target: Address; keepPeer: KeepPeer; client: string },
): void {
  const inner = connect(target);
  inner.once("connect", () => {
    inner.setNoDelay(true);
    const { localAddress: address = "", localPort: port = 0 } = inner;
    const forget = keepPeer({ address, port }, client);
    inner.once("close", forget);
    secure.pipe(inner);
    inner.pipe(secure);
  });
  inner.on("error", () => secure.destroy());
  inner.once("close", () => secure.destroySoon());
  secure.once("close", () => inner.destroy());
}
