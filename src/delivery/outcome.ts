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
 * - deferred: try again later; `retryAfterMs` only where the reply named a time, or where the only
 *   way out is closed for that long.
 * - bounced: the remote side refuses for good.
 * - failed: we ourselves cannot send it, for good.
 */
export type Outcome =
  | (Ended & { kind: "accepted"; class: "accepted"; final: boolean; captured?: Uint8Array })
  | (Ended & {
      kind: "deferred";
      class: ReplyClass;
      retryAfterMs?: number;
      /** It was turned back before anything was said about it: that is no attempt. */
      untried?: Busy;
    })
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
  /** Aborted when the connection is needed for other mail: the session ends at once, as failed. */
  signal?: AbortSignal | undefined;
};

/** Rejects with `Withdrawn`, before anything was said, where the mail is not to leave any more. */
export type Leave = <T>(transact: () => Promise<T>) => Promise<T>;

/** Its turn came, and its campaign does not send any more, or this process is about to end. */
export class Withdrawn extends Error {
  constructor() {
    super("the mail was withdrawn at its turn");
  }
}

/**
 * Not now, and nothing was tried.
 * - full: places come free as mails end; `retryAfterMs` says about when.
 * - paused: nobody gets in before `retryAfterMs` is over.
 */
export type Busy = {
  kind: "busy";
  why: "full" | "paused";
  retryAfterMs: number;
  /** Mails of one line wait for the same thing; null: for any place at all. */
  line: string | null;
  /** For people. */
  reason: string;
};

/** Lines of those who wait for a share of the whole house, not for a place at a site. */
export function shareLine(share: string): string {
  return `# ${share}`;
}

export function isShareLine(line: string): boolean {
  return line.startsWith("#");
}

/** The outcome of a mail for which there was no place. RFC 3463 §3.5: X.4.5, congestion. */
export function turnedBack(busy: Busy): Outcome & { kind: "deferred" } {
  return {
    kind: "deferred",
    class: "rate_limited",
    reason: `4.4.5 not tried: ${busy.reason}`,
    retryAfterMs: busy.retryAfterMs,
    untried: busy,
    conversations: [],
  };
}

/** One mail's place; whoever has it must give it to `send` or release it. */
export type Pass = {
  kind: "pass";
  /** The line that it would have had to join; as far as the way is known at this moment. */
  readonly line: string | null;
  /** A second line of mails that can leave when this one has ended. */
  readonly alsoFrees?: string | null;
  /** Gives the place back, once; nothing was tried. */
  release(): void;
};

/** A way out of the house. `send` never rejects for what the network does: that is an outcome. */
export type Transport<P extends Pass = Pass> = {
  readonly name: "capture" | "relay" | "direct";
  /** How many mails it takes at once, as long as none of them waits at a slow server. */
  readonly concurrency: number;
  /** The same with those that wait at slow servers; equal to `concurrency` if absent. */
  readonly mostUnderWay?: number;
  /**
   * How many may be made ready at once: all where each has a place of its own. Absent: fewer, as
   * those that are ready take the sessions of those that leave.
   */
  readonly mostAhead?: number;
  /**
   * A place for one mail to this address, or none, at once and from what is known. Absent: every
   * mail has one.
   */
  admit?(to: string): P | Busy;
  /** Without a pass it asks for one itself, and without a place the outcome is `untried`. */
  send(dispatch: Dispatch, pass?: P): Promise<Outcome>;
  /** Sends QUIT on idle connections and drops what is still open. */
  close(): Promise<void>;
};
