/**
 * The types that a transport and the rest of delivery share: a slot for a mail, the mail as it is
 * handed over, the outcome of an attempt, and the SMTP conversation that led to the outcome.
 */

import type { ReplyClass, SmtpStep } from "../mail/reply-classes.ts";

/** One step of an SMTP session, with its time (docs/delivery.md#R4). `command` has no secrets. */
export type Step = {
  step: SmtpStep;
  /** The command without line end and secrets; null if the step sends nothing. */
  command: string | null;
  /** Basic reply code (RFC 5321 §4.2); null if no complete reply came. */
  code: number | null;
  /** Enhanced status code `x.y.z` (RFC 3463); null if the reply has none. */
  enhanced: string | null;
  /** Text of the reply or of the error, at most 1,024 characters. */
  text: string;
  ms: number;
};

export type TlsInfo = { version: string; cipher: string; verified: boolean };

/** One session with one host: the part of it that belongs to this mail. */
export type Conversation = {
  host: string;
  address: string | null;
  port: number;
  tls: TlsInfo | null;
  /** True if the connection was already open; then the steps connect to ehlo are missing. */
  reused: boolean;
  steps: Step[];
};

/** Called at the end of each step; `conversation` contains the steps so far. */
export type StepListener = (step: Step, conversation: Conversation) => void;

type Ended = {
  /** One line for people, with the reply code if there was a reply. */
  reason: string;
  conversations: Conversation[];
};

/**
 * - accepted: the next hop took responsibility (250 to the final dot). `final` is true if that hop
 *   is the recipient's own MX. `captured` is the message if the transport stores it.
 * - deferred: a temporary failure. `retryAfterMs` is set only if the reply named a time, or if the
 *   only relay is known to be down for that long.
 * - bounced: the remote side refuses permanently.
 * - failed: this side cannot send the mail, permanently.
 */
export type Outcome =
  | (Ended & { kind: "accepted"; class: "accepted"; final: boolean; captured?: Uint8Array })
  | (Ended & {
      kind: "deferred";
      class: ReplyClass;
      retryAfterMs?: number;
      /** Set if the mail got no slot: this is not an attempt. */
      notAttempted?: Busy;
    })
  | (Ended & { kind: "bounced"; class: ReplyClass })
  | (Ended & { kind: "failed"; class: ReplyClass });

/** The input of a transport: SMTP envelope (RFC 5321 §2.3.1) and the finished message. */
export type Dispatch = {
  envelope: { from: string; to: string };
  /** The message with CRLF line ends, without dot-stuffing. */
  message: Uint8Array;
  /**
   * Runs the transaction when the pace allows it. The transport calls it on an open session, when
   * the transaction is all that is left to do, so that the pace limits the mails that arrive. If it
   * is absent, the transaction may run at once.
   */
  leave?: Leave | undefined;
  /** Aborted if other mail needs the connection: the session then fails at once. */
  signal?: AbortSignal | undefined;
};

/** Rejects with `Withdrawn`, before the transaction begins, if the mail must not be sent now. */
export type Leave = <T>(transact: () => Promise<T>) => Promise<T>;

/** The pace allowed the mail, but its campaign was stopped or this process is about to end. */
export class Withdrawn extends Error {
  constructor() {
    super("the mail was withdrawn before its transaction");
  }
}

/**
 * Why a mail got no slot. It was not attempted.
 * - full: all slots are in use. `retryAfterMs` is an estimate of when one is released.
 * - paused: no mail gets a slot before `retryAfterMs` is over.
 */
export type Busy = {
  kind: "busy";
  why: "full" | "paused";
  retryAfterMs: number;
  /** All mails of a wait list wait for the same slots; null if the whole capacity is in use. */
  waitList: string | null;
  /** For people. */
  reason: string;
};

/** The wait list for a share of the capacity, as opposed to the wait list of a site. */
export function shareWaitList(share: string): string {
  return `# ${share}`;
}

export function isShareWaitList(waitList: string): boolean {
  return waitList.startsWith("#");
}

/** The outcome of a mail that got no slot, with the code for congestion (RFC 3463 §3.5: X.4.5). */
export function deferWithoutSlot(busy: Busy): Outcome & { kind: "deferred" } {
  return {
    kind: "deferred",
    class: "rate_limited",
    reason: `4.4.5 not tried: ${busy.reason}`,
    retryAfterMs: busy.retryAfterMs,
    notAttempted: busy,
    conversations: [],
  };
}

/** The slot of one mail. Its holder must pass it to `send` or release it. */
export type Slot = {
  kind: "slot";
  /** The wait list that the mail would have joined without this slot, as far as known by now. */
  readonly waitList: string | null;
  /** A second wait list whose mails can use what this slot releases. */
  readonly secondWaitList?: string | null;
  /** Releases the slot; further calls do nothing. */
  release(): void;
};

/**
 * A route for outgoing mail. Network failures are outcomes: `send` never rejects because of them.
 */
export type Transport<S extends Slot = Slot> = {
  readonly name: "capture" | "relay" | "direct";
  /** Largest number of mails under way while none of them waits at a slow server. */
  readonly concurrency: number;
  /** The same with the mails that wait at slow servers; `concurrency` if absent. */
  readonly mostUnderWay?: number;
  /**
   * Largest number of mails to prefetch. It can be `concurrency` if each mail has its own slot. If
   * absent, fewer are prefetched, because prepared mails use the sessions that others need.
   */
  readonly mostAhead?: number;
  /** Returns a slot for one mail to this address, without I/O. If absent, mails need no slot. */
  admit?(to: string): S | Busy;
  /** Acquires a slot itself if none is given; without one, the outcome has `notAttempted`. */
  send(dispatch: Dispatch, slot?: S): Promise<Outcome>;
  /** Sends QUIT on idle connections and closes the others. */
  close(): Promise<void>;
};
