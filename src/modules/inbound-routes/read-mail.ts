/** Reads a received message: its header, its texts and its attachments, all with limits. */

import { withoutComments } from "../../protocols/mime/comments.ts";
import { oneLine } from "../../lib/one-line.ts";
import { readDsn } from "../../protocols/dsn/report.ts";
import { decodeOctets } from "../../protocols/mime/encode-fields.ts";
import { type Mailbox, mailboxText } from "../../protocols/mime/mailbox.ts";
import { type ReadField, valueOf } from "../../protocols/mime/read-fields.ts";
import { decodeWords, readMessage } from "../../protocols/mime/read-parts.ts";
import type { Addressees, ReceivedContent, StoredPart } from "./record.ts";

/** A message as the parser reads it. The id of a part's content is empty if it has none. */
export type ParsedMail = {
  text: string;
  html: string;
  parts: readonly (StoredPart & { contentId: string })[];
  addresses: Readonly<Record<keyof Addressees, readonly NamedAddress[]>>;
};

type NamedAddress = { name: string; address: string };

/** Parses messages in a thread. */
export type MailParser = {
  /** Null if the message cannot be parsed. */
  read(raw: Uint8Array, sender: string): Promise<ParsedMail | null>;
  /** Null if the message has no such part. */
  part(raw: Uint8Array, partId: string, sender: string): Promise<Uint8Array | null>;
};

/** The content of a message, as it is stored and as the event has it. */
export type ReadMail = Pick<
  ReceivedContent,
  "from" | "fromName" | "subject" | "messageId" | "isAutomatic" | "isReadable" | "parts"
> & {
  addressees: Addressees;
  text: string;
  html: string;
  isShortened: boolean;
  /** Message-IDs to which it replies, the nearest first, with angle brackets. */
  repliesTo: readonly string[];
  /** Number of Received fields. */
  hops: number;
  /** Addresses in Delivered-To, by which a forwarder marks what it has forwarded. */
  deliveredTo: readonly string[];
};

const LONGEST_SUBJECT = 998;
const LONGEST_NAME = 250;
const LONGEST_ID = 998;
/** Longest texts in the event, in UTF-16 units. The raw message has all of them. */
const LONGEST_TEXT = 16 * 1024;
const LONGEST_HTML = 64 * 1024;
const MAX_PARTS = 100;
const MAX_REFERENCES = 20;

/**
 * `mailbox` is the author, as `readAuthor` read it for the evaluation of DMARC. `sender` is the network
 * of the client, for the turns of the parser.
 */
export async function readMail(
  raw: Uint8Array,
  { mailbox, sender }: { mailbox: Mailbox | null; sender: string },
  parser: Pick<MailParser, "read">,
): Promise<ReadMail> {
  const message = readMessage(raw);
  const { fields } = message;
  const parsed = await parser.read(raw, sender);
  const {
    text = "",
    html = "",
    parts = [],
    addresses = { to: [], cc: [], replyTo: [] },
  } = parsed ?? {};
  const name = mailbox?.name ?? null;
  const messageId = idsIn(valueOf(fields, "message-id") ?? "")[0] ?? null;
  return {
    from: mailbox?.address ?? null,
    fromName: name === null ? null : oneLine(decodeWords(name)).trim().slice(0, LONGEST_NAME),
    subject: subjectOf(valueOf(fields, "subject") ?? ""),
    messageId,
    isAutomatic: isAutomatic(fields) || readDsn(message).kind !== "unknown",
    isReadable: parsed !== null,
    parts: parts.slice(0, MAX_PARTS).map(partOf),
    addressees: {
      to: addresses.to.map(textOf),
      cc: addresses.cc.map(textOf),
      replyTo: addresses.replyTo.map(textOf),
    },
    text: shortened(text, LONGEST_TEXT),
    html: shortened(html, LONGEST_HTML),
    isShortened: text.length > LONGEST_TEXT || html.length > LONGEST_HTML,
    repliesTo: repliesTo(fields),
    hops: fields.filter((field) => field.name === "received").length,
    deliveredTo: fields
      .filter((field) => field.name === "delivered-to")
      .map(({ value }) => value.trim().toLowerCase()),
  };
}

/** In-Reply-To, then References from the last one, which is the nearest (RFC 5322 §3.6.4). */
function repliesTo(fields: readonly ReadField[]): string[] {
  const parents = idsIn(valueOf(fields, "in-reply-to") ?? "");
  const references = idsIn(valueOf(fields, "references") ?? "").toReversed();
  return [...new Set([...parents, ...references])].slice(0, MAX_REFERENCES);
}

function idsIn(value: string): string[] {
  return [...value.matchAll(/<[^<>\s]{1,996}>/g)].map(([id]) => id.slice(0, LONGEST_ID));
}

/** RFC 3834 §5: every value but `no` says that a program wrote the message. */
function isAutomatic(fields: readonly ReadField[]): boolean {
  const value = withoutComments(valueOf(fields, "auto-submitted") ?? "")
    .split(";", 1)[0]
    ?.trim()
    .toLowerCase();
  return value !== undefined && value !== "" && value !== "no";
}

function partOf({
  partId,
  filename,
  contentType,
  size,
  isInline,
  ...part
}: StoredPart): StoredPart {
  const contentId = (part.contentId ?? "").replace(/^<|>$/g, "");
  return { partId, filename, contentType, size, isInline, contentId };
}

const textOf = ({ name, address }: NamedAddress): string =>
  mailboxText({ address, name: name === "" ? null : name });

function subjectOf(value: string): string {
  return oneLine(decodeWords(decodeOctets(value)))
    .trim()
    .slice(0, LONGEST_SUBJECT)
    .toWellFormed();
}

function shortened(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).toWellFormed();
}
