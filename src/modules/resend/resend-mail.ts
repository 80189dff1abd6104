/** The mails of Resend: their schema, and their form in our interface. */

import { type Static, Type } from "@sinclair/typebox";
import { EmailAddress } from "../../http/formats.ts";
import { isoTime } from "../../lib/clock.ts";
import { fieldError, type FieldError, validationError } from "../../lib/errors.ts";
import {
  displayName,
  mailboxText,
  parseMailbox,
  splitMailboxes,
} from "../../protocols/mime/mailbox.ts";
import { decodeWords } from "../../protocols/mime/read-parts.ts";
import type { SendInput } from "../emails/model.ts";
import { Fields, hasValue, Maybe, textOr } from "./call.ts";
import { literalTemplate } from "./literal.ts";
import { isSetByService } from "./placeholders.ts";
import { momentIn } from "./times.ts";

const MAX_RECIPIENTS = 50;
const Addresses = Type.Union([
  EmailAddress,
  Type.Array(EmailAddress, { minItems: 1, maxItems: MAX_RECIPIENTS }),
]);
const SomeAddresses = Maybe(
  Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: MAX_RECIPIENTS })]),
);

const Octets = Type.Array(Type.Integer({ minimum: 0, maximum: 255 }));

const ResendAttachment = Fields({
  filename: Maybe(Type.String()),
  /** Base64, or the octets as numbers, as the client in Python and older ones in Node send them. */
  content: Maybe(
    Type.Union([Type.String(), Octets, Fields({ type: Type.Literal("Buffer"), data: Octets })]),
  ),
  path: Maybe(Type.String()),
  content_type: Maybe(Type.String()),
  content_id: Maybe(Type.String()),
  /** An older name of content_id. */
  inline_content_id: Maybe(Type.String()),
});
type ResendAttachment = Static<typeof ResendAttachment>;

const Variable = Type.Union([Type.String(), Type.Number()]);

export const ResendMail = Fields({
  from: Maybe(Type.String()),
  to: Addresses,
  subject: Maybe(Type.String()),
  html: Maybe(Type.String()),
  text: Maybe(Type.String()),
  cc: SomeAddresses,
  bcc: SomeAddresses,
  reply_to: SomeAddresses,
  /** Anymail sends a list for each name. */
  headers: Maybe(
    Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())])),
  ),
  attachments: Maybe(Type.Array(ResendAttachment, { maxItems: 100 })),
  tags: Maybe(Type.Array(Fields({ name: Type.String(), value: Type.String() }), { maxItems: 100 })),
  scheduled_at: Maybe(Type.String()),
  topic_id: Maybe(Type.String()),
  template: Maybe(
    Fields({ id: Type.String(), variables: Maybe(Type.Record(Type.String(), Variable)) }),
  ),
});
export type ResendMail = Static<typeof ResendMail>;

/** Our names of the fields, and those of Resend. */
export const MAIL_NAMES = {
  body: "html",
  replyTo: "reply_to",
  scheduledAt: "scheduled_at",
  data: "template.variables",
  contentType: "content_type",
  contentId: "content_id",
  url: "path",
};

/** Throws 422 that names the fields which a mail of this server cannot have. */
function refuseUnsupported(mail: ResendMail): void {
  const errors: FieldError[] = [];
  if (hasValue(mail.topic_id)) {
    errors.push({ field: "topic_id", code: "unknown_field", message: "is not supported" });
  }
  const isOfSeveral = Array.isArray(mail.to) && mail.to.length > 1;
  if (hasValue(mail.scheduled_at) && isOfSeveral && !hasValue(mail.cc) && !hasValue(mail.bcc)) {
    errors.push({ field: "scheduled_at", code: "invalid_value", message: ONE_MAIL });
  }
  if (errors.length > 0) throw validationError(errors);
}

/** With several recipients each has its own mail, and the answer would name only the first. */
const ONE_MAIL = "is for one recipient in to, unless there is cc or bcc; send a batch instead";

/** The mail in the form of POST /v1/send. Throws 422 for fields that it cannot have. */
export function sendInputOf(mail: ResendMail, now: number): SendInput {
  refuseUnsupported(mail);
  const { template, attachments, tags } = mail;
  const { headers, replyTo } = headersIn(mail);
  const [to, cc, bcc] = [mail.to, mail.cc ?? [], mail.bcc ?? []].map(decodedNames);
  const time = textOr(mail.scheduled_at);
  const [from, subject, html, text] = [mail.from, mail.subject, mail.html, mail.text].map(textOr);
  return {
    to: to ?? [],
    ...(hasValue(cc) && cc ? { cc } : {}),
    ...(hasValue(bcc) && bcc ? { bcc } : {}),
    ...(from === undefined ? {} : { from: decodedName(from) }),
    ...(subject === undefined ? {} : { subject: literalTemplate(subject) }),
    ...(html === undefined ? {} : { body: literalTemplate(html) }),
    ...(text === undefined ? {} : { text: literalTemplate(text) }),
    ...(replyTo ? { replyTo: decodedNames(replyTo) } : {}),
    ...(time === undefined ? {} : { scheduledAt: isoTime(momentIn("scheduled_at", time, now)) }),
    ...(tags ? { tags: tagsOf(tags) } : {}),
    ...(template ? { template: template.id, data: variablesOf(template.variables ?? {}) } : {}),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(attachments ? { attachments: attachments.map(attachmentOf) } : {}),
  };
}

const decodedNames = (given: string | string[]): string | string[] =>
  Array.isArray(given) ? given.map(decodedName) : decodedName(given);

/** An address whose name may have encoded words (RFC 2047), as Anymail and Symfony send it. */
function decodedName(text: string): string {
  const parsed = text.includes("=?") ? parseMailbox(text) : null;
  if (parsed?.ok !== true) return text;
  const { address, name } = parsed.mailbox;
  return mailboxText({ address, name: name === null ? null : displayName(decodeWords(name)) });
}

/**
 * The header fields, each with one value. Symfony repeats the addresses for replies as the field
 * Reply-To, which may have more of them.
 */
function headersIn({ headers, reply_to: given }: ResendMail) {
  const fields: Record<string, string> = {};
  let replyTo = hasValue(given) ? given : undefined;
  for (const [name, value] of Object.entries(headers ?? {})) {
    const values = Array.isArray(value) ? value : [value];
    const [first, ...others] = values;
    if (others.length > 0) {
      throw fieldError(`headers.${name}`, "too_big", "must have at most one value");
    }
    if (first === undefined) continue;
    if (name.toLowerCase() === "reply-to") replyTo = splitMailboxes(first);
    else fields[name] = first;
  }
  return { headers: fields, replyTo };
}

function tagsOf(tags: NonNullable<ResendMail["tags"]>): Record<string, string> {
  const names = tags.map(({ name }) => name);
  const repeated = names.findIndex((name, i) => names.indexOf(name) !== i);
  if (repeated !== -1) {
    throw fieldError(`tags.${repeated}.name`, "invalid_value", "must not be given twice");
  }
  return Object.fromEntries(tags.map(({ name, value }) => [name, value]));
}

/** The variables of one mail, which are not stored as data of the contact. */
function variablesOf(variables: Readonly<Record<string, string | number>>) {
  const reserved = Object.keys(variables).find(isSetByService);
  if (reserved !== undefined) {
    const field = `template.variables.${reserved}`;
    throw fieldError(field, "invalid_value", "is a name of the service");
  }
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [name, { value, persistent: false }]),
  );
}

type SentAttachment = NonNullable<SendInput["attachments"]>[number];

function attachmentOf(attachment: ResendAttachment): SentAttachment {
  const { filename, content, content_type: type } = attachment;
  const id = textOr(attachment.content_id) ?? attachment.inline_content_id;
  const url = textOr(attachment.path);
  const [contentType, contentId] = [textOr(type), textOr(id)?.replace(/^<(.*)>$/, "$1")];
  const given = base64Of(content);
  return {
    filename: filename ?? nameIn(url ?? ""),
    ...(typeof given === "string" && (given !== "" || url === undefined) ? { content: given } : {}),
    ...(url === undefined ? {} : { url }),
    ...(contentType === undefined ? {} : { contentType }),
    ...(contentId === undefined ? {} : { contentId, disposition: "inline" }),
  };
}

function base64Of(content: ResendAttachment["content"]): string | null | undefined {
  if (typeof content !== "object" || content === null) return content;
  return Buffer.from(Array.isArray(content) ? content : content.data).toString("base64");
}

/** The name of the file at a URL: the last part of its path. */
function nameIn(url: string): string {
  const path = URL.canParse(url) ? new URL(url).pathname : "";
  return path.slice(path.lastIndexOf("/") + 1);
}
