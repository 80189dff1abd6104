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
/**
 * Time in which the receiver of waiting bytes must take some of them. It is checked once per period, so a
 * connection without progress ends after one to two periods.
 */
const PROGRESS_PERIOD_MS = 60_000;
/**
 * Most bytes of one write. A write counts as taken when all its bytes are, and a read returns up to
 * 512 KiB: a slow client would need more than a minute for these.
 */
const MAX_WRITE_BYTES = 64 * 1024;

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
  /** The certificate of a host that has one of its own (SNI, RFC 6066 §3); null for all others. */
  contextOf?: (host: string) => SecureContext | null;
  /** The address of the HTTP listener of this process. */
  target: Address;
  keepPeer: KeepPeer;
  clock: Pick<Clock, "after">;
  /** Whether many clients come from an address, as from that of a proxy. */
  isShared: (address: string) => boolean;
  /** Connections of one IPv4 address or IPv6 /64 at the same time, unless the address is shared. */
  maxPerNetwork: number;
}): HttpsListener {
  const { target, keepPeer, clock, isShared, maxPerNetwork, contextOf = () => null } = deps;
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
    const secure = new TLSSocket(socket, {
      isServer: true,
      secureContext: context,
      SNICallback: (host, answer) => answer(null, contextOf(host.toLowerCase()) ?? undefined),
    });
    const cancel = clock.after(HANDSHAKE_MS, () => socket.destroy());
    secure.on("error", () => socket.destroy());
    secure.on("close", () => {
      cancel();
      socket.destroy();
    });
    secure.once("secure", () => {
      cancel();
      relay(secure, { target, keepPeer, clock, client: socket.remoteAddress ?? "" });
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

/**
 * Passes bytes on in both directions; each side waits while the other cannot take more. A side that waits
 * does not see that its peer has closed the connection, so a relay without progress is ended here.
 */
function relay(
  secure: TLSSocket,
  options: {
    target: Address;
    keepPeer: KeepPeer;
    clock: Pick<Clock, "after">;
    client: string;
  },
): void {
  const { target, keepPeer, clock, client } = options;
  const inner = connect(target);
  inner.once("connect", () => {
    inner.setNoDelay(true);
    const { localAddress: address = "", localPort: port = 0 } = inner;
    const forget = keepPeer({ address, port }, client);
    inner.once("close", forget);
    passOn(secure, inner);
    passOn(inner, secure);
  });
  inner.on("error", () => secure.destroy());
  inner.once("close", () => secure.destroySoon());

  const checks = [watchProgress(secure, inner), watchProgress(inner, secure)];
  let cancelCheck = clock.after(PROGRESS_PERIOD_MS, check);
  function check(): void {
    // Each check must run, because it keeps the state for the next one.
    const results = checks.map((isStalled) => isStalled());
    if (results.includes(true)) secure.destroy();
    else cancelCheck = clock.after(PROGRESS_PERIOD_MS, check);
  }
  secure.once("close", () => {
    cancelCheck();
    inner.destroy();
  });
}

/** Writes the bytes from one socket to another, and ends it after the last. */
function passOn(from: Socket, to: Socket): void {
  from.on("data", (bytes: Buffer) => {
    for (let at = 0; at < bytes.length; at += MAX_WRITE_BYTES) {
      to.write(bytes.subarray(at, at + MAX_WRITE_BYTES));
    }
    if (to.writableNeedDrain) from.pause();
  });
  to.on("drain", () => from.resume());
  from.once("end", () => to.end());
}

/**
 * The returned function tells whether bytes have waited since its last call, and none was taken. An idle
 * connection has no bytes that wait.
 */
function watchProgress(from: Socket, to: Socket): () => boolean {
  let takenBefore: number | null = null;
  return () => {
    const taken = from.bytesRead - from.readableLength - to.writableLength;
    const isStalled = to.writableLength > 0 && taken === takenBefore;
    takenBefore = to.writableLength > 0 ? taken : null;
    return isStalled;
  };
}
