/** Reasons why a request of the guarded client has no response. */

/**
 * - invalid_url, scheme, port, credentials: the URL, or the URL of a redirect, is not allowed.
 * - invalid_request: the method or a header is not allowed.
 * - private_address: the host has no public address.
 * - too_many_redirects: there were more than five redirects.
 * - unresolvable: the host has no address, or the look-up failed.
 * - timeout: the request took too long.
 * - aborted: the caller aborted the request.
 * - tls: the certificate is not valid for this host, or the server has no TLS.
 * - network: no connection was made, or it ended before the response was complete.
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

/** A request without a response. The message is one line for the caller and contains no address. */
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

/** Returns the message of a field error for a URL that is not allowed. */
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
