/** Parses raw messages with mailparser: for lists and searches, and for the display of one message. */

import { isUtf8 } from "node:buffer";
import { Readable } from "node:stream";
import { type AddressObject, type Attachment, type ParsedMail, simpleParser } from "mailparser";
import type { Detail } from "../../../checks/detail.ts";
import { htmlToText } from "../../../render/text.ts";
import type { NamedAddress, ParsedMessage, Part } from "../messages/record.ts";
import { type ContentFacts, takeBodies, type TakenBodies } from "./encoded-bodies.ts";
import { MAX_NAME_CHARACTERS, parsedMessageOf, snippetOf } from "./parsed-message.ts";
import { parsePlain } from "./plain-message.ts";

const PIECE_BYTES = 1024 * 1024;
/** Longest HTML from which text for searches is made. */
const MAX_HTML_CHARACTERS = 512 * 1024;

const OPTIONS = {
  skipHtmlToText: true,
  skipTextToHtml: true,
  skipImageLinks: true,
  skipTextLinks: true,
} as const;

/** Parses a message for lists and searches. */
export async function parseForIndex(
  raw: Uint8Array,
  envelopeRecipients: readonly string[],
): Promise<ParsedMessage> {
  const plain = parsePlain(raw, envelopeRecipients);
  if (plain !== null) return plain;
  const { mail, factsOf } = await parseWithoutBodies(bufferOf(raw));
  const parts = mail.attachments
    .map((attachment, i) => ({ ...partOf(attachment, i), ...factsOf(attachment.content) }))
    .filter(isNamed);
  const text = textOf(mail);
  return parsedMessageOf(
    {
      messageId: mail.messageId ?? "",
      subject: mail.subject ?? "",
      date: mail.date instanceof Date ? mail.date : null,
      snippet: snippetOf(text),
      body: { text },
      tags: tagValuesOf(mail),
      parts,
      from: mailboxesOf(mail.from),
      to: mailboxesOf(mail.to),
      cc: mailboxesOf(mail.cc),
      bcc: mailboxesOf(mail.bcc),
      replyTo: mailboxesOf(mail.replyTo),
    },
    envelopeRecipients,
  );
}

type MailWithFacts = { mail: ParsedMail; factsOf: TakenBodies["factsOf"] };

/** Parses a message whose attachments are described by `factsOf` instead of their contents. */
async function parseWithoutBodies(raw: Buffer): Promise<MailWithFacts> {
  const { rest, factsOf, areAttachments } = takeBodies(raw);
  const mail = await parseMail(rest);
  const isComplete = areAttachments(mail.attachments.map(({ content }) => content));
  return { mail: isComplete ? mail : await parseMail(raw), factsOf };
}

/** Mailparser needs less time and memory for pieces than for one large buffer. */
function parseMail(raw: Uint8Array): Promise<ParsedMail> {
  const bytes = bufferOf(raw);
  if (bytes.byteLength <= PIECE_BYTES) return simpleParser(bytes, OPTIONS);
  const count = Math.ceil(bytes.byteLength / PIECE_BYTES);
  const pieces = Array.from({ length: count }, (_, i) =>
    bytes.subarray(i * PIECE_BYTES, (i + 1) * PIECE_BYTES),
  );
  return simpleParser(Readable.from(pieces), OPTIONS);
}

const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/** Parses a message for display. */
export async function parseDetail(raw: Uint8Array): Promise<Detail> {
  const mail = await parseMail(raw);
  return {
    text: mail.text ?? "",
    html: mail.html === false ? "" : mail.html,
    headers: mail.headerLines.map(({ line }) => headerOf(line)),
  };
}

/** The contents of the attachments and inline parts with these ids. */
export async function parseParts(
  raw: Uint8Array,
  partIds: readonly string[],
): Promise<Map<string, Uint8Array>> {
  const { attachments } = await parseMail(raw);
  const parts = new Map<string, Uint8Array>();
  for (const [i, attachment] of attachments.entries()) {
    const id = partIdOf(attachment, i);
    if (partIds.includes(id) && !parts.has(id)) parts.set(id, attachment.content);
  }
  return parts;
}

function headerOf(line: string): { name: string; value: string } {
  const unfolded = decoded(line).replace(/\r?\n[ \t]+/g, " ");
  const colon = unfolded.indexOf(":");
  if (colon === -1) return { name: unfolded.trim(), value: "" };
  return { name: unfolded.slice(0, colon).trim(), value: unfolded.slice(colon + 1).trim() };
}

/** mailparser gives the bytes of a line as characters; in most messages they are UTF-8 (RFC 6532). */
function decoded(line: string): string {
  const bytes = Buffer.from(line, "latin1");
  return isUtf8(bytes) ? bytes.toString("utf8") : line;
}

function mailboxesOf(field: AddressObject | AddressObject[] | undefined): NamedAddress[] {
  if (field === undefined) return [];
  const objects = Array.isArray(field) ? field : [field];
  return objects
    .flatMap(({ value }) => value)
    .flatMap((entry) => entry.group ?? [entry])
    .map(({ name, address }) => ({ name, address: address ?? "" }));
}

/** The visible text: the text part, or else the text of the HTML part. */
function textOf(mail: ParsedMail): string {
  if (mail.text !== undefined && mail.text.trim() !== "") return mail.text;
  return mail.html === false ? "" : htmlToText(mail.html.slice(0, MAX_HTML_CHARACTERS));
}

/** The values of X-Tags. */
function tagValuesOf(mail: ParsedMail): string[] {
  const value = mail.headers.get("x-tags");
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.map(String) : [];
}

function partIdOf(attachment: Attachment, index: number): string {
  const partId: unknown = "partId" in attachment ? attachment.partId : undefined;
  return typeof partId === "string" ? partId : String(index + 1);
}

function partOf(attachment: Attachment, index: number): Omit<Part, keyof ContentFacts> {
  const { contentType, filename, cid, contentDisposition, related } = attachment;
  return {
    partId: partIdOf(attachment, index),
    // mailparser leaves `related` out, against its types, if the part is not related to another one.
    isInline: [contentDisposition === "inline", related].includes(true),
    filename: (filename ?? "").slice(0, MAX_NAME_CHARACTERS),
    contentType: contentType.slice(0, MAX_NAME_CHARACTERS),
    contentId: (cid ?? "").slice(0, MAX_NAME_CHARACTERS),
  };
}

/** Parts without a name and without an id are not attachments. */
function isNamed({ filename, contentId }: Part): boolean {
  return filename !== "" || contentId !== "";
}
