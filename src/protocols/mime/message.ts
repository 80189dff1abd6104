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
import { isContentId, isHeaderName, isHeaderText, isOwnedHeader } from "./headers.ts";
import { type Attachment, attachmentPart, bytesOf, multipart, textPart } from "./parts.ts";
import type { Pieces } from "./text-encoding.ts";

export type { Attachment } from "./parts.ts";

type Mailbox = { name: string | null; address: string };

export type MessageInput = {
  from: Mailbox;
  to: Mailbox;
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
  const lines = [...headerLines(input), "MIME-Version: 1.0"];
  return { ok: true, message: bytesOf([`${lines.join("\r\n")}\r\n`, ...body(input)]) };
}

function headerLines(input: PartsInput): string[] {
  const { from, to, replyTo, subject, messageId, date } = input;
  const own = input.headers.filter(([name]) => replyTo === null || !/^reply-to$/i.test(name));
  return [
    addressLine("From", inAscii(from)),
    addressLine("To", inAscii(to)),
    ...(replyTo === null
      ? []
      : [addressLine("Reply-To", inAscii({ name: null, address: replyTo }))]),
    textLine("Subject", subject),
    `Date: ${messageDate(date)}`,
    `Message-ID: ${messageId}`,
    ...own.map(([name, value]) => rawLine(name, value)),
  ];
}

/** Converts the domain to A-labels. The local part stays as written, as people know it. */
function inAscii({ name, address }: Mailbox): Mailbox {
  const parsed = parseAddress(address);
  if (!parsed.ok) return { name, address };
  const written = trimBlanks(address);
  const local = written.slice(0, written.lastIndexOf("@"));
  return { name, address: `${local}@${parsed.domain}` };
}

function body({ htmlPart, plainPart, attachments, messageId }: PartsInput): Pieces {
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
  const base = new Bun.CryptoHasher("sha256").update(messageId).digest("hex").slice(0, 32);
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
    mailboxFault("From", from) ??
    mailboxFault("To", to) ??
    (replyTo === null ? null : mailboxFault("Reply-To", { name: null, address: replyTo })) ??
    firstOf(input.headers, ([name, value]) => headerFault(name, value)) ??
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

function mailboxFault(header: string, { name, address }: Mailbox): string | null {
  if (name !== null && !isHeaderText(name)) return `${header}: the name has a control character.`;
  const parsed = parseAddress(address);
  return parsed.ok ? null : `${header}: ${parsed.reason}`;
}

function headerFault(name: string, value: string): string | null {
  if (!isHeaderName(name)) return "A header has an invalid name.";
  if (isOwnedHeader(name)) return `The header ${name} is set by the service.`;
  return isHeaderText(value) ? null : `The header ${name} contains a control character.`;
}

function attachmentFault({ filename, contentType, contentId }: Attachment): string | null {
  if (!isHeaderText(filename)) return "A file name contains a control character.";
  if (!isMediaType(contentType)) return "An attachment has an invalid content type.";
  return contentId === null || isContentId(contentId) ? null : "A contentId is not valid.";
}

/** The form of dates in header fields (RFC 5322 §3.3). */
export function messageDate(date: Date): string {
  return date.toUTCString().replace("GMT", "+0000");
}
