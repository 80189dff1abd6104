/**
 * Parses a small message of plain text with an ASCII header in its most common form: what programs
 * send most in development. It takes microseconds and is bounded, so it needs no thread. All other
 * messages are left to mailparser, and the test compares the results with those of mailparser.
 */

import { isUtf8 } from "node:buffer";
import type { NamedAddress, ParsedMessage } from "../messages/record.ts";
import { foldAscii, MAX_ASCII_BYTES, spacedAscii } from "../search/fold-ascii.ts";
import {
  type MessageContent,
  parsedMessageOf,
  SNIPPET_CHARACTERS,
  snippetOf,
} from "./parsed-message.ts";

/** A longer body has a signature for searches, which takes long to compute. */
const MAX_BODY_BYTES = MAX_ASCII_BYTES;
const MAX_HEADER_BYTES = 8 * 1024;
const ESCAPE = 0x1b;

/** The fields that lists and searches need, and those that describe the content. */
const FIELDS = [
  "bcc",
  "cc",
  "content-disposition",
  "content-transfer-encoding",
  "content-type",
  "date",
  "from",
  "message-id",
  "reply-to",
  "subject",
  "to",
  "x-tags",
] as const;
type FieldName = (typeof FIELDS)[number];
type Fields = Partial<Record<FieldName, string>>;

const FIELD_NAMES = new Set<string>(FIELDS);

/** Printable ASCII. */
const VALUE = /^[ -~]*$/;
const PLAIN_TYPE = /^text\/plain(?:; ?charset=(?:"(?:utf-8|us-ascii)"|utf-8|us-ascii))?$/i;
const PLAIN_ENCODING = /^(?:7bit|8bit)$/i;
const MESSAGE_ID = /^<?[A-Za-z0-9!#$%&*+./_{|}~@-]+>?$/;

const ADDRESS = /^[A-Za-z0-9.!#$%&'*+/^_{|}~-]+@[A-Za-z0-9.-]+$/;
const NAME = /^[A-Za-z0-9 .'_&!-]*$/;
const QUOTED_NAME = /^"[A-Za-z0-9 .,_&!-]*"$/;

/** Returns null if the message has to be parsed by mailparser. */
export function parsePlain(
  raw: Uint8Array,
  envelopeRecipients: readonly string[],
): ParsedMessage | null {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const end = bytes.byteLength > MAX_HEADER_BYTES + MAX_BODY_BYTES ? -1 : bytes.indexOf("\r\n\r\n");
  if (end === -1 || end > MAX_HEADER_BYTES || bytes.byteLength - end > MAX_BODY_BYTES) return null;
  const content = bytes.subarray(end + 4);
  // Other encodings are guessed, and ISO-2022-JP begins with an escape.
  if (!isUtf8(content) || content.includes(ESCAPE)) return null;
  const fields = fieldsOf(bytes.toString("latin1", 0, end));
  if (fields === null || !isPlain(fields)) return null;
  const from = mailboxesOf(fields.from);
  const to = mailboxesOf(fields.to);
  const cc = mailboxesOf(fields.cc);
  const bcc = mailboxesOf(fields.bcc);
  const replyTo = mailboxesOf(fields["reply-to"]);
  if (from === null || to === null || cc === null || bcc === null || replyTo === null) return null;
  const date = fields.date === undefined ? null : new Date(fields.date);
  if (date !== null && Number.isNaN(date.getTime())) return null;
  return parsedMessageOf(
    {
      messageId: fields["message-id"] ?? "",
      subject: fields.subject ?? "",
      date,
      ...bodyOf(content),
      tags: [],
      parts: [],
      from,
      to,
      cc,
      bcc,
      replyTo,
    },
    envelopeRecipients,
  );
}

/** Returns null if a needed field is folded, occurs twice or has other characters than ASCII. */
function fieldsOf(header: string): Fields | null {
  const fields: Fields = {};
  let isNeeded = true;
  for (let at = 0; at < header.length;) {
    const next = header.indexOf("\r\n", at);
    const end = next === -1 ? header.length : next;
    const lf = header.indexOf("\n", at);
    if (lf !== -1 && lf < end) return null;
    if (header[at] === " " || header[at] === "\t") {
      if (isNeeded) return null;
    } else {
      const colon = header.indexOf(":", at);
      if (colon <= at || colon > end) return null;
      const name = header.slice(at, colon).toLowerCase();
      // Mailparser reads a line of HTML after the last field as a part of the body.
      if (name.trim() !== name || name.includes("<")) return null;
      isNeeded = isFieldName(name);
      if (isFieldName(name)) {
        const value = header.slice(colon + 1, end);
        if (!VALUE.test(value) || value.includes("=?") || fields[name] !== undefined) return null;
        fields[name] = value.trim();
      }
    }
    at = end + 2;
  }
  return fields;
}

function bodyOf(bytes: Buffer): Pick<MessageContent, "snippet" | "body"> {
  const snippet = spacedAscii(bytes, SNIPPET_CHARACTERS);
  const folded = snippet === null ? null : foldAscii(bytes);
  if (snippet !== null && folded !== null) return { snippet, body: { folded } };
  const text = bytes.toString("utf8").replaceAll("\r\n", "\n");
  return { snippet: snippetOf(text), body: { text } };
}

function isFieldName(name: string): name is FieldName {
  return FIELD_NAMES.has(name);
}

function isPlain(fields: Fields): boolean {
  const messageId = fields["message-id"];
  return (
    fields["content-disposition"] === undefined &&
    fields["x-tags"] === undefined &&
    PLAIN_TYPE.test(fields["content-type"] ?? "text/plain") &&
    PLAIN_ENCODING.test(fields["content-transfer-encoding"] ?? "7bit") &&
    (messageId === undefined || MESSAGE_ID.test(messageId))
  );
}

/** Returns null if the list of mailboxes has another form. */
function mailboxesOf(value: string | undefined): NamedAddress[] | null {
  if (value === undefined || value === "") return [];
  if (value.includes("  ") || value.includes("@xn--")) return null;
  const mailboxes: NamedAddress[] = [];
  for (let at = 0; at < value.length;) {
    if (value[at] === " ") at++;
    const quoteEnd = value[at] === '"' ? value.indexOf('"', at + 1) : at;
    const comma = value.indexOf(",", quoteEnd);
    const end = comma === -1 ? value.length : comma;
    const mailbox = mailboxOf(value.slice(at, end).trim());
    if (mailbox === null || quoteEnd === -1) return null;
    mailboxes.push(mailbox);
    at = end + 1;
  }
  return mailboxes;
}

/** `name <address>` or an address. */
function mailboxOf(text: string): NamedAddress | null {
  const bracket = text.indexOf("<");
  if (bracket === -1) return ADDRESS.test(text) ? { name: "", address: text } : null;
  const name = text.slice(0, bracket).trim();
  const address = text.slice(bracket + 1, -1);
  if (!text.endsWith(">") || !ADDRESS.test(address)) return null;
  if (QUOTED_NAME.test(name)) return { name: name.slice(1, -1).trim(), address };
  return NAME.test(name) ? { name, address } : null;
}
