/**
 * Composes a message (RFC 5322, MIME; docs/delivery.md#C1, docs/delivery.md#C3,
 * docs/delivery.md#C7). It is a pure function, so every attempt sends the same bytes. The message
 * is ASCII, except for a non-ASCII local part in an address.
 *
 * 1. The fields of the sender, those of the recipient and the caller's are checked again
 *    (`headers.ts`, `address.ts`, `content-type.ts`), written and folded (`header-lines.ts`).
 * 2. `parts.ts` encodes texts and attachments. They are nested as
 *    mixed(alternative(text, related(html, inline…)), attachment…), without the unneeded levels.
 *
 * Nothing is read from a file or a URL.
 */

import { trimBlanks } from "../../lib/trim.ts";
import { parseAddress } from "./address.ts";
import { isMediaType } from "./content-type.ts";
import { addressLine, addressListLine, rawLine, textLine } from "./header-lines.ts";
import { type Mailbox, parseMailbox, splitMailboxes } from "./mailbox.ts";
import { isContentId, isHeaderName, isHeaderText, isOwnedHeader } from "./headers.ts";
import { type Attachment, attachmentPart, bytesOf, multipart, textPart } from "./parts.ts";
import type { Pieces } from "./text-encoding.ts";
import type { VisibleRecipients } from "./visible-recipients.ts";

export type { Attachment } from "./parts.ts";

export type MessageInput = {
  from: Mailbox;
  to: Mailbox;
  /** Absent or null if To shows the recipient alone. */
  visible?: VisibleRecipients | null;
  /** Mailboxes as text, with or without display names, separated by commas. */
  replyTo: string | null;
  subject: string;
  /** Null for a message that has only a text. */
  html: string | null;
  text: string;
  /** More headers in this order. Headers that the service writes itself are refused. */
  headers: readonly (readonly [name: string, value: string])[];
  attachments: readonly Attachment[];
  /** With angle brackets. The boundaries are derived from it. */
  messageId: string;
  date: Date;
};

type Composed =
  | {
      ok: true;
      /** CRLF line ends, no dot-stuffing. */
      message: Uint8Array;
    }
  | { ok: false; reason: string };

/** Header fields with their line ends. */
type Fields = { ok: true; lines: string } | { ok: false; reason: string };

/**
 * Composes a message to one recipient; refuses values that could add headers (docs/delivery.md#C2).
 */
export function composeMessage(input: MessageInput): Composed {
  let header = "";
  for (const fields of [senderFields(input), recipientFields(input), callerFields(input)]) {
    if (!fields.ok) return fields;
    header += fields.lines;
  }
  const reason = firstOf(input.attachments, attachmentFault);
  if (reason !== null) return { ok: false, reason };
  if (input.html?.includes("\0") === true || input.text.includes("\0")) {
    return { ok: false, reason: "The body contains NUL." };
  }
  return { ok: true, message: bytesOf([header, ...body(input)]) };
}

/** The first fields of a message. */
export function senderFields({ from, replyTo }: Pick<MessageInput, "from" | "replyTo">): Fields {
  const sender = mailboxField("From", from);
  const reply = replyTo === null ? null : replyField("Reply-To", replyTo);
  const fault = sender.fault ?? reply?.fault ?? null;
  if (fault !== null) return { ok: false, reason: fault };
  return { ok: true, lines: `${sender.line}\r\n${reply === null ? "" : `${reply.line}\r\n`}` };
}

/** The fields that differ in all mails. */
export function recipientFields(
  mail: Pick<MessageInput, "to" | "visible" | "subject" | "date" | "messageId">,
): Fields {
  const { to, visible = null, subject, date, messageId } = mail;
  if (!/^<[!-;=?-~]+@[!-;=?-~]+>$/.test(messageId) || messageId.length > LONGEST_ID) {
    return { ok: false, reason: "The Message-ID is not valid." };
  }
  if (Number.isNaN(date.getTime())) return { ok: false, reason: "The date is not valid." };
  if (!isHeaderText(subject)) {
    return { ok: false, reason: "The subject contains a control character." };
  }
  const { line, fault } = visible === null ? mailboxField("To", to) : visibleFields(visible);
  if (fault !== null) return { ok: false, reason: fault };
  const subjectLine = textLine("Subject", subject);
  const lines = `${line}\r\n${subjectLine}\r\nDate: ${messageDate(date)}\r\nMessage-ID: ${messageId}\r\n`;
  return { ok: true, lines };
}

/** To and Cc. To has at least one mailbox, because a request must name one. */
function visibleFields({ to, cc }: VisibleRecipients): Field {
  const fields = [mailboxesField("To", to), ...(cc.length === 0 ? [] : [mailboxesField("Cc", cc)])];
  const fault = fields.find((field) => field.fault !== null)?.fault ?? null;
  return { line: fields.map(({ line }) => line).join("\r\n"), fault };
}

/** The caller's headers, and the version of MIME. */
export function callerFields(mail: Pick<MessageInput, "headers" | "replyTo">): Fields {
  let lines = "";
  for (const [name, value] of mail.headers) {
    const { line, fault } = callerField(name, value);
    if (fault !== null) return { ok: false, reason: fault };
    if (mail.replyTo !== null && /^reply-to$/i.test(name)) continue;
    lines += `${line}\r\n`;
  }
  return { ok: true, lines: `${lines}MIME-Version: 1.0\r\n` };
}

/** A written header field, and why it must not be sent; null if it may be. */
type Field = { line: string; fault: string | null };

/** Most mails of a campaign have the same sender and the same headers. */
const mailboxField = latestByName<Mailbox>(
  (a, b) => a.name === b.name && a.address === b.address,
  (header, { name, address }) => {
    const read = checkMailbox({ name, address });
    if (!read.ok) return { line: "", fault: `${header}: ${read.reason}` };
    return { line: addressLine(header, read.mailbox), fault: null };
  },
);

/** A mailbox with its domain in ASCII, or why it cannot stand in a header. */
function checkMailbox({
  name,
  address,
}: Mailbox): { ok: true; mailbox: Mailbox } | { ok: false; reason: string } {
  const parsed = parseAddress(address);
  if (name !== null && !isHeaderText(name)) {
    return { ok: false, reason: "the name has a control character." };
  }
  if (!parsed.ok) return parsed;
  const ascii = parsed.address === address ? address : inAscii(address, parsed.domain);
  return { ok: true, mailbox: { name, address: ascii } };
}

/** A header with several mailboxes. */
function mailboxesField(header: string, mailboxes: readonly Mailbox[]): Field {
  const written: Mailbox[] = [];
  for (const mailbox of mailboxes) {
    const read = checkMailbox(mailbox);
    if (!read.ok) return { line: "", fault: `${header}: ${read.reason}` };
    written.push(read.mailbox);
  }
  return { line: addressListLine(header, written), fault: null };
}

const replyField = latestByName<string>(
  (a, b) => a === b,
  (header, text) => {
    const mailboxes: Mailbox[] = [];
    for (const each of splitMailboxes(text)) {
      const parsed = parseMailbox(each);
      if (!parsed.ok) return { line: "", fault: `${header}: ${parsed.reason}` };
      mailboxes.push(parsed.mailbox);
    }
    const [only] = mailboxes;
    return mailboxes.length === 1 && only !== undefined
      ? mailboxField(header, only)
      : mailboxesField(header, mailboxes);
  },
);

const callerField = latestByName<string>(
  (a, b) => a === b,
  (name, value) => {
    const fault = headerFault(name, value);
    return { line: fault === null ? rawLine(name, value) : "", fault };
  },
);

/** Checks the name of a header; it has no line. */
const nameField = latestByName<string>(
  () => true,
  (name) => {
    const fault = isOwnedHeader(name) ? `The header ${name} is set by the service.` : null;
    return { line: "", fault: isHeaderName(name) ? fault : "A header has an invalid name." };
  },
);

/** Most header names whose latest field is kept. */
const MAX_NAMES = 64;

/** Returns a function that writes a field, and keeps the latest field of each name. */
function latestByName<T>(
  areSame: (a: T, b: T) => boolean,
  write: (name: string, value: T) => Field,
): (name: string, value: T) => Field {
  const latest = new Map<string, { value: T; field: Field }>();
  return (name, value) => {
    const known = latest.get(name);
    if (known !== undefined && areSame(known.value, value)) return known.field;
    const field = write(name, value);
    if (latest.size >= MAX_NAMES) latest.clear();
    latest.set(name, { value, field });
    return field;
  };
}

/** Converts the domain to A-labels. The local part stays as written, as people know it. */
function inAscii(address: string, domain: string): string {
  const written = trimBlanks(address);
  return `${written.slice(0, written.lastIndexOf("@"))}@${domain}`;
}

function body({ html, text, attachments, messageId }: MessageInput): Pieces {
  const boundary = boundaries(messageId);
  const plainPart = textPart("plain", text);
  const isRelated = ({ disposition, contentId }: Attachment) =>
    html !== null && disposition === "inline" && contentId !== null;
  const related = attachments.filter(isRelated).map(attachmentPart);
  const mixed = attachments.filter((attachment) => !isRelated(attachment)).map(attachmentPart);
  const texts = html === null ? plainPart : withHtml(plainPart, { html, related, boundary });
  return mixed.length === 0 ? texts : multipart("mixed", boundary(), [texts, ...mixed]);
}

function withHtml(
  plainPart: Pieces,
  rest: { html: string; related: readonly Pieces[]; boundary: () => string },
): Pieces {
  const { html, related, boundary } = rest;
  const htmlPart = textPart("html", html);
  const rich =
    related.length === 0 ? htmlPart : multipart("related", boundary(), [htmlPart, ...related]);
  return multipart("alternative", boundary(), [plainPart, rich]);
}

/** The body of a message whose only parts are encoded already. */
export function alternativeBody(messageId: string, parts: readonly Pieces[]): Pieces {
  return multipart("alternative", boundaries(messageId)(), parts);
}

/** `=_` occurs neither in quoted-printable nor in base64 (RFC 2045 §6.7). */
function boundaries(messageId: string): () => string {
  const base = Bun.SHA256.hash(messageId, "hex").slice(0, 32);
  let count = 0;
  return () => `=_${base}_${++count}`;
}

const LONGEST_ID = 400;

function firstOf<T>(items: readonly T[], fault: (item: T) => string | null): string | null {
  for (const item of items) {
    const found = fault(item);
    if (found !== null) return found;
  }
  return null;
}

function headerFault(name: string, value: string): string | null {
  const fault = nameField(name, "").fault;
  if (fault !== null) return fault;
  return isHeaderText(value) ? null : `The header ${name} contains a control character.`;
}

function attachmentFault({ filename, contentType, contentId }: Attachment): string | null {
  if (!isHeaderText(filename)) return "A file name contains a control character.";
  if (!isMediaType(contentType)) return "An attachment has an invalid content type.";
  return contentId === null || isContentId(contentId) ? null : "A contentId is not valid.";
}

/** The form of dates in header fields (RFC 5322 §3.3). */
export function messageDate(date: Date): string {
  // Many mails are accepted in the same second.
  const second = Math.floor(date.getTime() / 1000);
  if (second !== latestDate.second) {
    latestDate = { second, text: date.toUTCString().replace("GMT", "+0000") };
  }
  return latestDate.text;
}

let latestDate = { second: Number.NaN, text: "" };
