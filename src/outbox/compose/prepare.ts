/**
 * Prepares the message of a mail, in order: render the body and the subject → write the message, as a
 * letter (render/letter/letter.ts) or in full → sign it. A message that was submitted over SMTP is only
 * signed. The input is data alone, so the same code runs on the event loop and in a thread.
 */

import { recentThreadCpuMs, threadCpuMs } from "../../lib/thread-cpu.ts";
import { type Signer, signMessage, signMessageSync } from "../../protocols/dkim/sign.ts";
import { composeMessage, recipientFields } from "../../protocols/mime/message.ts";
import { messageIdOf } from "../../protocols/mime/message-id.ts";
import { readVisible } from "../../protocols/mime/visible-recipients.ts";
import { parseUtm } from "../../render/link-parameters.ts";
import {
  compileLetter,
  fitsLetter,
  type Letter,
  type LetterMessage,
  writeLetter,
} from "../../render/letter/letter.ts";
import { createLetterCache } from "../../render/letter/letter-cache.ts";
import { SAMPLE_ID, sampleLinks, type TokenKeys } from "../../render/letter/tokens.ts";
import { TraceEmitter } from "../../render/letter/trace.ts";
import { baseAtHost, type RecipientLinks, recipientLinks } from "../../render/links.ts";
import { type Header, makeListId } from "../../render/list-headers.ts";
import { type OutgoingInput, prepareOutgoing } from "../../render/outgoing.ts";
import { checkSubject } from "../../render/subject.ts";
import type { TemplateCache } from "../../render/template/cache.ts";
import { RENDER_LIMIT_MS } from "../../render/template/limits.ts";
import {
  checkResult,
  type Compiled,
  type Rendered,
  render,
  renderInto,
  type Template,
  type Variables,
} from "../../render/template/template.ts";
import { makeUnsubscribeAddress } from "../../render/unsubscribe-address.ts";
import type { LeasedMail } from "../lane/rows.ts";
import { variablesOf } from "./mail-variables.ts";

/** The columns of a mail from which its message is made. */
export type MailRow = Pick<
  LeasedMail,
  | "id"
  | "groupId"
  | "projectId"
  | "projectName"
  | "tracking"
  | "trackingHost"
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
  | "text"
  | "recipients"
  | "headers"
  | "isMarketing"
  | "topicName"
  | "listLabel"
  | "attachments"
  | "submitted"
  | "utm"
> & {
  /** The host that receives unsubscriptions by mail; null for transactional mail, or without one. */
  bounceHost: string | null;
};

/** The signature of a message; it has none if `signer` is null. */
type Signing = { signer: Signer | null; at: Date };

/**
 * - prepared: the message with CRLF line ends, and the rendered subject. If `hasTailroom`, no line of the
 *   message begins with a dot, and its memory has free octets behind it (protocols/mime/tailroom.ts).
 * - failed: the message cannot be made of these data. `isTooSlow` if its template took too long.
 * - deferred: the message could not be signed.
 */
export type Prepared =
  | { kind: "prepared"; subject: string; message: Uint8Array; hasTailroom: boolean }
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
  const keysFor = createKeysByHost(keys);
  const letters = createLetterCache();
  const samples = sampleLinks(keys);
  const headersOf = createHeaderReader();
  const compileBody = createBodyCompiler(templateCache);

  return function compose(mail: MailRow): Prepared {
    const { submitted, subject: given } = mail;
    if (submitted !== null) {
      return { kind: "prepared", subject: given, message: submitted, hasTailroom: false };
    }
    const beganCpuMs = recentThreadCpuMs();
    const failed = (reason: string): Prepared => {
      const isTooSlow = threadCpuMs() - beganCpuMs >= TOO_SLOW_SHARE * renderLimitMs;
      return { kind: "failed", reason, isTooSlow };
    };
    const links = recipientLinks(keys.url, keys.linkKey, mail.id);
    const variables = variablesOf(mail, links);
    const compiled = compileBody(mail.html);
    if (!compiled.ok) return failed(`The body cannot be rendered: ${compiled.message}`);
    const { template } = compiled;
    const trace = new TraceEmitter(links, samples);
    const rendered = renderInto(template, { variables, limitMs: renderLimitMs, emitter: trace });
    if (!rendered.ok) return failed(`The body cannot be rendered: ${rendered.reason}`);
    const text = textOf(mail, variables);
    if (text?.ok === false) return failed(`The text cannot be rendered: ${text.reason}`);
    const letter = chooseLetter(mail, template, { trace, links });
    const checked = letter === null ? checkResult(trace.buffer) : null;
    if (checked?.ok === false) return failed(`The body cannot be rendered: ${checked.reason}`);
    const subject = subjectOf(mail, variables);
    if (!subject.ok) return failed(`The subject cannot be rendered: ${subject.reason}`);
    const fault = mail.campaignSeq === null ? null : checkSubject(subject.text);
    if (fault !== null) return failed(`The subject ${fault.message}.`);
    const head = readHead(mail, subject.text);
    if (letter === null) {
      const own = text?.text ?? null;
      const composed = composeInFull(mail, { head, html: trace.buffer, text: own, links });
      if (!composed.ok) return failed(`The message cannot be composed: ${composed.reason}`);
      const { message } = composed;
      return { kind: "prepared", subject: subject.text, message, hasTailroom: false };
    }
    const fields = recipientFields(head);
    if (!fields.ok) return failed(`The message cannot be composed: ${fields.reason}`);
    const recipient = { recipient: fields.lines, emailId: mail.id, links, keys };
    const message = writeLetter(letter, trace, recipient);
    return { kind: "prepared", subject: subject.text, message, hasTailroom: true };
  };

  /**
   * The letter of a mail; null if the mail is rendered in full, as every mail can be. The choice
   * depends on the mail alone, so that a retry sends the same octets. A transactional body without
   * outputs and tags is usually sent once.
   */
  function chooseLetter(
    mail: MailRow,
    template: Template,
    { trace, links }: { trace: TraceEmitter; links: RecipientLinks },
  ): Letter | null {
    const { marked, values } = trace;
    const isRepeated = mail.campaignSeq !== null || template.nodes !== null;
    if (mail.text !== null || mail.recipients !== null) return null;
    if (!isRepeated || mail.attachments.length > 0 || marked === null) return null;
    // A private-use character of the body itself looks like a value.
    const letter = letters.find(`${values.length} ${letterContext(mail)}${marked}`, () =>
      compileLetter(marked, values.length, { message: letterMessage(mail), keys: keysFor(mail) }),
    );
    return letter !== null && fitsLetter(letter, trace, links) ? letter : null;
  }

  function letterMessage(mail: MailRow): LetterMessage {
    const { fromName, fromAddress, replyTo, bounceHost } = mail;
    const sample = outgoingInput(mail, { emailId: SAMPLE_ID, links: samples });
    return { from: { name: fromName, address: fromAddress }, replyTo, bounceHost, sample };
  }

  /** The rendered text of a mail that has one of its own; null for others. */
  function textOf({ text }: MailRow, variables: Variables): Rendered | null {
    if (text === null) return null;
    const compiled = templateCache.compile(text, "text");
    if (!compiled.ok) return { ok: false, reason: compiled.message };
    return render(compiled.template, variables, renderLimitMs);
  }

  /** The subject of campaign mail is a template, rendered with the contact's current data. */
  function subjectOf(mail: MailRow, variables: Variables) {
    if (mail.campaignSeq === null) return { ok: true as const, text: mail.subject };
    const compiled = templateCache.compile(mail.subject, "header");
    if (!compiled.ok) return { ok: false as const, reason: compiled.message };
    return render(compiled.template, variables, renderLimitMs);
  }

  function composeInFull(
    mail: MailRow,
    rest: {
      head: ReturnType<typeof readHead>;
      html: string;
      text: string | null;
      links: RecipientLinks;
    },
  ) {
    const { fromName, fromAddress, replyTo, attachments } = mail;
    const { head, html, text, links } = rest;
    const input = outgoingInput(mail, { emailId: mail.id, links });
    const outgoing = prepareOutgoing({ ...input, html, text });
    const from = { name: fromName, address: fromAddress };
    const message = { from, ...head, replyTo, ...outgoing, attachments };
    return composeMessage(isTextOnly(mail) ? { ...message, html: null } : message);
  }

  function outgoingInput(
    mail: MailRow,
    { emailId, links }: { emailId: string; links: RecipientLinks },
  ): Omit<OutgoingInput, "html"> {
    return {
      emailId,
      headers: headersOf(mail),
      links,
      marketing: mail.isMarketing ? marketingOf(mail, emailId) : null,
      tracking: isTracked(mail) ? { url: keysFor(mail).trackingUrl, key: keys.trackingKey } : null,
      parameters: parseUtm(mail.utm),
    };
  }

  function marketingOf(mail: MailRow, emailId: string) {
    const { projectName, topicName, language, bounceHost: host } = mail;
    const unsubscribeAddress =
      host === null ? null : makeUnsubscribeAddress(keys.linkKey, emailId, host);
    return {
      projectName,
      topicName,
      language,
      feedbackId: feedbackId(mail),
      listId: mail.listLabel === null ? null : makeListId(mail.listLabel, mail.fromAddress),
      unsubscribeAddress,
    };
  }
}

/** A message without a body has only its text. */
const isTextOnly = ({ html, text }: MailRow): boolean => html === "" && text !== null;

/** The columns on which a letter depends, besides the body. */
function letterContext(mail: MailRow): string {
  const { fromName, fromAddress, replyTo, headers, utm } = mail;
  const { projectName, topicName, listLabel, language, messageSeq, projectId, bounceHost } = mail;
  const marketing = mail.isMarketing
    ? [projectName, topicName, listLabel, language, messageSeq, projectId, bounceHost]
    : null;
  const links = isTracked(mail) ? (mail.trackingHost ?? true) : false;
  return JSON.stringify([fromName, fromAddress, replyTo, headers, utm, links, marketing]);
}

/** Both ids and the date are fixed at acceptance, so that a retry sends the same message. */
function readHead(mail: MailRow, subject: string) {
  return {
    to: { name: mail.toName, address: mail.to ?? "" },
    visible: mail.recipients === null ? null : readVisible(mail.recipients),
    subject,
    messageId: messageIdOf(mail.groupId ?? mail.id, mail.fromAddress),
    date: new Date(mail.acceptedAt),
  };
}

/** Mails that are sent one after the other often have the same body, also one that is not cached. */
function createBodyCompiler(cache: TemplateCache): (html: string) => Compiled {
  let latest: { html: string; compiled: Compiled } | null = null;
  return (html) => {
    if (html !== latest?.html) latest = { html, compiled: cache.compile(html, "html") };
    return latest.compiled;
  };
}

/** Most mails that are sent one after the other have the same headers. */
function createHeaderReader(): (mail: MailRow) => readonly Header[] {
  let latest: { text: string; headers: readonly Header[] } = { text: "[]", headers: [] };
  return ({ headers: text }) => {
    if (text !== latest.text) latest = { text, headers: JSON.parse(text) };
    return latest.headers;
  };
}

/** The keys with the base of the tracked links of a mail. Most mails in a row have the same host. */
function createKeysByHost(keys: TokenKeys): (mail: MailRow) => TokenKeys {
  let latest: { host: string; keys: TokenKeys } | null = null;
  return ({ trackingHost: host }) => {
    if (host === null) return keys;
    if (latest?.host !== host) {
      latest = { host, keys: { ...keys, trackingUrl: baseAtHost(keys.trackingUrl, host) } };
    }
    return latest.keys;
  };
}

function isTracked({ tracking, isMarketing }: MailRow): boolean {
  return tracking === "ENABLED" || (tracking === "MARKETING_ONLY" && isMarketing);
}

/** Feedback-ID, by which mailbox providers count complaints: content, project, kind, sender. */
function feedbackId({ messageSeq, projectId }: MailRow): string {
  return `${messageSeq}:${projectId}:marketing:mailstead`;
}
