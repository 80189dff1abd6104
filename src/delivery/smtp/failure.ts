/** How an SMTP session can fail: the server says so in a reply, or something breaks without one. */

import type { Step } from "../outcome.ts";
import { quoteReply, type ProtocolFault, type Reply } from "./reply.ts";

/**
 * - dns: the host has no address, or nobody could be asked.
 * - address: the address is not to be dialled (delivery rule W6).
 * - unroutable: there is no way to the address from this machine, or from the address it is to use.
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
      kind: "dns" | "address" | "unroutable" | "network" | "timeout" | "closed" | "tls" | "auth";
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

/** Errors that say something about this machine and nothing about the other one. */
const LOCAL_ERRORS: ReadonlySet<string> = new Set([
  "EADDRNOTAVAIL",
  "EAFNOSUPPORT",
  "EINVAL",
  "ENETUNREACH",
]);

/** A socket's error as a fault. */
export function networkFault(error: unknown): Fault {
  const kind = LOCAL_ERRORS.has(codeOf(error)) ? "unroutable" : "network";
  return { kind, message: describeError(error) };
}

/** What the operating system's error says, in words where we have better ones. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = codeOf(error);
  const words = SOCKET_ERRORS[code];
  return words === undefined ? error.message : `${words} (${code})`;
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error) || !("code" in error)) return "";
  return typeof error.code === "string" ? error.code : "";
}
