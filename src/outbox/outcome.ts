/**
 * The types that the transports and the rest of the outbox share: a slot for a mail, and the outcome
 * of an attempt. From a reply to a row there are four types:
 *
 * 1. `Reply` or `Failure` (protocols/smtp): the answer of a server, or the reason why there is none.
 * 2. `HostResult` (protocols/smtp/decision.ts): how the delivery to one host ended.
 * 3. `Outcome`: the decision of the transport. `Verdict` adds the mails that are not wanted any more.
 * 4. `Transition` (record.ts): the columns and events that are stored.
 */

import type { Conversation } from "../protocols/smtp/conversation.ts";
import type { Relay } from "../protocols/smtp/relay-url.ts";
import type { ReplyClass } from "../protocols/smtp/reply-classes.ts";
import type { MailObject } from "../protocols/smtp/stream.ts";

/**
 * The decision about a mail. `reason` is one line for people, with the reply code if there was a
 * reply.
 *
 * - accepted: the next hop took responsibility (250 to the final dot). `final` is true if that hop
 *   is the recipient's own MX. `captured` is the message if the transport stores it.
 * - deferred: a temporary failure. `retryAfterMs` is set only if the reply named a time, or if the
 *   only relay is known to be down for that long. `notAttempted` is set if the mail got no slot:
 *   this is not an attempt. `isSenderRefused` is set if the server will refuse each mail of this
 *   sender until a person changes something.
 * - bounced: the remote side refuses permanently.
 * - failed: this side cannot send the mail, permanently.
 */
export type Decision =
  | { kind: "accepted"; class: "accepted"; reason: string; final: boolean; captured?: Uint8Array }
  | {
      kind: "deferred";
      class: ReplyClass;
      reason: string;
      retryAfterMs?: number;
      notAttempted?: Busy;
      isSenderRefused?: true;
    }
  | { kind: "bounced"; class: ReplyClass; reason: string }
  | { kind: "failed"; class: ReplyClass; reason: string };

/** The decision with the conversations that led to it. */
export type Outcome = Decision & { conversations: Conversation[] };

/** The outcome of the transport, or `suppressed` or `cancelled` if the mail is not wanted any more. */
export type Verdict =
  Outcome | { kind: "suppressed"; reason: string } | { kind: "cancelled"; reason: string };

/**
 * The reason why a mail got no slot. It was not attempted.
 * - full: all slots are in use. `retryAfterMs` is an estimate of when one is released.
 * - paused: no mail gets a slot before `retryAfterMs` is over.
 */
export type Busy = {
  kind: "busy";
  why: "full" | "paused";
  retryAfterMs: number;
  /** All mails of a wait list wait for the same slots; null if the whole capacity is in use. */
  waitList: string | null;
  /** Set if all mail of a route waits (`Transport.routeOf`). */
  route?: string;
  /** For people. */
  reason: string;
};

/** The mail goes back to the queue: it is sent when its campaign is resumed, or cancelled with it. */
export const WITHDRAWN: Busy = {
  kind: "busy",
  why: "paused",
  retryAfterMs: 0,
  waitList: null,
  reason: "it was withdrawn before its transaction",
};

/** The reason why no mail of a wait list is sent at this moment. */
export type Hold = {
  /**
   * The side that takes no mail: one receiving site, the only relay, which cannot be reached, or our
   * account there, which may not send.
   */
  at: "site" | "relay" | "account";
  /** Name of the site, or `host:port` of the relay. */
  name: string;
  /** For people. */
  reason: string;
  /** Milliseconds until the next mail is tried. */
  retryAfterMs: number;
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
  /** A second wait list whose mails can use the slot when it is released. */
  readonly secondWaitList?: string | null;
  /** The relay by which the mail leaves, if it is another one than that of --relay-url. */
  readonly relay?: Relay;
  /** The route of the mail, if it has limits of its own (`Transport.routeOf`). */
  readonly route?: string;
  /** Releases the slot; further calls do nothing. */
  release(): void;
};

/** A mail for a transport, which calls exactly one of the functions, once. */
export type Outgoing<S extends Slot = Slot> = MailObject & {
  /** The transport gets a slot itself if none is given; without one, the outcome has `notAttempted`. */
  readonly slot: S | null;
  end(outcome: Outcome): void;
  /** A defect of this program. A failure of the network is an outcome. */
  fail(error: unknown): void;
};

/** The facts about a mail of the queue on which its slot depends. */
export type AdmittedMail = {
  seq: number;
  projectSeq: number;
  /** Attempts before this one. */
  attempts: number;
};

/** The route of all projects that have none of their own. */
export const COMMON_ROUTE = "";

/** The way by which mail leaves. */
export type Transport<S extends Slot = Slot> = {
  readonly name: "capture" | "relay" | "direct";
  /** Largest number of mails under way while none of them waits at a slow server. */
  readonly concurrency: number;
  /** The same with the mails that wait at slow servers; `concurrency` if absent. */
  readonly maxUnderWay?: number;
  /**
   * Returns a slot for one mail to this address, without I/O. An urgent mail may take the slot of a mail
   * that waits for the pace. If absent, mails need no slot.
   */
  admit?(to: string, isUrgent: boolean, mail?: AdmittedMail): S | Busy;
  /**
   * The name of the route by which the mail of a project leaves. A route has limits of its own, so
   * that others do not wait for it. If absent, there is one route.
   */
  routeOf?(projectSeq: number): string;
  /**
   * The reason why no mail of a wait list is sent, or no mail of a project that is in it, without I/O over the
   * network; null if mail is sent.
   */
  holdOf?(waitList: string, projectSeq?: number): Hold | null;
  /** The reason why the first relay takes no mail while the fallback relay takes it; null if that is not so. */
  replacedHold?(): Hold | null;
  /**
   * Opens a session without a mail with each relay that cannot be reached, if its pause is over, so that its
   * return is known also while no mail is due.
   */
  probeRelays?(): void;
  /** Sends a mail. Many may be started at once: they leave as fast as the pace and the sessions allow. */
  start(mail: Outgoing<S>): void;
  /** Ends the mails that have not begun, without an attempt. */
  withdrawWaiting(): void;
  /** Sends QUIT on idle connections and closes the others. */
  close(): Promise<void>;
};

/** Sends a single mail that is not in the queue. */
export function sendOne(transport: Pick<Transport, "start">, object: MailObject): Promise<Outcome> {
  return new Promise((end, fail) => transport.start({ ...object, slot: null, end, fail }));
}
