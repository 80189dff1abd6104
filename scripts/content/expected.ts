/**
 * Computes the message of a mail from its template and its contact, in the ordinary way: rendered,
 * converted and encoded for this mail alone.
 */

import { deriveKey } from "../../src/lib/crypto.ts";
import { composeMessage } from "../../src/protocols/mime/message.ts";
import { messageIdOf } from "../../src/protocols/mime/message-id.ts";
import { type RecipientLinks, recipientLinks } from "../../src/render/links.ts";
import { prepareOutgoing } from "../../src/render/outgoing.ts";
import type { TokenKeys } from "../../src/render/letter/tokens.ts";
import { checkSubject } from "../../src/render/subject.ts";
import {
  compileTemplate,
  render,
  type Template,
  type Variables,
} from "../../src/render/template/template.ts";
import { templateVariables } from "../../src/render/variables.ts";
import type { ContentContact, PreparedProject } from "./store.ts";
import type { ContentTemplate } from "./templates.ts";

/** Base URLs of the links in mails, which the server gets as settings. */
export const URLS = { url: "https://mail.content.test", trackingUrl: "https://t.content.test" };

/** Facts of the acceptance that are not in the content. */
export type MailFacts = {
  emailId: string;
  acceptedAt: number;
  messageSeq: number;
  /** Campaign mail has the list headers and a footer, and so has mail of a MARKETING template. */
  isMarketing: boolean;
  displayName: string | null;
};

export type MailContent = {
  project: PreparedProject;
  contact: ContentContact;
  template: ContentTemplate;
};

export type Expected =
  { ok: true; message: string; html: string; text: string } | { ok: false; reason: string };

export function keysOf(secret: string): TokenKeys {
  return {
    ...URLS,
    linkKey: deriveKey(secret, "recipient-links"),
    trackingKey: deriveKey(secret, "tracking-links"),
  };
}

export function composeExpected(
  facts: MailFacts,
  { project, contact, template }: MailContent,
  keys: TokenKeys,
): Expected {
  const { emailId, displayName } = facts;
  const links = recipientLinks(keys.url, keys.linkKey, emailId);
  const variables = templateVariables({
    id: contact.id,
    email: contact.email,
    data: dataOf(contact, displayName),
    links,
    projectName: project.name,
    language: "en",
  });
  const body = compiled(template.body, "html");
  const html = render(body, variables);
  const subject = render(compiled(template.subject, "header"), variables);
  if (!html.ok || !subject.ok) {
    return { ok: false, reason: html.ok ? "the subject cannot be rendered" : html.reason };
  }
  const fault = checkSubject(subject.text);
  if (fault !== null) return { ok: false, reason: `the subject ${fault.message}` };
  const input = outgoingInput(facts, project, { links, keys });
  const outgoing = prepareOutgoing({ ...input, html: html.text });
  const composed = composeMessage({
    ...headOf(facts, { project, contact, template }),
    subject: subject.text,
    ...outgoing,
  });
  if (!composed.ok) return composed;
  const message = Buffer.from(composed.message).toString("latin1");
  const { html: sent, text } = outgoing;
  return { ok: true, message, html: sent, text };
}

/** POST /v1/send stores the display name as `name`, and drops values that are null. */
function dataOf({ data }: ContentContact, displayName: string | null): Variables {
  return displayName === null ? data : { ...data, name: displayName };
}

function outgoingInput(
  { emailId, messageSeq, isMarketing }: MailFacts,
  { id, name, language, tracking }: PreparedProject,
  { links, keys }: { links: RecipientLinks; keys: TokenKeys },
) {
  const feedbackId = `${messageSeq}:${id}:marketing:mailstead`;
  const isTracked = tracking === "ENABLED" || (tracking === "MARKETING_ONLY" && isMarketing);
  return {
    emailId,
    headers: [],
    links,
    marketing: isMarketing ? { projectName: name, language, feedbackId } : null,
    tracking: isTracked ? { url: keys.trackingUrl, key: keys.trackingKey } : null,
  };
}

function headOf(
  { emailId, acceptedAt, displayName }: MailFacts,
  { project, contact, template }: MailContent,
) {
  const address = senderOf(project);
  return {
    from: { name: project.fromName, address },
    to: { name: displayName, address: contact.email },
    replyTo: template.replyTo,
    attachments: [],
    messageId: messageIdOf(emailId, address),
    date: new Date(acceptedAt),
  };
}

export const senderOf = ({ domain }: { domain: string }): string => `news@${domain}`;

const templates = new Map<string, Template>();

function compiled(source: string, kind: "html" | "header"): Template {
  const known = templates.get(`${kind} ${source}`);
  if (known !== undefined) return known;
  const result = compileTemplate(source, kind);
  if (!result.ok) throw new Error(`${result.message} in ${source.slice(0, 100)}`);
  templates.set(`${kind} ${source}`, result.template);
  return result.template;
}
