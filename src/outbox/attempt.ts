/**
 * One attempt is a list of steps, each of which may end it: is the mail still wanted? → did it get
 * a slot? → is the sender still verified? → its message (render → compose → sign) → transport. It
 * writes no row: it returns a verdict, which `settle` stores.
 */

import { isAscii } from "node:buffer";
import { domainOf } from "../protocols/mime/address.ts";
import type { Dispatch, WhenAllowed } from "../protocols/smtp/dispatch.ts";
import type { Composer } from "./compose/composer.ts";
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

type AttemptDeps = {
  /** Renders, composes and signs the message of a mail. */
  composer: Pick<Composer, "prepare" | "release">;
  transport: Transport;
  isSenderVerified: (projectSeq: number, domain: string) => boolean;
  isCampaignSending: (campaignSeq: number) => boolean;
  /** The address to which bounces are sent (docs/delivery.md#C5). */
  returnPathOf: (mail: LeasedMail) => string;
};

export type Attempt = (mail: LeasedMail, leave: WhenAllowed) => Promise<Verdict>;

/** A disabled project has no flow, so the mail is not polled before the project is enabled. */
const DISABLED: Busy = {
  kind: "busy",
  why: "paused",
  retryAfterMs: 60_000,
  waitList: null,
  reason: "the project is disabled",
};

export function createAttempt(deps: AttemptDeps): Attempt {
  return async function attempt(mail, leave) {
    const unwanted = whyUnwanted(mail);
    if (unwanted !== null) return unwanted;
    if (mail.busy !== null) return deferWithoutSlot(mail.busy);
    const blocked = whyBlocked(mail);
    if (blocked !== null) return blocked;
    const envelope = { from: mail.envelopeFrom ?? deps.returnPathOf(mail), to: mail.to ?? "" };
    const prepared = await deps.composer.prepare(mail);
    if (prepared.kind === "busy") return deferWithoutSlot(prepared);
    if (prepared.kind === "failed") return failed(prepared.reason);
    if (prepared.kind === "deferred") return deferred(prepared.reason);
    const { message, subject } = prepared;
    const whenAllowed = unlessWithdrawn(mail, leave);
    const isUrgent = mail.campaignSeq === null;
    // All other messages are encoded in seven bits.
    const isEightBit = mail.envelopeFrom !== null && !isAscii(message);
    const dispatch = { envelope, message, isEightBit, whenAllowed, isUrgent };
    const sending = send(dispatch, mail.slot);
    const outcome = await sending.finally(() => deps.composer.release(mail, message));
    return mail.campaignSeq === null ? outcome : { ...outcome, subject };
  };

  async function send(dispatch: Dispatch, slot: Slot | null): Promise<Outcome> {
    try {
      return await deps.transport.send(dispatch, slot ?? undefined);
    } catch (error) {
      if (error instanceof Withdrawn) return deferWithoutSlot(WITHDRAWN);
      throw error;
    }
  }

  /** A campaign may be stopped while its prepared mail waits for the pace. */
  function unlessWithdrawn({ campaignSeq }: LeasedMail, leave: WhenAllowed): WhenAllowed {
    if (campaignSeq === null) return leave;
    return (transact) =>
      leave(() => {
        if (!deps.isCampaignSending(campaignSeq)) throw new Withdrawn();
        return transact();
      });
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

function failed(reason: string): Verdict {
  return { kind: "failed", class: "content", reason, conversations: [] };
}

function deferred(reason: string): Verdict {
  return { kind: "deferred", class: "infrastructure", reason, conversations: [] };
}
