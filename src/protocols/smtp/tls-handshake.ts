/** The TLS handshake of a connection: its options, its faults, and the check of the certificate. */

import net from "node:net";
import tls from "node:tls";
import type { TlsInfo } from "./conversation.ts";
import { CLOSED, describeSocketError, type Fault } from "./failure.ts";

export type Handshake = {
  /** Host name for SNI and for the verification of the certificate. */
  host: string;
  verify: boolean;
  /** PEM; trusted instead of the built-in authorities. */
  ca?: string | undefined;
};

/** Starts the handshake over an open connection. */
export function startHandshake(socket: net.Socket, { host, ca }: Handshake): tls.TLSSocket {
  return tls.connect({
    socket,
    host,
    // SNI contains a name, never an address (RFC 6066 §3).
    ...(net.isIP(host) === 0 && { servername: host }),
    ...(ca !== undefined && { ca }),
    minVersion: "TLSv1.2",
    rejectUnauthorized: false,
  });
}

/**
 * Checks the certificate after the handshake. The handshake itself accepts any certificate, so that
 * the conversation records whether it was valid.
 */
export function checkCertificate(
  socket: net.Socket | null,
  { host, verify }: Handshake,
): TlsInfo | Fault {
  if (!(socket instanceof tls.TLSSocket)) return CLOSED;
  if (verify && !socket.authorized) {
    const why = describeSocketError(socket.authorizationError);
    return { kind: "tls", message: `the certificate of ${host} does not verify: ${why}` };
  }
  return {
    version: socket.getProtocol() ?? "unknown",
    cipher: socket.getCipher().name,
    verified: socket.authorized,
  };
}

/** Any failure during the handshake is a TLS fault for the caller, except a timeout. */
export function asTlsFault(fault: Fault): Fault {
  return fault.kind === "network" || fault.kind === "closed" ? { ...fault, kind: "tls" } : fault;
}
