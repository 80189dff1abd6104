/** Composes the message of `/send` (RFC 5322, MIME), with the parts of protocols/mime. */

import { parseAddress } from "../../../protocols/mime/address.ts";
import { isMediaType } from "../../../protocols/mime/content-type.ts";
import { addressLine, fold, rawLine, textLine } from "../../../protocols/mime/header-lines.ts";
import { displayName } from "../../../protocols/mime/mailbox.ts";
import { isContentId, isHeaderName, isHeaderText } from "../../../protocols/mime/headers.ts";
import { messageDate } from "../../../protocols/mime/message.ts";
import {
  type Attachment,
  attachmentPart,
  bytesOf,
  multipart,
  textPart,
} from "../../../protocols/mime/parts.ts";
import type { Pieces } from "../../../protocols/mime/text-encoding.ts";
import { badRequest } from "./answers.ts";

export type SentMailbox = { name: string; address: string };

export type SentMessage = {
  from: SentMailbox;
  to: readonly SentMailbox[];
  cc: readonly SentMailbox[];
  bcc: readonly SentMailbox[];
  replyTo: readonly SentMailbox[];
  subject: string;
  text: string;
  html: string;
  headers: readonly (readonly [name: string, value: string])[];
  tags: readonly string[];
  attachments: readonly Attachment[];
  /** With angle brackets. */
  messageId: string;
  date: Date;
};

const LONGEST_VALUE = 10_000;
const RESERVED =
  /^(?:to|from|cc|bcc|reply-to|date|subject|content-type|content-transfer-encoding|mime-version)$/i;

/** Throws 400 for a value that cannot stand in a message. */
export function composeSent(message: SentMessage): Buffer {
  const { from, to, cc, bcc, replyTo, subject, tags, messageId, date } = message;
  const hasOwnId = message.headers.some(([name]) => /^message-id$/i.test(name));
  const lines = [
    `Return-Path: <${checkedAddress("From", from)}>`,
    addressList("From", [from]),
    ...optionalList("To", to),
    ...optionalList("Cc", cc),
    ...optionalList("Bcc", bcc),
    ...optionalList("Reply-To", replyTo),
    textLine("Subject", checkedText("Subject", subject)),
    `Date: ${messageDate(date)}`,
    ...(hasOwnId ? [] : [`Message-ID: ${messageId}`]),
    ...message.headers.map(([name, value]) => header(name, value, tags.length > 0)),
    ...(tags.length === 0 ? [] : [textLine("X-Tags", checkedText("Tags", tags.join(", ")))]),
    "MIME-Version: 1.0",
  ];
  return bytesOf([`${lines.join("\r\n")}\r\n`, ...body(message)]);
}

function body({ text, html, messageId, ...rest }: SentMessage): Pieces {
  const boundary = boundaries(messageId);
  const attachments = rest.attachments.map((attachment) => ({
    ...attachment,
    filename: displayName(attachment.filename),
  }));
  attachments.forEach(checkAttachment);
  const isRelated = ({ disposition }: Attachment) => disposition === "inline";
  const related = attachments.filter(isRelated).map(attachmentPart);
  const mixed = attachments.filter((each) => !isRelated(each)).map(attachmentPart);
  const htmlPart = html === "" ? null : textPart("html", html);
  const rich =
    related.length === 0 || htmlPart === null
      ? htmlPart
      : multipart("related", boundary(), [htmlPart, ...related]);
  const others = htmlPart === null ? [...related, ...mixed] : mixed;
  const plain = rich === null || text !== "" ? textPart("plain", text) : null;
  const content =
    plain !== null && rich !== null
      ? multipart("alternative", boundary(), [plain, rich])
      : (plain ?? rich ?? []);
  return others.length === 0 ? content : multipart("mixed", boundary(), [content, ...others]);
}

/** `=_` occurs neither in quoted-printable nor in base64 (RFC 2045 §6.7). */
function boundaries(messageId: string): () => string {
  const base = new Bun.CryptoHasher("sha256").update(messageId).digest("hex").slice(0, 32);
  let count = 0;
  return () => `=_${base}_${++count}`;
}

function optionalList(name: string, list: readonly SentMailbox[]): string[] {
  return list.length === 0 ? [] : [addressList(name, list)];
}

function addressList(name: string, list: readonly SentMailbox[]): string {
  const written = list.map((mailbox) => {
    const address = checkedAddress(name, mailbox);
    const line = addressLine(name, { name: checkedText(name, displayName(mailbox.name)), address });
    return line.slice(name.length + 2).replaceAll("\r\n", "");
  });
  return fold(`${name}: ${written.join(", ")}`);
}

function checkedAddress(name: string, { address }: SentMailbox): string {
  const parsed = parseAddress(address);
  if (!parsed.ok) throw badRequest(`invalid ${name} address: ${parsed.reason}`);
  return address.trim();
}

function checkedText(name: string, text: string): string {
  if (isHeaderText(text) && text.length <= LONGEST_VALUE) return text;
  throw badRequest(`${name} has a control character or is too long`);
}

function header(name: string, value: string, hasTags: boolean): string {
  if (!isHeaderName(name)) throw badRequest("invalid header name");
  if (RESERVED.test(name) || (hasTags && /^x-tags$/i.test(name))) {
    throw badRequest(`header name "${name}" is reserved`);
  }
  return rawLine(name, checkedText(name, value));
}

function checkAttachment({ filename, contentType, contentId }: Attachment): void {
  checkedText("Filename", filename);
  if (!isMediaType(contentType)) throw badRequest(`invalid ContentType of ${filename}`);
  if (contentId !== null && !isContentId(contentId)) {
    throw badRequest(`invalid ContentID of ${filename}`);
  }
}
