/** Parses raw messages with mailparser: for lists and searches, and for the display of one message. */

import { isUtf8 } from "node:buffer";
import { Readable } from "node:stream";
import { type AddressObject, type Attachment, type ParsedMail, simpleParser } from "mailparser";
import type { Detail } from "../../../checks/detail.ts";
import { htmlToText } from "../../../render/text.ts";
import { plusTagsOf, tagsFrom } from "../messages/tags.ts";
import {
  type Addresses,
  type NamedAddress,
  type ParsedMessage,
  type Part,
} from "../messages/record.ts";
import { searchTextsOf, singleSpaces } from "../search/fold.ts";
import { type ContentFacts, contentFacts, takeBodies, type TakenBodies } from "./encoded-bodies.ts";
import { type IndexedMail, parseSimple } from "./simple-message.ts";

const SNIPPET_CHARACTERS = 250;
const PIECE_BYTES = 1024 * 1024;
/** Longest HTML from which text for searches is made. */
const MAX_HTML_CHARACTERS = 512 * 1024;

const OPTIONS = {
  skipHtmlToText: true,
  skipTextToHtml: true,
  skipImageLinks: true,
  skipTextLinks: true,
} as const;

/**
 * Bounds of what a message adds to lists and to the index. A header section may have 1 MB, and lists
 * are built on the event loop.
 */
const MAX_SUBJECT_CHARACTERS = 4_096;
const MAX_NAME_CHARACTERS = 1_024;
/** Names and addresses of one header field together. */
const MAX_FIELD_CHARACTERS = 32 * 1024;
/** Names of all attachments together, in searches. */
const MAX_FILENAMES_CHARACTERS = 32 * 1024;

/** Parses a message for lists and searches. */
export async function parseForIndex(
  raw: Uint8Array,
  envelopeRecipients: readonly string[],
): Promise<ParsedMessage> {
  const bytes = bufferOf(raw);
  const { mail, factsOf } = simpleMail(bytes) ?? (await parseWithoutBodies(bytes));
  const addresses = addressesOf(mail, envelopeRecipients);
  const text = textOf(mail);
  const parts = mail.attachments
    .map((attachment, i) => ({ ...partOf(attachment, i), ...factsOf(attachment.content) }))
    .filter(isNamed);
  const subject = (mail.subject ?? "").slice(0, MAX_SUBJECT_CHARACTERS);
  const messageId = (mail.messageId ?? "").slice(0, MAX_NAME_CHARACTERS).replace(/^<|>$/g, "");
  return {
    messageId,
    subject,
    addresses,
    date:
      mail.date instanceof Date && !Number.isNaN(mail.date.getTime())
        ? mail.date.toISOString()
        : null,
    snippet: snippetOf(text),
    tags: tagsOf(mail, addresses),
    parts,
    search: searchTextsOf({
      messageId,
      subject,
      addresses,
      filenames: firstOf(
        parts.map(({ filename }) => filename),
        MAX_FILENAMES_CHARACTERS,
        ({ length }) => length,
      ),
      body: text,
    }),
  };
}

type MailWithFacts = { mail: IndexedMail; factsOf: TakenBodies["factsOf"] };

function simpleMail(raw: Buffer): MailWithFacts | null {
  const mail = parseSimple(raw);
  return mail === null ? null : { mail, factsOf: (content) => contentFacts([content]) };
}

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

function addressesOf(mail: IndexedMail, envelopeRecipients: readonly string[]): Addresses {
  const named = {
    from: mailboxesOf(mail.from),
    to: mailboxesOf(mail.to),
    cc: mailboxesOf(mail.cc),
    bcc: mailboxesOf(mail.bcc),
    replyTo: mailboxesOf(mail.replyTo),
  };
  const shown = new Set(
    [...named.to, ...named.cc, ...named.bcc].map(({ address }) => address.toLowerCase()),
  );
  // A recipient of the envelope that no header names was a Bcc recipient.
  const hidden = envelopeRecipients
    .filter((address) => !shown.has(address.toLowerCase()))
    .map((address) => ({ name: "", address }));
  return {
    from: firstMailboxes(named.from),
    to: firstMailboxes(named.to),
    cc: firstMailboxes(named.cc),
    bcc: firstMailboxes([...named.bcc, ...hidden]),
    replyTo: firstMailboxes(named.replyTo),
  };
}

function firstMailboxes(all: readonly NamedAddress[]): NamedAddress[] {
  const length = ({ name, address }: NamedAddress) =>
    Math.min(name.length, MAX_NAME_CHARACTERS) + Math.min(address.length, MAX_NAME_CHARACTERS) + 1;
  return firstOf(all, MAX_FIELD_CHARACTERS, length).map(({ name, address }) => ({
    name: name.slice(0, MAX_NAME_CHARACTERS),
    address: address.slice(0, MAX_NAME_CHARACTERS),
  }));
}

/** The first items whose lengths together are within the limit. */
function firstOf<T>(all: readonly T[], limit: number, lengthOf: (item: T) => number): T[] {
  let length = 0;
  const end = all.findIndex((item) => (length += lengthOf(item)) > limit);
  return end === -1 ? [...all] : all.slice(0, end);
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
function textOf(mail: IndexedMail): string {
  if (mail.text !== undefined && mail.text.trim() !== "") return mail.text;
  return mail.html === false ? "" : htmlToText(mail.html.slice(0, MAX_HTML_CHARACTERS));
}

function snippetOf(text: string): string {
  return singleSpaces(text.slice(0, 4 * SNIPPET_CHARACTERS))
    .trim()
    .slice(0, SNIPPET_CHARACTERS);
}

/** The tags of X-Tags, and those of the sender's and the recipients' addresses. */
function tagsOf(mail: IndexedMail, { from, to, cc, bcc }: Addresses): string[] {
  const value = mail.headers.get("x-tags");
  const texts = typeof value === "string" ? [value] : Array.isArray(value) ? value.map(String) : [];
  const people = [...from, ...to, ...cc, ...bcc];
  return tagsFrom([
    ...texts.flatMap((text) => text.split(",")),
    ...people.flatMap(({ address }) => plusTagsOf(address)),
  ]);
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
