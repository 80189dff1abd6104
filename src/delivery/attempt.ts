/**
 * One attempt, a list of steps that each may end it:
 * still wanted? → has a place? → sender still verified? → render → compose → sign → transport.
 * It touches no row: it ends in a verdict that `settle` writes.
 */

import { type Clock, systemClock } from "../lib/clock.ts";
import { domainOf } from "../mail/address.ts";
import { type Signer, signMessage } from "../mail/dkim.ts";
import { type RecipientLinks, recipientLinks } from "../mail/links.ts";
import { composeMessage } from "../mail/message.ts";
import { messageIdOf } from "../mail/message-id.ts";
import { prepareOutgoing } from "../mail/outgoing.ts";
import { subjectFault } from "../mail/subject.ts";
import { render, type TemplateKind, type Variables } from "../mail/template.ts";
import type { TemplateCache } from "../mail/template-cache.ts";
import { templateVariables } from "../mail/variables.ts";
import type { Consignment } from "./load.ts";
import {
  type Busy,
  type Dispatch,
  type Leave,
  type Outcome,
  type Pass,
  type Transport,
  turnedBack,
  Withdrawn,
} from "./outcome.ts";

/** Ends before anything was tried: the recipient or the sender does not want it any more. */
export type Verdict =
  | (Outcome & {
      /** As it was rendered for campaign mail, whose record has the template until it has left. */
      subject?: string;
    })
  | { kind: "suppressed"; reason: string }
  | { kind: "cancelled"; reason: string };

export type AttemptDeps = {
  /** Resolves at once, or after others had a turn of the event loop where much was done in this one. */
  breathe: () => Promise<void>;
  /** Told when the synchronous work on a mail begins, so that a hold of the event loop is explained. */
  beginWork: (emailId: string) => void;
  transport: Transport;
  templateCache: TemplateCache;
  clock: Clock;
  /** The reason for which an address is suppressed, or null. */
  suppressionOf: (projectSeq: number, address: string) => string | null;
  isSenderVerified: (projectSeq: number, domain: string) => boolean;
  /** The keys of a domain; null if it has none. Throws if they cannot be read. */
  signerOf: (projectSeq: number, domain: string) => Signer | null;
  isCampaignSending: (campaignSeq: number) => boolean;
  /** Everybody waits while a mail is rendered. */
  noteRendering: (campaignSeq: number, ms: number) => void;
  /** It took too long for this campaign: no more of it is to be rendered. */
  isTooCostly: (campaignSeq: number) => boolean;
  /** The address that bounces go to (delivery rule C5). */
  returnPathOf: (mail: Consignment) => string;
  /** Base of links that recipients act with, and the key that signs them. */
  url: string;
  linkKey: Uint8Array;
  /** The same for links and pixels that only count. */
  trackingUrl: string;
  trackingKey: Uint8Array;
};

export type Attempt = (consignment: Consignment, leave: Leave) => Promise<Verdict>;

/** Back to its lane: it leaves when that goes on, or is cancelled with it. */
const WITHDRAWN: Busy = {
  kind: "busy",
  why: "paused",
  retryAfterMs: 0,
  line: null,
  reason: "it was withdrawn at its turn",
};

/** Its lane is closed as well, as long as that is so. */
const DISABLED: Busy = {
  kind: "busy",
  why: "paused",
  retryAfterMs: 60_000,
  line: null,
  reason: "the project is disabled",
};

export function createAttempt(deps: AttemptDeps): Attempt {
  return async function attempt(mail, leave) {
    const unwanted = whyUnwanted(mail);
    if (unwanted !== null) return unwanted;
    if (mail.busy !== null) return turnedBack(mail.busy);
    const held = whyHeld(mail);
    if (held !== null) return held;
    await deps.breathe();
    deps.beginWork(mail.id);
    if (mail.campaignSeq !== null && deps.isTooCostly(mail.campaignSeq)) {
      return turnedBack(WITHDRAWN);
    }
    const links = recipientLinks(deps.url, deps.linkKey, mail.id);
    const variables = variablesOf(mail, links);
    const html = renderSource(mail, "html", variables);
    if (!html.ok) return failed(`The body cannot be rendered: ${html.reason}`);
    const subject = subjectOf(mail, variables);
    if (!subject.ok) return failed(`The subject cannot be rendered: ${subject.reason}`);
    const fault = mail.campaignSeq === null ? null : subjectFault(subject.text);
    if (fault !== null) return failed(`The subject ${fault.message}.`);
    const composed = compose(mail, links, { subject: subject.text, body: html.text });
    if (!composed.ok) return failed(`The message cannot be composed: ${composed.reason}`);
    const signed = await sign(mail, composed.message);
    if (!signed.ok) return waiting(`The message cannot be signed: ${signed.reason}`);
    const envelope = { from: deps.returnPathOf(mail), to: mail.to ?? "" };
    const dispatch = { envelope, message: signed.message, leave: unlessWithdrawn(mail, leave) };
    const outcome = await send(dispatch, mail.pass);
    return mail.campaignSeq === null ? outcome : { ...outcome, subject: subject.text };
  };

  async function send(dispatch: Dispatch, pass: Pass | null): Promise<Outcome> {
    try {
      return await deps.transport.send(dispatch, pass ?? undefined);
    } catch (error) {
      if (error instanceof Withdrawn) return turnedBack(WITHDRAWN);
      throw error;
    }
  }

  /** A mail waits for its turn after it was made ready, and its campaign may be stopped meanwhile. */
  function unlessWithdrawn({ campaignSeq }: Consignment, leave: Leave): Leave {
    if (campaignSeq === null) return leave;
    return (transact) =>
      leave(() => {
        if (!deps.isCampaignSending(campaignSeq)) throw new Withdrawn();
        return transact();
      });
  }

  function whyUnwanted(mail: Consignment): Verdict | null {
    if (mail.to === null) return { kind: "cancelled", reason: "The contact was deleted." };
    const suppression = deps.suppressionOf(mail.projectSeq, mail.to);
    if (suppression !== null) return { kind: "suppressed", reason: suppression };
    if (mail.isMarketing && !mail.isSubscribed && !mail.isTest) {
      return { kind: "cancelled", reason: "The recipient is not subscribed any more." };
    }
    return null;
  }

  /** Faults of the operator's side that can be mended: the mail waits for it. */
  function whyHeld(mail: Consignment): Verdict | null {
    if (!mail.isProjectEnabled) return turnedBack(DISABLED);
    const domain = domainOf(mail.fromAddress);
    if (deps.isSenderVerified(mail.projectSeq, domain)) return null;
    return waiting(`The sender's domain ${domain} is not verified any more.`);
  }

  /** Of campaign mail it is a template still; the contact is taken as it is now. */
  function subjectOf(mail: Consignment, variables: Variables) {
    if (mail.campaignSeq === null) return { ok: true as const, text: mail.subject };
    return renderSource(mail, "text", variables);
  }

  function renderSource(mail: Consignment, kind: TemplateKind, variables: Variables) {
    const source = kind === "html" ? mail.html : mail.subject;
    const compiled = deps.templateCache.compile(source, kind);
    if (!compiled.ok) return { ok: false as const, reason: compiled.message };
    const startedMs = systemClock.elapsed();
    const rendered = render(compiled.template, variables);
    if (mail.campaignSeq !== null) {
      deps.noteRendering(mail.campaignSeq, systemClock.elapsed() - startedMs);
    }
    return rendered;
  }

  /** Mail of a domain that has keys never leaves unsigned (delivery rule C4). */
  async function sign(mail: Consignment, message: Uint8Array) {
    try {
      const signer = deps.signerOf(mail.projectSeq, domainOf(mail.fromAddress));
      const at = new Date(deps.clock.now());
      const signed = signer === null ? message : await signMessage(message, signer, at);
      return { ok: true as const, message: signed };
    } catch (error) {
      return { ok: false as const, reason: messageOf(error) };
    }
  }

  function compose(
    mail: Consignment,
    links: RecipientLinks,
    { subject, body }: { subject: string; body: string },
  ) {
    const { html, text, headers } = prepareOutgoing({
      emailId: mail.id,
      html: body,
      headers: JSON.parse(mail.headers),
      links,
      marketing: mail.isMarketing ? { ...mail, feedbackId: feedbackId(mail) } : null,
      tracking: isTracked(mail) ? { url: deps.trackingUrl, key: deps.trackingKey } : null,
    });
    return composeMessage({
      from: { name: mail.fromName, address: mail.fromAddress },
      to: { name: mail.toName, address: mail.to ?? "" },
      replyTo: mail.replyTo,
      subject,
      html,
      text,
      headers,
      attachments: mail.attachments,
      // Fixed at acceptance: a retry carries the same message.
      messageId: messageIdOf(mail.id, mail.fromAddress),
      date: new Date(mail.acceptedAt),
    });
  }
}

function variablesOf(mail: Consignment, links: RecipientLinks): Variables {
  return templateVariables({
    id: mail.contactId ?? "",
    email: mail.to ?? "",
    data: JSON.parse(mail.variables),
    links,
    projectName: mail.projectName,
  });
}

function isTracked({ tracking, isMarketing }: Consignment): boolean {
  return tracking === "ENABLED" || (tracking === "MARKETING_ONLY" && isMarketing);
}

/** What mailbox providers count complaints by: this content, this project; their last part is us. */
function feedbackId({ messageSeq, projectId }: Consignment): string {
  return `${messageSeq}:${projectId}:marketing:mailstead`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function failed(reason: string): Verdict {
  return { kind: "failed", class: "content", reason, conversations: [] };
}

function waiting(reason: string): Verdict {
  return { kind: "deferred", class: "infrastructure", reason, conversations: [] };
}
