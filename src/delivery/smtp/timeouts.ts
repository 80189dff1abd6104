/** How long a session waits, step by step (RFC 5321 §4.5.3.2, delivery rule S2). */

export type Timeouts = {
  connectMs: number;
  /** A handshake is two round trips; no RFC names a time. */
  tlsMs: number;
  greetingMs: number;
  /** Instead of `greetingMs` while the session is hurried (opening.ts). */
  hurriedGreetingMs: number;
  /** EHLO, STARTTLS, AUTH, MAIL, RCPT. */
  commandMs: number;
  dataMs: number;
  /** For the network to take the next block of the message (RFC 5321 §4.5.3.2.5). */
  blockMs: number;
  dotMs: number;
  /** RSET and QUIT come when the outcome is known: only the connection is at stake. */
  resetMs: number;
  quitMs: number;
  /** Watchdog over each mail, however busy the server seems; opening counts for the first one. */
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
