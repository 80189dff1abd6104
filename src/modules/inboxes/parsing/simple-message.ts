/**
 * Parses a small message whose content is one text that is not encoded, with the functions of
 * mailparser but without its streams: four streams for each message take several times as long as
 * the parsing of the header. All other messages are parsed by the whole of mailparser.
 */

import { type AddressObject, MailParser, type MimeNode, type ParsedMail } from "mailparser";

/** The parts of a message that lists and searches need. */
export type IndexedMail = Pick<
  ParsedMail,
  | "attachments"
  | "bcc"
  | "cc"
  | "date"
  | "from"
  | "headers"
  | "html"
  | "messageId"
  | "replyTo"
  | "subject"
  | "text"
  | "to"
>;

const MAX_BYTES = 64 * 1024;
const TEXT_TYPES: readonly unknown[] = ["text/plain", "text/html"];
/** Encodings that are decoded. With all others, the content is the text itself. */
const DECODED: readonly unknown[] = ["base64", "quoted-printable"];
/** Names of UTF-8 and its subset, without punctuation. */
const UTF8 = ["ascii", "usascii", "utf8"];

/** The fields that lists and searches need. */
const FIELDS = new Set([
  "bcc",
  "cc",
  "date",
  "from",
  "message-id",
  "reply-to",
  "subject",
  "to",
  "x-tags",
]);

class HeaderParser extends MailParser {
  /** It is not shown anywhere, and takes half of the time of an address. */
  override getAddressesHTML(): string {
    return "";
  }
}

/** It parses one header after the other and keeps nothing of them. */
const parser = new HeaderParser();

/** Returns null if the message has to be parsed by the whole of mailparser. */
export function parseSimple(raw: Buffer): IndexedMail | null {
  const bodyAt = raw.byteLength > MAX_BYTES ? -1 : findBody(raw);
  if (bodyAt === -1) return null;
  const { splitter } = parser;
  splitter.newNode();
  const { node } = splitter;
  node.addHeaderChunk(raw.subarray(0, bodyAt));
  node.parseHeaders();
  if (node.headers === false || !isSimple(node)) return null;
  const headers = parser.processHeaders(
    node.headers.getList().filter(({ key }) => FIELDS.has(key)),
  );
  const content = raw.toString("utf8", bodyAt).replaceAll("\r\n", "\n");
  const isHtml = node.contentType === "text/html" && content !== "";
  const text = isHtml ? "" : content;
  const one = (name: string) => stringOf(headers.get(name));
  const mailboxes = (name: string) => addressesOf(headers.get(name));
  const date = headers.get("date");
  return {
    attachments: [],
    bcc: mailboxes("bcc"),
    cc: mailboxes("cc"),
    date: date instanceof Date ? date : undefined,
    from: mailboxes("from")?.[0],
    headers,
    html: isHtml ? content : false,
    messageId: one("message-id"),
    replyTo: mailboxes("reply-to")?.[0],
    subject: one("subject"),
    text: content === "" ? undefined : text,
    to: mailboxes("to"),
  };
}

/** The position after the first empty line; -1 without one, or if the message begins with one. */
function findBody(raw: Buffer): number {
  const crlf = raw.indexOf("\n\r\n");
  const lf = raw.indexOf("\n\n");
  if (raw[0] === 0x0a || (raw[0] === 0x0d && raw[1] === 0x0a)) return -1;
  if (crlf === -1) return lf === -1 ? -1 : lf + 2;
  return lf === -1 || crlf < lf ? crlf + 3 : lf + 2;
}

function isSimple(node: MimeNode): boolean {
  const charset = (node.charset === false ? "utf-8" : node.charset).toLowerCase();
  return (
    TEXT_TYPES.includes(node.contentType) &&
    (node.disposition === false || node.disposition === "inline") &&
    !DECODED.includes(node.encoding) &&
    UTF8.includes(charset.replace(/[^a-z0-9]+/g, "")) &&
    !node.flowed &&
    node._boundary === false
  );
}

function stringOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A field that occurs several times is a list. */
function addressesOf(value: unknown): AddressObject[] | undefined {
  const found = [value].flat().filter(isAddresses);
  return found.length === 0 ? undefined : found;
}

function isAddresses(value: unknown): value is AddressObject {
  return (
    typeof value === "object" && value !== null && "value" in value && Array.isArray(value.value)
  );
}
