/** What an attempt to deliver one mail ended in, and the wire conversation that led there. */

import type { ReplyClass, SmtpStep } from "../mail/reply-classes.ts";

/** One step of an SMTP session, timed (delivery rule R4). Secrets never appear in `command`. */
export type Step = {
  step: SmtpStep;
  /** What was sent, without line end and secrets; null where nothing is sent. */
  command: string | null;
  /** Basic reply code (RFC 5321 §4.2), null if no complete reply came. */
  code: number | null;
  /** Enhanced status code `x.y.z` (RFC 3463), null if none. */
  enhanced: string | null;
  /** Reply text, or what went wrong; at most 1,024 characters. */
  text: string;
  ms: number;
};

export type TlsInfo = { version: string; cipher: string; verified: boolean };

/** One session with one host, as far as this mail saw it. */
export type Conversation = {
  host: string;
  address: string | null;
  port: number;
  tls: TlsInfo | null;
  /** True if an already open connection was used; then connect..ehlo are missing. */
  reused: boolean;
  steps: Step[];
};

/** Told about each step at its end; `conversation` is as far as it has come. */
export type StepListener = (step: Step, conversation: Conversation) => void;

type Ended = {
  /** One line for people: what happened, with reply code where there was one. */
  reason: string;
  conversations: Conversation[];
};

/**
 * - accepted: the next hop took responsibility (250 to the final dot). `final` if that hop is the
 *   recipient's own MX. `captured` carries the message where the transport keeps it.
 * - deferred: try again later; `retryAfterMs` only where the reply named a time.
 * - bounced: the remote side refuses for good.
 * - failed: we ourselves cannot send it, for good.
 */
export type Outcome =
  | (Ended & { kind: "accepted"; class: "accepted"; final: boolean; captured?: Uint8Array })
  | (Ended & { kind: "deferred"; class: ReplyClass; retryAfterMs?: number })
  | (Ended & { kind: "bounced"; class: ReplyClass })
  | (Ended & { kind: "failed"; class: ReplyClass });

/** What goes to a transport: SMTP envelope (RFC 5321 §2.3.1) and the finished message. */
export type Dispatch = {
  envelope: { from: string; to: string };
  /** The message as sent, CRLF line ends, no dot-stuffing. */
  message: Uint8Array;
  /**
   * Runs the transaction when the mail's turn has come. To be called when nothing else is left to
   * wait for, on an open session: the pace is that of arrivals. Absent: it is its turn.
   */
  leave?: Leave | undefined;
};

export type Leave = <T>(transact: () => Promise<T>) => Promise<T>;

/** A way out of the house. `send` never rejects for what the network does: that is an outcome. */
export type Transport = {
  readonly name: "capture" | "relay" | "direct";
  /** How many mails it takes at once. */
  readonly concurrency: number;
  send(dispatch: Dispatch): Promise<Outcome>;
  /** Sends QUIT on idle connections and drops what is still open. */
  close(): Promise<void>;
};
