/** Names of the steps of a session and of the classes of replies. */

/** The step of a session to which a reply belongs (RFC 5321 §3). */
export type SmtpStep =
  | "connect"
  | "tls"
  | "greeting"
  | "ehlo"
  | "helo"
  | "starttls"
  | "auth"
  | "mail"
  | "rcpt"
  | "data"
  | "dot"
  | "rset"
  | "quit";

/** Classes of outcomes (docs/delivery.md#R1). */
export type ReplyClass =
  | "accepted"
  | "greylisted"
  | "rate_limited"
  | "mailbox_full"
  | "temporary"
  | "no_such_recipient"
  | "content"
  | "policy"
  | "reputation"
  | "authentication"
  | "infrastructure";

/**
 * The subject of a refusal: the person or thing that the server refuses.
 * - recipient: the mailbox or the domain to which it goes.
 * - message: this message, or nothing that is known more precisely.
 * - sender: the address or the domain of the sender.
 * - account: everything that this installation sends over this server: its log-in, its quota, its
 *   IP address.
 * - site: the server itself, which is busy or has a fault.
 */
export type ReplySubject = "recipient" | "message" | "sender" | "account" | "site";
