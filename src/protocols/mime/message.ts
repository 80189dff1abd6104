/**
 * Composes a message (RFC 5322, MIME; docs/delivery.md#C1, docs/delivery.md#C3,
 * docs/delivery.md#C7). It is a pure function, so every attempt sends the same bytes. The message
 * is ASCII, except for a non-ASCII local part in an address.
 *
 * 1. All values are checked again (`headers.ts`, `address.ts`, `content-type.ts`).
 * 2. `header-lines.ts` writes and folds the headers.
 * 3. `parts.ts` encodes texts and attachments. They are nested as
 *    mixed(alternative(text, related(html, inline…)), attachment…), without the unneeded levels.
 *
 * Nothing is read from a file or a URL.
 */

import { trimBlanks } from "../../lib/trim.ts";
import { parseAddress } from "./address.ts";
import { isMediaType } from "./content-type.ts";
import { addressLine, rawLine, textLine } from "./header-lines.ts";
import { parseMailbox } from "./mailbox.ts";
import { isContentId, isHeaderName, isHeaderText, isOwnedHeader } from "./headers.ts";
import { type Attachment, attachmentPart, bytesOf, multipart, textPart } from "./parts.ts";
import type { Pieces } from "./text-encoding.ts";

export type { Attachment } from "./parts.ts";

type Mailbox = { name: string | null; address: string };

export type MessageInput = {
  from: Mailbox;
  to: Mailbox;
  /** A mailbox as text, with or without a display name. */
  replyTo: string | null;
  subject: string;
  html: string;
  text: string;
  /** More headers in this order. Headers that the service writes itself are refused. */
  headers: readonly (readonly [name: string, value: string])[];
  attachments: readonly Attachment[];
  /** With angle brackets. The boundaries are derived from it. */
  messageId: string;
  date: Date;
};

/** The two text parts: headers, a blank line and the encoded body. */
export type TextParts = { htmlPart: Pieces; plainPart: Pieces };

type PartsInput = Omit<MessageInput, "html" | "text"> & TextParts;

type Composed =
  | {
      ok: true;
      /** CRLF line ends, no dot-stuffing. */
      message: Uint8Array;
    }
  | { ok: false; reason: string };

/**
 * Composes a message to one recipient; refuses values that could add headers (docs/delivery.md#C2).
 */
export function composeMessage(input: MessageInput): Composed {
  if (input.html.includes("\0") || input.text.includes("\0")) {
    return { ok: false, reason: firstFault(input) ?? "The body contains NUL." };
  }
  const { html, text, ...rest } = input;
  return composeParts({
    ...rest,
    htmlPart: textPart("html", html),
    plainPart: textPart("plain", text),
  });
}

/** Like `composeMessage` with text parts that are encoded already, as `textPart` does it. */
export function composeParts(input: PartsInput): Composed {
  const reason = firstFault(input);
  if (reason !== null) return { ok: false, reason };
  return { ok: true, message: bytesOf([headerBlock(input), ...body(input)]) };
}

/** The header fields with their line ends, up to those of the body. */
function headerBlock(input: PartsInput): string {
  const { from, to, replyTo, subject, messageId, date, headers } = input;
  let block = `${mailboxField("From", from).line}\r\n${mailboxField("To", to).line}\r\n`;
  if (replyTo !== null) block += `${replyField("Reply-To", replyTo).line}\r\n`;
  block += `${textLine("Subject", subject)}\r\nDate: ${messageDate(date)}\r\n`;
  block += `Message-ID: ${messageId}\r\n`;
  for (const header of headers) {
    if (replyTo !== null && /^reply-to$/i.test(header[0])) continue;
    block += `${callerField(header[0], header[1]).line}\r\n`;
  }
  return `${block}MIME-Version: 1.0\r\n`;
}

/** A written header field, and why it must not be sent; null if it may be. */
type Field = { line: string; fault: string | null };

/** Most mails of a campaign have the same sender and the same headers. */
const mailboxField = latestByName<Mailbox>(
  (a, b) => a.name === b.name && a.address === b.address,
  (header, { name, address }) => {
    const parsed = parseAddress(address);
    const isBadName = name !== null && !isHeaderText(name);
    const reason = parsed.ok ? null : `${header}: ${parsed.reason}`;
    const fault = isBadName ? `${header}: the name has a control character.` : reason;
    if (fault !== null || !parsed.ok) return { line: "", fault };
    const ascii = parsed.address === address ? address : inAscii(address, parsed.domain);
    return { line: addressLine(header, { name, address: ascii }), fault };
  },
);

const replyField = latestByName<string>(
  (a, b) => a === b,
  (header, text) => {
    const parsed = parseMailbox(text);
    if (parsed.ok) return mailboxField(header, parsed.mailbox);
    return { line: "", fault: `${header}: ${parsed.reason}` };
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

function body({ htmlPart, plainPart, attachments, messageId }: PartsInput): Pieces {
  if (attachments.length === 0) {
    return multipart("alternative", boundaries(messageId)(), [plainPart, htmlPart]);
  }
  const isRelated = ({ disposition, contentId }: Attachment) =>
    disposition === "inline" && contentId !== null;
  const related = attachments.filter(isRelated).map(attachmentPart);
  const mixed = attachments.filter((attachment) => !isRelated(attachment)).map(attachmentPart);
  const boundary = boundaries(messageId);
  const rich =
    related.length === 0 ? htmlPart : multipart("related", boundary(), [htmlPart, ...related]);
  const alternative = multipart("alternative", boundary(), [plainPart, rich]);
  return mixed.length === 0 ? alternative : multipart("mixed", boundary(), [alternative, ...mixed]);
}

/** `=_` occurs neither in quoted-printable nor in base64 (RFC 2045 §6.7). */
function boundaries(messageId: string): () => string {
  const base = Bun.SHA256.hash(messageId, "hex").slice(0, 32);
  let count = 0;
  return () => `=_${base}_${++count}`;
}

/** Checks again all values that become headers (docs/delivery.md#C1, docs/delivery.md#C2). */
function firstFault(input: Omit<MessageInput, "html" | "text">): string | null {
  const { from, to, replyTo, subject, messageId, date } = input;
  if (!/^<[!-;=?-~]+@[!-;=?-~]+>$/.test(messageId) || messageId.length > LONGEST_ID) {
    return "The Message-ID is not valid.";
  }
  if (Number.isNaN(date.getTime())) return "The date is not valid.";
  if (!isHeaderText(subject)) return "The subject contains a control character.";
  return (
    mailboxField("From", from).fault ??
    mailboxField("To", to).fault ??
    (replyTo === null ? null : replyField("Reply-To", replyTo).fault) ??
    firstOf(input.headers, (header) => callerField(header[0], header[1]).fault) ??
    firstOf(input.attachments, attachmentFault)
  );
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
