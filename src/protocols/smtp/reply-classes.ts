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
