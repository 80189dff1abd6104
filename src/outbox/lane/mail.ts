/**
 * A leased mail on its way: the same object is composed, sent by the transport, and settled. Here are
 * also the reasons for which a leased mail is not sent.
 */

import { isAscii } from "node:buffer";
import { isoTime } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { domainOf } from "../../protocols/mime/address.ts";
import type { Prepared } from "../compose/prepare.ts";
import type { IdFields } from "../id-field.ts";
import {
  type Busy,
  deferWithoutSlot,
  type Outcome,
  type Outgoing,
  type Slot,
  type Verdict,
} from "../outcome.ts";
import type { CountedMail } from "./capacity.ts";
import type { LeasedMail } from "./rows.ts";

/** The lane is told of each step of a mail. */
type LaneMailEvents = {
  /** True if the mail may leave at this moment: then its transaction begins. */
  begins(mail: LaneMail): boolean;
  /** The mail waits for nothing but its turn. */
  isReady(mail: LaneMail): void;
  /** The mail has its verdict. */
  ended(mail: LaneMail): void;
  /** A defect of this program ended the mail. */
  failed(mail: LaneMail, error: unknown): void;
};

const NO_MESSAGE = new Uint8Array();

export class LaneMail implements Outgoing, CountedMail {
  readonly leased: LeasedMail;
  envelope: { readonly from: string; readonly to: string };
  readonly leasedMs: number;
  readonly #events: LaneMailEvents;
  message: Uint8Array = NO_MESSAGE;
  hasTailroom = false;
  isPrepared = false;
  /** True if the lease is on disk: without it, the mail must not be sent. */
  isDurable = false;
  /** True if the transport has it. */
  isGiven = false;
  hasBegun = false;
  verdict: Verdict | null = null;
  /** The rendered subject of campaign mail, whose row has the template until the mail is sent. */
  subject: string | null = null;
  /** The beginning of the transaction; of the lease, if there was no transaction. */
  startedAt: number;
  startedMs: number;
  endedMs = 0;
  /** "server" also while its message is made: until the transport says "turn". */
  #waitsFor: "turn" | "server" = "server";

  constructor(
    leased: LeasedMail,
    options: { events: LaneMailEvents; now: number; elapsedMs: number },
  ) {
    this.leased = leased;
    this.#events = options.events;
    this.envelope = { from: leased.envelopeFrom ?? "", to: leased.to ?? "" };
    this.leasedMs = options.elapsedMs;
    this.startedMs = options.elapsedMs;
    this.startedAt = options.now;
  }

  get slot(): Slot | null {
    return this.leased.slot;
  }

  get isApart(): boolean {
    return this.leased.slot?.route !== undefined;
  }

  get isUrgent(): boolean {
    return this.leased.campaignSeq === null;
  }

  /** All messages but forwarded ones are encoded in seven bits. */
  get isEightBit(): boolean {
    return this.leased.envelopeFrom !== null && !isAscii(this.message);
  }

  get waitsFor(): "turn" | "server" {
    return this.#waitsFor;
  }

  set waitsFor(value: "turn" | "server") {
    const isReady = this.#waitsFor === "server" && value === "turn";
    this.#waitsFor = value;
    if (isReady) this.#events.isReady(this);
  }

  /** To be called before the mail is sent. A forwarded message keeps the sender of its envelope. */
  setReturnPath(returnPath: string): void {
    const { envelopeFrom, to } = this.leased;
    if (envelopeFrom === null) this.envelope = { from: returnPath, to: to ?? "" };
  }

  setMessage(prepared: PreparedMessage, idFields?: IdFields): void {
    const { id, slot } = this.leased;
    const addIdField = slot?.relay === undefined ? idFields?.common : idFields?.of(slot.relay);
    const { message, subject, hasTailroom } = addIdField?.(prepared, id) ?? prepared;
    this.message = message;
    this.hasTailroom = hasTailroom;
    this.subject = this.isUrgent ? null : subject;
    this.isPrepared = true;
  }

  /** A defect ends the mail, so that its session can go on. */
  begin(): boolean {
    try {
      return this.#events.begins(this);
    } catch (error) {
      this.fail(error);
      return false;
    }
  }

  /** The first end counts: after a defect, the rest of the attempt may end as well. */
  end(verdict: Verdict): void {
    if (this.verdict !== null) return;
    this.verdict = verdict;
    this.#events.ended(this);
  }

  fail(error: unknown): void {
    if (this.verdict === null) this.#events.failed(this, error);
  }
}

export type PreparedMessage = Extract<Prepared, { kind: "prepared" }>;

/** A disabled project has no flow, so the mail is not polled before the project is enabled. */
const DISABLED: Busy = {
  kind: "busy",
  why: "paused",
  retryAfterMs: 60_000,
  waitList: null,
  reason: "the project is disabled",
};

/** The outcome of a mail that is not wanted any more, or has no slot; null for one to send. */
export function whyNotSent(
  mail: LeasedMail,
  isSenderVerified: (projectSeq: number, domain: string) => boolean,
  now: number,
): Verdict | null {
  if (mail.to === null) return { kind: "cancelled", reason: "The contact was deleted." };
  if (mail.suppression !== null) return { kind: "suppressed", reason: mail.suppression };
  const unwanted = mail.isMarketing && !mail.isTest ? whyUnwanted(mail, now) : null;
  if (unwanted !== null) return { kind: "cancelled", reason: unwanted };
  // The mail got no slot before its lifetime ended.
  if (mail.busy !== null) return deferWithoutSlot(mail.busy);
  // Problems that the operator can fix: the mail waits until then.
  if (!mail.isProjectEnabled) return deferWithoutSlot(DISABLED);
  // A forwarded message has the From of its author.
  if (mail.envelopeFrom !== null) return null;
  const domain = domainOf(mail.fromAddress);
  if (isSenderVerified(mail.projectSeq, domain)) return null;
  return deferred(`The sender's domain ${domain} is not verified any more.`);
}

/** The reason why the recipient of a marketing mail may not get it any more; null if it may. */
function whyUnwanted(mail: LeasedMail, now: number): string | null {
  if (!mail.isSubscribed) return "The recipient is not subscribed any more.";
  if (!mail.isInTopic) {
    return mail.topicName === null
      ? "The topic of the mail was deleted."
      : `The recipient is not in the topic “${mail.topicName}” any more.`;
  }
  const { pausedUntil } = mail;
  if (pausedUntil === null || pausedUntil <= now) return null;
  return `The recipient has paused marketing mail until ${isoTime(pausedUntil)}.`;
}

/** The outcome of a mail whose message was not made. */
export function unprepared(prepared: Exclude<Prepared | Busy, { kind: "prepared" }>): Outcome {
  if (prepared.kind === "busy") return deferWithoutSlot(prepared);
  if (prepared.kind === "deferred") return deferred(prepared.reason);
  return { kind: "failed", class: "content", reason: prepared.reason, conversations: [] };
}

export function deferred(reason: string): Outcome {
  return { kind: "deferred", class: "infrastructure", reason, conversations: [] };
}

/** True for failures that the operator has to fix, not the recipient (docs/delivery.md#R2). */
function needsOperator(verdict: Verdict): boolean {
  if (!("class" in verdict)) return false;
  return ["reputation", "authentication", "infrastructure"].includes(verdict.class);
}

/** Logs the stored outcome of a mail. `isOurs` is false if its lease was lost meanwhile. */
export function logOutcome(
  log: Log,
  mailed: { mail: LaneMail; verdict: Verdict; isOurs: boolean; see: () => string },
): void {
  const { mail, verdict, isOurs, see } = mailed;
  const { id, attempts, to, subject } = mail.leased;
  const fields = {
    email: id,
    attempt: attempts,
    outcome: verdict.kind,
    ms: Math.round(mail.endedMs - mail.startedMs),
    ...(verdict.kind === "accepted" ? {} : { reason: verdict.reason }),
  };
  if (!isOurs) log.warn("the outcome came after its lease was lost", fields);
  else if (needsOperator(verdict)) log.warn("delivery needs attention", { ...fields, see: see() });
  else log.debug("delivery", fields);
  const isCaptured = verdict.kind === "accepted" && verdict.captured !== undefined;
  if (isOurs && isCaptured) log.info("a mail was captured", { to, subject, see: see() });
}
