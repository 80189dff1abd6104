/**
 * Prepares the message of a mail, in order: render the body and the subject → compose the message →
 * sign it. A message that was submitted over SMTP is only signed. The input is data alone, so the same
 * code runs on the event loop and in a thread.
 */

import { recentThreadCpuMs, threadCpuMs } from "../../lib/thread-cpu.ts";
import type { Log } from "../../lib/log.ts";
import { type Signer, signMessage, signMessageSync } from "../../protocols/dkim/sign.ts";
import { composeParts } from "../../protocols/mime/message.ts";
import { messageIdOf } from "../../protocols/mime/message-id.ts";
import { parseUtm } from "../../render/link-parameters.ts";
import { type RecipientLinks, recipientLinks } from "../../render/links.ts";
import type { Header } from "../../render/list-unsubscribe.ts";
import { outgoingHeaders } from "../../render/outgoing.ts";
import { type Body, createShapeCache } from "../../render/shapes/cache.ts";
import type { TokenKeys } from "../../render/shapes/tokens.ts";
import { checkSubject } from "../../render/subject.ts";
import type { TemplateCache } from "../../render/template/cache.ts";
import { RENDER_LIMIT_MS } from "../../render/template/limits.ts";
import { render, type Variables } from "../../render/template/template.ts";
import { makeUnsubscribeAddress } from "../../render/unsubscribe-address.ts";
import type { LeasedMail } from "../lease-rows.ts";
import { variablesOf } from "./mail-variables.ts";

/** The columns of a mail from which its message is made. */
export type MailRow = Pick<
  LeasedMail,
  | "id"
  | "projectId"
  | "projectName"
  | "tracking"
  | "language"
  | "contactId"
  | "to"
  | "toName"
  | "subject"
  | "campaignSeq"
  | "variables"
  | "acceptedAt"
  | "messageSeq"
  | "fromAddress"
  | "fromName"
  | "replyTo"
  | "html"
  | "headers"
  | "isMarketing"
  | "attachments"
  | "submitted"
  | "utm"
> & {
  /** The host that receives unsubscriptions by mail; null for transactional mail, or without one. */
  bounceHost: string | null;
};

/** How a message is signed: not at all if `signer` is null. */
type Signing = { signer: Signer | null; at: Date };

/**
 * - prepared: the message with CRLF line ends, and the rendered subject.
 * - failed: the message cannot be made of these data. `isTooSlow` if its template took too long.
 * - deferred: the message could not be signed.
 */
export type Prepared =
  | { kind: "prepared"; subject: string; message: Uint8Array }
  | { kind: "failed"; reason: string; isTooSlow: boolean }
  | { kind: "deferred"; reason: string };

/**
 * A template that fails after this share of its time limit is too slow, also if that is not why it
 * failed.
 */
const TOO_SLOW_SHARE = 0.9;

export type Preparation = {
  /** Makes RSA signatures on another thread. */
  prepare(mail: MailRow, signing: Signing): Promise<Prepared>;
  /** The same on this thread alone. */
  prepareSync(mail: MailRow, signing: Signing): Prepared;
};

export function createPreparation(deps: {
  keys: TokenKeys;
  templateCache: TemplateCache;
  log: Log;
  /** Longest processor time of a render. */
  renderLimitMs?: number | undefined;
}): Preparation {
  const compose = createComposition(deps);

  return {
    async prepare(mail, { signer, at }) {
      const composed = compose(mail);
      // The mail of a domain that has keys is never sent unsigned (docs/delivery.md#C4).
      if (composed.kind !== "prepared" || signer === null) return composed;
      try {
        return { ...composed, message: await signMessage(composed.message, signer, at) };
      } catch (error) {
        return unsigned(error);
      }
    },

    prepareSync(mail, { signer, at }) {
      const composed = compose(mail);
      if (composed.kind !== "prepared" || signer === null) return composed;
      try {
        return { ...composed, message: signMessageSync(composed.message, signer, at) };
      } catch (error) {
        return unsigned(error);
      }
    },
  };
}

/** The result for a mail that cannot be signed. */
export function unsigned(error: unknown): Prepared {
  const reason = error instanceof Error ? error.message : String(error);
  return { kind: "deferred", reason: `The message cannot be signed: ${reason}` };
}

/** Returns the function that renders and composes the unsigned message of a mail. */
function createComposition(deps: Parameters<typeof createPreparation>[0]) {
  const { keys, templateCache, renderLimitMs = RENDER_LIMIT_MS } = deps;
  const shapes = createShapeCache(keys, deps.log, { renderMs: renderLimitMs });
  const headersOf = createHeaderReader();

  return function compose(mail: MailRow): Prepared {
    const { submitted, subject: given } = mail;
    if (submitted !== null) return { kind: "prepared", subject: given, message: submitted };
    const beganCpuMs = recentThreadCpuMs();
    const failed = (reason: string): Prepared => {
      const isTooSlow = threadCpuMs() - beganCpuMs >= TOO_SLOW_SHARE * renderLimitMs;
      return { kind: "failed", reason, isTooSlow };
    };
    const links = recipientLinks(keys.url, keys.linkKey, mail.id);
    const variables = variablesOf(mail, links);
    const rendered = renderBody(mail, variables, links);
    if (!rendered.ok) return failed(`The body cannot be rendered: ${rendered.reason}`);
    const subject = subjectOf(mail, variables);
    if (!subject.ok) return failed(`The subject cannot be rendered: ${subject.reason}`);
    const fault = mail.campaignSeq === null ? null : checkSubject(subject.text);
    if (fault !== null) return failed(`The subject ${fault.message}.`);
    const composed = composeRendered(mail, links, { subject: subject.text, body: rendered.body });
    if (!composed.ok) return failed(`The message cannot be composed: ${composed.reason}`);
    return { kind: "prepared", subject: subject.text, message: composed.message };
  };

  function renderBody(mail: MailRow, variables: Variables, links: RecipientLinks) {
    const compiled = templateCache.compile(mail.html, "html");
    if (!compiled.ok) return { ok: false as const, reason: compiled.message };
    return shapes.render(compiled.template, variables, links);
  }

  /** The subject of campaign mail is a template, rendered with the contact's current data. */
  function subjectOf(mail: MailRow, variables: Variables) {
    if (mail.campaignSeq === null) return { ok: true as const, text: mail.subject };
    const compiled = templateCache.compile(mail.subject, "header");
    if (!compiled.ok) return { ok: false as const, reason: compiled.message };
    return render(compiled.template, variables, renderLimitMs);
  }

  function marketingOf(mail: MailRow) {
    const { projectName, language, bounceHost: host, id } = mail;
    const unsubscribeAddress =
      host === null ? null : makeUnsubscribeAddress(keys.linkKey, id, host);
    return { projectName, language, feedbackId: feedbackId(mail), unsubscribeAddress };
  }

  function composeRendered(
    mail: MailRow,
    links: RecipientLinks,
    { subject, body }: { subject: string; body: Body },
  ) {
    const outgoing = {
      emailId: mail.id,
      headers: headersOf(mail),
      links,
      marketing: mail.isMarketing ? marketingOf(mail) : null,
      tracking: isTracked(mail) ? { url: keys.trackingUrl, key: keys.trackingKey } : null,
      parameters: parseUtm(mail.utm),
    };
    const { htmlPart, plainPart } = shapes.encode(body, outgoing);
    return composeParts({
      from: { name: mail.fromName, address: mail.fromAddress },
      to: { name: mail.toName, address: mail.to ?? "" },
      replyTo: mail.replyTo,
      subject,
      htmlPart,
      plainPart,
      headers: outgoingHeaders(outgoing),
      attachments: mail.attachments,
      // Both are fixed at acceptance, so that a retry sends the same message.
      messageId: messageIdOf(mail.id, mail.fromAddress),
      date: new Date(mail.acceptedAt),
    });
  }
}

/** Most mails that are sent one after the other have the same headers. */
function createHeaderReader(): (mail: MailRow) => readonly Header[] {
  let latest: { text: string; headers: readonly Header[] } = { text: "[]", headers: [] };
  return ({ headers: text }) => {
    if (text !== latest.text) latest = { text, headers: JSON.parse(text) };
    return latest.headers;
  };
}

function isTracked({ tracking, isMarketing }: MailRow): boolean {
  return tracking === "ENABLED" || (tracking === "MARKETING_ONLY" && isMarketing);
}

/** Feedback-ID, by which mailbox providers count complaints: content, project, kind, sender. */
function feedbackId({ messageSeq, projectId }: MailRow): string {
  return `${messageSeq}:${projectId}:marketing:mailstead`;
}
