/** Why a guarded request has no answer. */

/**
 * - invalid_url, scheme, port, credentials: the URL, or one that a redirect named, is not followed.
 * - invalid_request: a method or header that is not sent for others.
 * - private_address: none of the host's addresses belongs to the open internet.
 * - too_many_redirects: more than five.
 * - unresolvable: the host has no address, or nobody could say.
 * - timeout: the exchange was not over in time. aborted: the caller gave up.
 * - tls: no certificate for this host that a known authority vouches for, or no TLS at all.
 * - network: no connection, or it ended before the answer did.
 */
export type RefusalReason =
  | "invalid_url"
  | "scheme"
  | "port"
  | "credentials"
  | "invalid_request"
  | "private_address"
  | "too_many_redirects"
  | "unresolvable"
  | "timeout"
  | "aborted"
  | "tls"
  | "network";

const LASTING: readonly RefusalReason[] = [
  "invalid_url",
  "scheme",
  "port",
  "credentials",
  "invalid_request",
  "private_address",
  "too_many_redirects",
];

/** There is no answer. The message is one line for the caller and names no address of a network. */
export class FetchRefused extends Error {
  readonly reason: RefusalReason;
  /** Whether the same request may succeed later. */
  readonly isTemporary: boolean;

  constructor(reason: RefusalReason, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.name = "FetchRefused";
    this.reason = reason;
    this.isTemporary = !LASTING.includes(reason);
  }
}

/** Why a URL is refused before anything is sent to it, as the message of a field error. */
export function urlFault(reason: RefusalReason): string {
  switch (reason) {
    case "credentials":
      return "must not contain a user name or password";
    case "port":
      return "must use port 80, 443 or one from 1024 on";
    case "private_address":
      return "must not lead to a private, loopback or link-local address";
    default:
      return "must be an http or https URL such as https://hooks.example.com/mail";
  }
}
