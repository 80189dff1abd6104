/** How an SMTP session can fail: the server says so in a reply, or something breaks without one. */

import type { Step } from "../outcome.ts";
import { quoteReply, type ProtocolFault, type Reply } from "./reply.ts";

/**
 * - dns: the host has no address, or nobody could be asked.
 * - address: the address is not to be dialled (delivery rule W6).
 * - network: refused, unreachable, reset.
 * - timeout: nothing came in time.
 * - closed: the server, or we ourselves, ended the connection.
 * - protocol: what came is not SMTP.
 * - tls: no handshake, or a certificate that does not verify although it must.
 * - auth: no mechanism in common, or no protection for the secret.
 */
export type Fault =
  | ProtocolFault
  | {
      kind: "dns" | "address" | "network" | "timeout" | "closed" | "tls" | "auth";
      message: string;
    };

/** A session that went no further than `step`, and why. */
export type Failure = { step: Step["step"]; cause: Reply | Fault };

/** One line for people. */
export function describeFailure(failure: Failure): string {
  const { step, cause } = failure;
  return cause.kind === "reply"
    ? `${step} was answered ${quoteReply(cause)}`
    : `${step}: ${cause.message}`;
}

const SOCKET_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset by the server",
  EPIPE: "the server closed the connection while we were sending",
  ETIMEDOUT: "the network gave up on the connection",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "no route to the network",
  EADDRNOTAVAIL: "the local address is not available",
  ENOTFOUND: "no such host",
  EAI_AGAIN: "the name servers did not answer",
};

/** What the operating system's error says, in words where we have better ones. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const words = SOCKET_ERRORS[code];
  return words === undefined ? error.message : `${words} (${code})`;
}
