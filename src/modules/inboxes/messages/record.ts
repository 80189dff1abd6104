/** A parsed message as lists show it, and its row in the database. */

import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { SearchTexts } from "../search/fold.ts";

const NamedAddress = Type.Object({ name: Type.String(), address: Type.String() });
export type NamedAddress = Static<typeof NamedAddress>;

export const Addresses = Type.Object({
  from: Type.Array(NamedAddress),
  to: Type.Array(NamedAddress),
  cc: Type.Array(NamedAddress),
  bcc: Type.Array(NamedAddress),
  replyTo: Type.Array(NamedAddress),
});
export type Addresses = Static<typeof Addresses>;

export const NO_ADDRESSES: Addresses = { from: [], to: [], cc: [], bcc: [], replyTo: [] };

const Tags = Type.Array(Type.String());

/** An attachment or an inline part. */
export type Part = {
  partId: string;
  isInline: boolean;
  filename: string;
  contentType: string;
  contentId: string;
  size: number;
  md5: string;
  sha1: string;
  sha256: string;
};

/** The result of parsing a message for lists and searches. */
export type ParsedMessage = {
  messageId: string;
  subject: string;
  addresses: Addresses;
  /** Time of the Date header, RFC 3339; null if there is none. */
  date: string | null;
  snippet: string;
  /** Tags of the X-Tags header. */
  tags: string[];
  parts: Part[];
  search: SearchTexts;
};

type MessageState = "RECEIVED" | "PARSED" | "UNREADABLE";

export type MessageRecord = {
  seq: number;
  id: string;
  inboxSeq: number;
  state: MessageState;
  parseError: string | null;
  receivedAt: number;
  size: number;
  /** JSON, see envelope.ts. */
  envelope: string;
  username: string;
  emailId: string | null;
  messageId: string;
  subject: string;
  addresses: Addresses;
  date: string | null;
  snippet: string;
  attachments: number;
  inlines: number;
  isRead: boolean;
  isPinned: boolean;
  tags: string[];
};

/** The columns of a message that is not parsed yet. */
export const UNPARSED: Omit<
  MessageRecord,
  "seq" | "id" | "inboxSeq" | "receivedAt" | "size" | "envelope" | "username" | "emailId"
> = {
  state: "RECEIVED",
  parseError: null,
  messageId: "",
  subject: "",
  addresses: NO_ADDRESSES,
  date: null,
  snippet: "",
  attachments: 0,
  inlines: 0,
  isRead: false,
  isPinned: false,
  tags: [],
};

/** A record with what the parser found. */
export function parsedRecord(record: MessageRecord, parsed: ParsedMessage): MessageRecord {
  return { ...record, ...listedMembers(parsed), state: "PARSED" };
}

/** The members of a record that the parser sets. */
export function listedMembers(parsed: ParsedMessage) {
  const { messageId, subject, addresses, date, snippet, tags, parts } = parsed;
  const inlines = parts.filter(({ isInline }) => isInline).length;
  const attachments = parts.length - inlines;
  return { messageId, subject, addresses, date, snippet, tags, attachments, inlines };
}

/** The columns of a parsed message that every message has at first with empty values. */
export type ParsedColumns = {
  messageId: string;
  subject: string;
  /** JSON of `Addresses`. */
  addresses: string;
  date: string | null;
  snippet: string;
  /** JSON. */
  tags: string;
};

export const NOTHING_PARSED: ParsedColumns = {
  messageId: "",
  subject: "",
  addresses: "{}",
  date: null,
  snippet: "",
  tags: "[]",
};

export function parsedColumns(parsed: ParsedMessage): ParsedColumns {
  const { messageId, subject, addresses, date, snippet, tags } = parsed;
  return {
    messageId,
    subject,
    addresses: JSON.stringify(addresses),
    date,
    snippet,
    tags: JSON.stringify(tags),
  };
}

export type MessageRow = Omit<MessageRecord, "addresses" | "tags" | "isRead" | "isPinned"> & {
  addresses: string;
  tags: string;
  isRead: number;
  isPinned: number;
};

export const MESSAGE_COLUMNS = `
  m.seq, m.id, m.inbox_seq AS inboxSeq, m.state, m.parse_error AS parseError,
  m.received_at AS receivedAt, m.size, m.envelope, m.username, m.email_id AS emailId,
  m.message_id AS messageId, m.subject, m.addresses, m.date, m.snippet, m.attachments, m.inlines,
  m.is_read AS isRead, m.is_pinned AS isPinned, m.tags`;

export function recordOf(row: MessageRow): MessageRecord {
  return {
    ...row,
    addresses: parseAddresses(row.addresses),
    tags: parseTags(row.tags),
    isRead: row.isRead === 1,
    isPinned: row.isPinned === 1,
  };
}

function parseAddresses(text: string): Addresses {
  const value: unknown = JSON.parse(text);
  return Value.Check(Addresses, value) ? value : NO_ADDRESSES;
}

export function parseTags(text: string): string[] {
  const value: unknown = JSON.parse(text);
  return Value.Check(Tags, value) ? value : [];
}
