/**
 * One attempt is a list of steps, each of which may end it: is the mail still wanted? → did it get
 * a slot? → is the sender still verified? → its message (render → compose → sign) → transport. It
 * writes no row: it returns a verdict, which `settle` stores.
 */

import { isAscii } from "node:buffer";
import type { Callbacks } from "../lib/callbacks.ts";
import { domainOf } from "../protocols/mime/address.ts";
import type { Dispatch, WhenAllowed } from "../protocols/smtp/dispatch.ts";
import type { Composer } from "./compose/composer.ts";
import type { Prepared } from "./compose/prepare.ts";
import type { LeasedMail } from "./lease-rows.ts";
import {
  type Busy,
  type Outcome,
  type Slot,
  type Transport,
  deferWithoutSlot,
  WITHDRAWN,
  Withdrawn,
} from "./outcome.ts";

/**
 * The outcome of the transport, or `suppressed` or `cancelled` if the mail is not wanted any more.
 */
export type Verdict =
  | (Outcome & {
      /**
       * The rendered subject of campaign mail, whose row has the template until the mail is sent.
       */
      subject?: string;
    })
  | { kind: "suppressed"; reason: string }
  | { kind: "cancelled"; reason: string };

type PreparedMessage = Extract<Prepared, { kind: "prepared" }>;

type AttemptDeps = {
  /** Renders, composes and signs the message of a mail. */
  composer: Pick<Composer, "prepare" | "release">;
  transport: Transport;
  isSenderVerified: (projectSeq: number, domain: string) => boolean;
  isCampaignSending: (campaignSeq: number) => boolean;
  /** The address to which bounces are sent (docs/delivery.md#C5). */
  returnPathOf: (mail: LeasedMail) => string;
};

export type Attempt = (mail: LeasedMail, leave: WhenAllowed, answer: Callbacks<Verdict>) => void;

/** A disabled project has no flow, so the mail is not polled before the project is enabled. */
const DISABLED: Busy = {
  kind: "busy",
  why: "paused",
  retryAfterMs: 60_000,
  waitList: null,
  reason: "the project is disabled",
};

export function createAttempt(deps: AttemptDeps): Attempt {
  return function attempt(mail, leave, answer) {
    const ended = whyUnwanted(mail) ?? whyWithoutSlot(mail) ?? whyBlocked(mail);
    if (ended !== null) return answer.resolve(ended);
    const envelope = { from: mail.envelopeFrom ?? deps.returnPathOf(mail), to: mail.to ?? "" };
    deps.composer.prepare(mail, {
      resolve(prepared) {
        if (prepared.kind === "prepared") send(mail, { envelope, prepared, leave, answer });
        else answer.resolve(unprepared(prepared));
      },
      reject: answer.reject,
    });
  };

  function send(
    mail: LeasedMail,
    parts: {
      envelope: Dispatch["envelope"];
      prepared: PreparedMessage;
      leave: WhenAllowed;
      answer: Callbacks<Verdict>;
    },
  ): void {
    const { envelope, leave, answer } = parts;
    const { message, subject } = parts.prepared;
    const dispatch = {
      envelope,
      message,
      // All other messages are encoded in seven bits.
      isEightBit: mail.envelopeFrom !== null && !isAscii(message),
      whenAllowed: unlessWithdrawn(mail, leave),
      isUrgent: mail.campaignSeq === null,
    };
    let isReleased = false;
    const release = () => {
      if (!isReleased) deps.composer.release(mail, message);
      isReleased = true;
    };
    const reject = (error: unknown) => {
      release();
      if (error instanceof Withdrawn) answer.resolve(deferWithoutSlot(WITHDRAWN));
      else answer.reject(error);
    };
    const resolve = (outcome: Outcome) => {
      release();
      answer.resolve(mail.campaignSeq === null ? outcome : { ...outcome, subject });
    };
    try {
      sendOver(deps.transport, dispatch, mail.slot, { resolve, reject });
    } catch (error) {
      reject(error);
    }
  }

  /** A campaign may be stopped while its prepared mail waits for the pace. */
  function unlessWithdrawn({ campaignSeq }: LeasedMail, leave: WhenAllowed): WhenAllowed {
    if (campaignSeq === null) return leave;
    const whyRefused = (): unknown => {
      try {
        return deps.isCampaignSending(campaignSeq) ? null : new Withdrawn();
      } catch (error) {
        return error;
      }
    };
    return (begin, refuse) =>
      leave((ended) => {
        const error = whyRefused();
        if (error === null) return begin(ended);
        ended();
        refuse(error);
      }, refuse);
  }

  function whyUnwanted(mail: LeasedMail): Verdict | null {
    if (mail.to === null) return { kind: "cancelled", reason: "The contact was deleted." };
    if (mail.suppression !== null) return { kind: "suppressed", reason: mail.suppression };
    if (mail.isMarketing && !mail.isSubscribed && !mail.isTest) {
      return { kind: "cancelled", reason: "The recipient is not subscribed any more." };
    }
    return null;
  }

  /** Problems that the operator can fix: the mail waits until then. */
  function whyBlocked(mail: LeasedMail): Verdict | null {
    if (!mail.isProjectEnabled) return deferWithoutSlot(DISABLED);
    // A forwarded message has the From of its author, and captured mail does not leave.
    if (mail.envelopeFrom !== null || deps.transport.name === "capture") return null;
    const domain = domainOf(mail.fromAddress);
    if (deps.isSenderVerified(mail.projectSeq, domain)) return null;
    return deferred(`The sender's domain ${domain} is not verified any more.`);
  }
}

/** Uses `start` of the transport if it has one, otherwise `send`. */
function sendOver(
  transport: Transport,
  dispatch: Dispatch,
  slot: Slot | null,
  answer: Callbacks<Outcome>,
): void {
  if (transport.start !== undefined) transport.start(dispatch, slot ?? undefined, answer);
  else transport.send(dispatch, slot ?? undefined).then(answer.resolve, answer.reject);
}

/** The mail got no slot before its lifetime ended. */
function whyWithoutSlot({ busy }: LeasedMail): Verdict | null {
  return busy === null ? null : deferWithoutSlot(busy);
}

function unprepared(prepared: Exclude<Prepared | Busy, { kind: "prepared" }>): Verdict {
  if (prepared.kind === "busy") return deferWithoutSlot(prepared);
  return prepared.kind === "failed" ? failed(prepared.reason) : deferred(prepared.reason);
}

function failed(reason: string): Verdict {
  return { kind: "failed", class: "content", reason, conversations: [] };
}

function deferred(reason: string): Verdict {
  return { kind: "deferred", class: "infrastructure", reason, conversations: [] };
}
