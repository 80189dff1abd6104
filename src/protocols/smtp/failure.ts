/** The failures of an SMTP session: by a reply of the server, or by a fault without a reply. */

import type { Step } from "./conversation.ts";
import { quoteReply, type ProtocolFault, type Reply } from "./reply.ts";

/**
 * - dns: the host has no address, or the look-up failed.
 * - address: connecting to the address is not allowed (docs/delivery.md#W6).
 * - unroutable: this machine, or its source address, has no route to the address.
 * - network: refused, unreachable, reset.
 * - timeout: no answer within the time limit.
 * - closed: the server or this process closed the connection.
 * - protocol: the server sent something that is not SMTP.
 * - tls: the handshake failed, or a required verification of the certificate did.
 * - auth: no common mechanism, or no encryption for the password.
 */
export type Fault =
  | ProtocolFault
  | {
      kind: "dns" | "address" | "unroutable" | "network" | "timeout" | "closed" | "tls" | "auth";
      message: string;
    };

/** The fault of a connection that this process closed. */
export const CLOSED: Fault = { kind: "closed", message: "we closed the connection" };

/** The step at which a session failed, and the cause. */
export type Failure = { step: Step["step"]; cause: Reply | Fault };

/** Describes a failure on one line. */
export function describeFailure(failure: Failure): string {
  const { step, cause } = failure;
  return cause.kind === "reply"
    ? `${step} was answered ${quoteReply(cause)}`
    : `${step}: ${cause.message}`;
}

const SOCKET_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset by the server",
  EPIPE: "the server closed the connection while data was being sent",
  ETIMEDOUT: "the connection timed out",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "no route to the network",
  EADDRNOTAVAIL: "the local address is not available",
  ENOTFOUND: "no such host",
  EAI_AGAIN: "the name servers did not answer",
};

/** Errors that are caused by this machine, not by the other one. */
const LOCAL_ERRORS: ReadonlySet<string> = new Set([
  "EADDRNOTAVAIL",
  "EAFNOSUPPORT",
  "EINVAL",
  "ENETUNREACH",
]);

/** Converts a socket error to a fault. */
export function networkFault(error: unknown): Fault {
  const kind = LOCAL_ERRORS.has(codeOf(error)) ? "unroutable" : "network";
  return { kind, message: describeSocketError(error) };
}

/** Describes an error of the operating system, in plain words for the common ones. */
export function describeSocketError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = codeOf(error);
  const words = SOCKET_ERRORS[code];
  return words === undefined ? error.message : `${words} (${code})`;
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error) || !("code" in error)) return "";
  return typeof error.code === "string" ? error.code : "";
}
