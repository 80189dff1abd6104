/**
 * The header of a message that a client submitted (RFC 6409 §8): what is refused, what is removed and
 * what is added. All other fields stay as they are, octet for octet, unless a line is too long.
 *
 * 1. `readSubmittedHeader` checks the form, the fields that may occur only once, From and the trace, and
 *    leaves out the fields that do not go on: Bcc, Return-Path, and our own.
 * 2. `writeSubmittedHeader` adds the fields that are missing.
 */

import { trimEndBlanks } from "../../lib/trim.ts";
import { decodeWords } from "./read-parts.ts";
import { decodeOctets, encodeField, isEightBit } from "./encode-fields.ts";
import { parseFrom } from "./from-field.ts";
import { fold } from "./header-lines.ts";
import { displayName, type Mailbox } from "./mailbox.ts";
import { messageDate } from "./message.ts";

const OWN_PREFIX = "x-mailstead-";
const LONGEST_LINE = 998;
const LONGEST_SUBJECT = 998;
/** RFC 5321 §6.3: a message that was passed on more often is in a loop. */
const MAX_RECEIVED = 25;
const MAX_OWN_RECEIVED = 2;

/** Fields of which a message has at most one (RFC 5322 §3.6). */
const SINGLE_FIELDS = [
  { name: "from", title: "From" },
  { name: "date", title: "Date" },
  { name: "message-id", title: "Message-ID" },
] as const;

/** Fields that are removed. Only the final server writes a Return-Path (RFC 5321 §4.4). */
const REMOVED_FIELDS: ReadonlySet<string> = new Set(["bcc", "resent-bcc", "return-path"]);

export type SubmittedHeader = {
  from: Mailbox;
  /** Decoded, without control characters. */
  subject: string;
  /** Value of Message-ID; null if it is missing. */
  messageId: string | null;
  /** Values of the own fields by their name without the prefix, such as `idempotency-key`. */
  options: ReadonlyMap<string, string>;
  hasDate: boolean;
  hasMimeVersion: boolean;
  /** The fields that go on, each without its last CRLF, with one character for each octet. */
  fields: readonly string[];
};

type ReadHeader =
  | { ok: true; header: SubmittedHeader }
  /** `text` begins with the enhanced status code. */
  | { ok: false; code: 550 | 554; text: string };

type Field = { name: string; text: string; value: string };

/** `header` is the text before the empty line, with one character for each octet. */
export function readSubmittedHeader(header: string, hostname: string): ReadHeader {
  const given = fieldsOf(header);
  if (given === null) return malformed("The header has a line that is not a header field");
  const fields = given.map((field) => ({ ...field, text: withoutLongLines(field.text) }));
  if (fields.some(({ text }) => hasLongLine(text))) {
    return malformed(`A line of the header is longer than ${LONGEST_LINE} octets without a blank`);
  }
  if (header.includes("\0")) return malformed("The header has a NUL octet");
  if (isLoop(fields, hostname)) {
    return { ok: false, code: 554, text: "5.4.6 The message is in a loop of mail servers" };
  }
  const sender = fields.find(({ name }) => name === "from");
  if (sender === undefined) return malformed("The message has no header From");
  const repeated = SINGLE_FIELDS.find(
    (single) => fields.filter(({ name }) => name === single.name).length > 1,
  );
  if (repeated !== undefined) {
    return malformed(`The message has more than one header ${repeated.title}`);
  }
  const from = parseFrom(decodeOctets(sender.value));
  if (!from.ok) return refuse(`5.1.7 The header From cannot be used: ${from.reason}`);
  const kept = fields.filter(({ name }) => goesOn(name)).filter((field) => !isEmptyId(field));
  const texts = kept.map(asciiText);
  const written = texts.filter((text) => text !== null);
  if (written.length < texts.length) {
    return refuse("5.6.7 An address in the header is not ASCII, which many servers refuse");
  }
  return {
    ok: true,
    header: { from: decodeMailbox(from.mailbox), fields: written, ...facts(fields) },
  };
}

/** Ends with the empty line. */
export function writeSubmittedHeader(
  { fields, messageId, hasDate, hasMimeVersion }: SubmittedHeader,
  added: { messageId: string; at: Date },
): Buffer {
  const missing = [
    ...(messageId === null ? [`Message-ID: ${added.messageId}`] : []),
    ...(hasDate ? [] : [`Date: ${messageDate(added.at)}`]),
    ...(hasMimeVersion ? [] : ["MIME-Version: 1.0"]),
  ];
  return Buffer.from(`${[...missing, ...fields].join("\r\n")}\r\n\r\n`, "latin1");
}

function malformed(text: string): ReadHeader {
  return refuse(`5.6.0 ${text}`);
}

function refuse(text: string): ReadHeader {
  return { ok: false, code: 550, text };
}

/** The mailbox with its name as people read it. */
export function decodeMailbox({ address, name }: Mailbox): Mailbox {
  return { address, name: name === null ? null : displayName(decodeWords(name)) };
}

/** Null if a line is neither a field nor the continuation of one. */
export function fieldsOf(header: string): Field[] | null {
  const fields: Field[] = [];
  if (header === "") return fields;
  for (const text of header.split(/\r\n(?![ \t])/)) {
    const colon = text.indexOf(":");
    const name = trimEndBlanks(text.slice(0, Math.max(0, colon)));
    if (!/^[!-9;-~]+$/.test(name)) return null;
    const value = text.slice(colon + 1).replaceAll(/\r\n(?=[ \t])/g, "");
    fields.push({ name: name.toLowerCase(), text, value });
  }
  return fields;
}

function hasLongLine(text: string): boolean {
  return (
    text.length > LONGEST_LINE && text.split("\r\n").some(({ length }) => length > LONGEST_LINE)
  );
}

/** Folds the lines that not every server takes, and leaves all others as they are. */
function withoutLongLines(text: string): string {
  if (!hasLongLine(text)) return text;
  const lines = text.split("\r\n");
  return lines.map((line) => (line.length > LONGEST_LINE ? fold(line) : line)).join("\r\n");
}

function goesOn(name: string): boolean {
  return !REMOVED_FIELDS.has(name) && !name.startsWith(OWN_PREFIX);
}

/** An empty Message-ID is replaced. */
function isEmptyId({ name, value }: Field): boolean {
  return name === "message-id" && value.trim() === "";
}

function asciiText({ text, value }: Field): string | null {
  if (!isEightBit(text)) return text;
  return encodeField(trimEndBlanks(text.slice(0, text.indexOf(":"))), value);
}

function facts(fields: readonly Field[]) {
  const valueOf = (name: string) => fields.find((field) => field.name === name)?.value ?? null;
  const own = fields.filter(({ name }) => name.startsWith(OWN_PREFIX));
  const id = valueOf("message-id")?.trim().slice(0, LONGEST_LINE) ?? "";
  return {
    subject: subjectOf(valueOf("subject") ?? ""),
    messageId: id === "" ? null : decodeOctets(id),
    options: new Map(own.map(({ name, value }) => [name.slice(OWN_PREFIX.length), value.trim()])),
    hasDate: valueOf("date") !== null,
    hasMimeVersion: valueOf("mime-version") !== null,
  };
}

function subjectOf(value: string): string {
  const text = decodeWords(decodeOctets(value)).trim();
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")
    .slice(0, LONGEST_SUBJECT)
    .toWellFormed();
}

function isLoop(fields: readonly Field[], hostname: string): boolean {
  const received = fields.filter(({ name }) => name === "received");
  const names = (value: string) => value.toLowerCase().split(/[^a-z0-9._-]+/);
  const own = received.filter(({ value }) => names(value).includes(hostname.toLowerCase()));
  return received.length > MAX_RECEIVED || own.length > MAX_OWN_RECEIVED;
}
