/**
 * One attempt is a list of steps, each of which may end it: is the mail still wanted? → did it get
 * a slot? → is the sender still verified? → its message (render → compose → sign) → transport. It
 * writes no row: it returns a verdict, which `settle` stores.
 */

import { type Clock, systemClock } from "../lib/clock.ts";
import type { Garbage } from "../lib/garbage.ts";
import type { Log } from "../lib/log.ts";
import { domainOf } from "../protocols/mime/address.ts";
import { type Signer, signMessage } from "../protocols/dkim/sign.ts";
import { type RecipientLinks, recipientLinks } from "../render/links.ts";
import { composeParts } from "../protocols/mime/message.ts";
import { messageIdOf } from "../protocols/mime/message-id.ts";
import { outgoingHeaders } from "../render/outgoing.ts";
import { type Body, createShapeCache } from "../render/shapes/cache.ts";
import { checkSubject } from "../render/subject.ts";
import { render, type Variables } from "../render/template/template.ts";
import type { TemplateCache } from "../render/template/cache.ts";
import { templateVariables } from "../render/variables.ts";
import type { LeasedMail } from "./lease-rows.ts";
import {
  type Busy,
  type Outcome,
  type Slot,
  type Transport,
  deferWithoutSlot,
  Withdrawn,
} from "./outcome.ts";
import type { Dispatch, WhenAllowed } from "../protocols/smtp/dispatch.ts";

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

type MessageDeps = {
  templateCache: TemplateCache;
  clock: Clock;
  log: Log;
  /** Signs with the keys of a domain; null if it has none. Throws if they cannot be read. */
  signerOf: (projectSeq: number, domain: string) => Signer | null;
  /** Records how long rendering blocked the event loop. */
  noteRendering: (campaignSeq: number, ms: number) => void;
  /** Base URL of the unsubscribe and preference links, and the key that signs them. */
  url: string;
  linkKey: Uint8Array;
  /** The same for tracked links and pixels. */
  trackingUrl: string;
  trackingKey: Uint8Array;
  /** Told of the memory that preparing a large mail leaves. */
  garbage: Garbage;
};

type AttemptDeps = MessageDeps & {
  /** Yields to other work of the event loop if the current iteration has taken long. */
  yieldIfBusy: () => Promise<void>;
  /**
   * Called when synchronous work on a mail begins, so that the log can explain a blocked event
   * loop.
   */
  beginWork: (emailId: string) => void;
  transport: Transport;
  /** The reason for which an address is suppressed, or null. */
  suppressionOf: (projectSeq: number, address: string) => string | null;
  isSenderVerified: (projectSeq: number, domain: string) => boolean;
  isCampaignSending: (campaignSeq: number) => boolean;
  /** True if rendering took too long for this campaign, so that no more of it may be rendered. */
  isTooCostly: (campaignSeq: number) => boolean;
  /** The address to which bounces are sent (docs/delivery.md#C5). */
  returnPathOf: (mail: LeasedMail) => string;
};

export type Attempt = (mail: LeasedMail, leave: WhenAllowed) => Promise<Verdict>;

/**
 * The mail goes back to the queue: it is sent when its campaign is resumed, or cancelled with it.
 */
const WITHDRAWN: Busy = {
  kind: "busy",
  why: "paused",
  retryAfterMs: 0,
  waitList: null,
  reason: "it was withdrawn before its transaction",
};

/** A disabled project has no flow, so the mail is not polled before the project is enabled. */
const DISABLED: Busy = {
  kind: "busy",
  why: "paused",
  retryAfterMs: 60_000,
  waitList: null,
  reason: "the project is disabled",
};

export function createAttempt(deps: AttemptDeps): Attempt {
  const prepareMessage = createPreparation(deps);

  return async function attempt(mail, leave) {
    const unwanted = whyUnwanted(mail);
    if (unwanted !== null) return unwanted;
    if (mail.busy !== null) return deferWithoutSlot(mail.busy);
    const blocked = whyBlocked(mail);
    if (blocked !== null) return blocked;
    await deps.yieldIfBusy();
    deps.beginWork(mail.id);
    if (mail.campaignSeq !== null && deps.isTooCostly(mail.campaignSeq)) {
      return deferWithoutSlot(WITHDRAWN);
    }
    const prepared = await prepareMessage(mail);
    if (prepared.kind !== "prepared") return prepared;
    const { message, subject } = prepared;
    const envelope = { from: deps.returnPathOf(mail), to: mail.to ?? "" };
    const whenAllowed = unlessWithdrawn(mail, leave);
    const outcome = await send({ envelope, message, whenAllowed }, mail.slot);
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
    const suppression = deps.suppressionOf(mail.projectSeq, mail.to);
    if (suppression !== null) return { kind: "suppressed", reason: suppression };
    if (mail.isMarketing && !mail.isSubscribed && !mail.isTest) {
      return { kind: "cancelled", reason: "The recipient is not subscribed any more." };
    }
    return null;
  }

  /** Problems that the operator can fix: the mail waits until then. */
  function whyBlocked(mail: LeasedMail): Verdict | null {
    if (!mail.isProjectEnabled) return deferWithoutSlot(DISABLED);
    const domain = domainOf(mail.fromAddress);
    if (deps.isSenderVerified(mail.projectSeq, domain)) return null;
    return deferred(`The sender's domain ${domain} is not verified any more.`);
  }
}

/** Copies of a message that are garbage when it is prepared: parts, and the unsigned message. */
const COPIES = 2;

type Prepared = { kind: "prepared"; subject: string; message: Uint8Array };

/** Returns the function that renders, composes and signs the message of a mail. */
function createPreparation(deps: MessageDeps): (mail: LeasedMail) => Promise<Prepared | Verdict> {
  const shapes = createShapeCache(deps, deps.log);

  return async function prepareMessage(mail) {
    const links = recipientLinks(deps.url, deps.linkKey, mail.id);
    const variables = variablesOf(mail, links);
    const rendered = renderBody(mail, variables, links);
    if (!rendered.ok) return failed(`The body cannot be rendered: ${rendered.reason}`);
    const subject = subjectOf(mail, variables);
    if (!subject.ok) return failed(`The subject cannot be rendered: ${subject.reason}`);
    const fault = mail.campaignSeq === null ? null : checkSubject(subject.text);
    if (fault !== null) return failed(`The subject ${fault.message}.`);
    const composed = compose(mail, links, { subject: subject.text, body: rendered.body });
    if (!composed.ok) return failed(`The message cannot be composed: ${composed.reason}`);
    const signed = await sign(mail, composed.message);
    if (!signed.ok) return deferred(`The message cannot be signed: ${signed.reason}`);
    deps.garbage.add(COPIES * signed.message.byteLength);
    return { kind: "prepared", subject: subject.text, message: signed.message };
  };

  function renderBody(mail: LeasedMail, variables: Variables, links: RecipientLinks) {
    const compiled = deps.templateCache.compile(mail.html, "html");
    if (!compiled.ok) return { ok: false as const, reason: compiled.message };
    return timed(mail, () => shapes.render(compiled.template, variables, links));
  }

  /** The subject of campaign mail is a template, rendered with the contact's current data. */
  function subjectOf(mail: LeasedMail, variables: Variables) {
    if (mail.campaignSeq === null) return { ok: true as const, text: mail.subject };
    const compiled = deps.templateCache.compile(mail.subject, "text");
    if (!compiled.ok) return { ok: false as const, reason: compiled.message };
    return timed(mail, () => render(compiled.template, variables));
  }

  function timed<T>({ campaignSeq }: LeasedMail, renderSource: () => T): T {
    const startedMs = systemClock.elapsed();
    const rendered = renderSource();
    if (campaignSeq !== null) deps.noteRendering(campaignSeq, systemClock.elapsed() - startedMs);
    return rendered;
  }

  /** The mail of a domain that has keys is never sent unsigned (docs/delivery.md#C4). */
  async function sign(mail: LeasedMail, message: Uint8Array) {
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
    mail: LeasedMail,
    links: RecipientLinks,
    { subject, body }: { subject: string; body: Body },
  ) {
    const outgoing = {
      emailId: mail.id,
      headers: JSON.parse(mail.headers),
      links,
      marketing: mail.isMarketing ? { ...mail, feedbackId: feedbackId(mail) } : null,
      tracking: isTracked(mail) ? { url: deps.trackingUrl, key: deps.trackingKey } : null,
    };
    return composeParts({
      from: { name: mail.fromName, address: mail.fromAddress },
      to: { name: mail.toName, address: mail.to ?? "" },
      replyTo: mail.replyTo,
      subject,
      ...shapes.encode(body, outgoing),
      headers: outgoingHeaders(outgoing),
      attachments: mail.attachments,
      // Both are fixed at acceptance, so that a retry sends the same message.
      messageId: messageIdOf(mail.id, mail.fromAddress),
      date: new Date(mail.acceptedAt),
    });
  }
}

function variablesOf(mail: LeasedMail, links: RecipientLinks): Variables {
  return templateVariables({
    id: mail.contactId ?? "",
    email: mail.to ?? "",
    data: JSON.parse(mail.variables),
    links,
    projectName: mail.projectName,
  });
}

function isTracked({ tracking, isMarketing }: LeasedMail): boolean {
  return tracking === "ENABLED" || (tracking === "MARKETING_ONLY" && isMarketing);
}

/** Feedback-ID, by which mailbox providers count complaints: content, project, kind, sender. */
function feedbackId({ messageSeq, projectId }: LeasedMail): string {
  return `${messageSeq}:${projectId}:marketing:mailstead`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function failed(reason: string): Verdict {
  return { kind: "failed", class: "content", reason, conversations: [] };
}

function deferred(reason: string): Verdict {
  return { kind: "deferred", class: "infrastructure", reason, conversations: [] };
}
