/** Timeouts of a session for each step (RFC 5321 §4.5.3.2, docs/delivery.md#S2). */

export type Timeouts = {
  connectMs: number;
  /** For the TLS handshake, for which no RFC names a timeout. */
  tlsMs: number;
  greetingMs: number;
  /** Replaces `greetingMs` while the session is hurried (opening.ts). */
  hurriedGreetingMs: number;
  /** For EHLO, STARTTLS, AUTH, MAIL and RCPT. */
  commandMs: number;
  dataMs: number;
  /** For sending one block of the message (RFC 5321 §4.5.3.2.5). */
  blockMs: number;
  dotMs: number;
  /** RSET and QUIT are short, because the outcome of the mail is already known. */
  resetMs: number;
  quitMs: number;
  /** Watchdog for a whole mail; for the first mail it includes the opening of the session. */
  totalMs: number;
};

export const DEFAULT_TIMEOUTS: Readonly<Timeouts> = {
  connectMs: 30_000,
  tlsMs: 60_000,
  greetingMs: 300_000,
  hurriedGreetingMs: 30_000,
  commandMs: 300_000,
  dataMs: 120_000,
  blockMs: 180_000,
  dotMs: 600_000,
  resetMs: 30_000,
  quitMs: 5_000,
  totalMs: 1_200_000,
};
