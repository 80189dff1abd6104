/** Parses raw messages: for lists and searches, and for the display of one message. */

import { isUtf8 } from "node:buffer";
import type { AddressObject, Attachment, Headers } from "mailparser";
import type { Detail } from "../../../checks/detail.ts";
import { htmlToText } from "../../../render/text.ts";
import type { NamedAddress, ParsedMessage, Part } from "../messages/record.ts";
import { type ContentFacts, takeBodies, type TakenBodies } from "./encoded-bodies.ts";
import { type ParsedParts, parseMessage } from "./message-parser.ts";
import { MAX_NAME_CHARACTERS, parsedMessageOf, snippetOf } from "./parsed-message.ts";
import { partNameOf } from "./part-names.ts";
import { parsePlain } from "./plain-message.ts";
import { readableRest } from "./readable-rest.ts";

/** Longest HTML from which text for searches is made. */
const MAX_HTML_CHARACTERS = 512 * 1024;

/** Parses a message for lists and searches. */
export async function parseForIndex(
  raw: Uint8Array,
  envelopeRecipients: readonly string[],
): Promise<ParsedMessage> {
  const plain = parsePlain(raw, envelopeRecipients);
  if (plain !== null) return plain;
  const { mail, factsOf } = await parseWithoutBodies(bufferOf(raw));
  const parts = mail.attachments.map((attachment, i) => ({
    ...partOf(attachment, i),
    ...factsOf(attachment.content),
  }));
  const text = textOf(mail);
  const { headers } = mail;
  const date = headers.get("date");
  return parsedMessageOf(
    {
      messageId: textIn(headers, "message-id"),
      subject: textIn(headers, "subject"),
      date: date instanceof Date ? date : null,
      snippet: snippetOf(text),
      body: { text },
      tags: tagValuesOf(headers),
      parts,
      from: mailboxesOf(headers, "from"),
      to: mailboxesOf(headers, "to"),
      cc: mailboxesOf(headers, "cc"),
      bcc: mailboxesOf(headers, "bcc"),
      replyTo: mailboxesOf(headers, "reply-to"),
    },
    envelopeRecipients,
  );
}

type MailWithFacts = { mail: ParsedParts; factsOf: TakenBodies["factsOf"] };

/** Parses a message whose attachments are described by `factsOf` instead of their contents. */
async function parseWithoutBodies(raw: Buffer): Promise<MailWithFacts> {
  const { rest, factsOf, areAttachments } = takeBodies(raw);
  const mail = await parseMail(rest);
  const isComplete = areAttachments(mail.attachments.map(({ content }) => content));
  return { mail: isComplete ? mail : await parseMail(raw), factsOf };
}

/** Parses the message; if its parts cannot be read, its header and its body as text. */
async function parseMail(raw: Buffer): Promise<ParsedParts> {
  try {
    return await parseMessage(raw);
  } catch {
    return parseMessage(readableRest(raw));
  }
}

const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/** Parses a message for display. Text and HTML have the line ends of the message. */
export async function parseDetail(raw: Uint8Array): Promise<Detail> {
  const { text, html, headerLines } = await parseMail(bufferOf(raw));
  return { text, html, headers: headerLines.map(({ line }) => headerOf(line)) };
}

/** The message with LF at the ends of its lines. */
export function withLf({ text, html, headers }: Detail): Detail {
  return { text: text.replaceAll("\r\n", "\n"), html: html.replaceAll("\r\n", "\n"), headers };
}

/** The contents of the attachments and inline parts with these ids. */
export async function parseParts(
  raw: Uint8Array,
  partIds: readonly string[],
): Promise<Map<string, Uint8Array>> {
  const { attachments } = await parseMail(bufferOf(raw));
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

type HeaderValue = ReturnType<Headers["get"]>;

function mailboxesOf(headers: Headers, name: string): NamedAddress[] {
  const value: HeaderValue = headers.get(name);
  const objects: unknown[] = Array.isArray(value) ? value : [value];
  return objects
    .filter(isAddressObject)
    .flatMap(({ value: entries }) => entries)
    .flatMap((entry) => entry.group ?? [entry])
    .map(({ name: shown, address }) => ({ name: shown, address: address ?? "" }));
}

function isAddressObject(value: unknown): value is AddressObject {
  return (
    typeof value === "object" && value !== null && "value" in value && Array.isArray(value.value)
  );
}

function textIn(headers: Headers, name: string): string {
  const value = headers.get(name);
  return typeof value === "string" ? value : "";
}

/** The visible text: the text part, or else the text of the HTML part. Lines end with LF. */
function textOf({ text, html }: ParsedParts): string {
  const visible =
    text.trim() === "" && html !== "" ? htmlToText(html.slice(0, MAX_HTML_CHARACTERS)) : text;
  return visible.replaceAll("\r\n", "\n");
}

/** The values of X-Tags. */
function tagValuesOf(headers: Headers): string[] {
  const value = headers.get("x-tags");
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.map(String) : [];
}

function partIdOf(attachment: Attachment, index: number): string {
  const partId: unknown = "partId" in attachment ? attachment.partId : undefined;
  return typeof partId === "string" ? partId : String(index + 1);
}

function partOf(attachment: Attachment, index: number): Omit<Part, keyof ContentFacts> {
  const { contentType, cid, contentDisposition, related } = attachment;
  const partId = partIdOf(attachment, index);
  return {
    partId,
    // mailparser leaves `related` out, against its types, if the part is not related to another one.
    isInline: [contentDisposition === "inline", related].includes(true),
    filename: partNameOf(attachment, partId).slice(0, MAX_NAME_CHARACTERS),
    contentType: contentType.slice(0, MAX_NAME_CHARACTERS),
    contentId: (cid ?? "").slice(0, MAX_NAME_CHARACTERS),
  };
}
