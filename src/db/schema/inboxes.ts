import { sql } from "drizzle-orm";
import { blob, index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { uniqueIndex } from "drizzle-orm/sqlite-core";
import { projects } from "./projects.ts";

/** Inboxes collect captured messages. Each project has one that is called `default`. */
export const inboxes = sqliteTable(
  "inboxes",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    name: text("name").notNull(),
    /** The inbox is removed at this time; null if it stays. */
    expiresAt: integer("expires_at"),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [
    uniqueIndex("inboxes_name").on(table.projectSeq, table.name),
    index("inboxes_expiry").on(table.expiresAt),
  ],
);

/**
 * ARRIVING: the raw message is being stored; it is in no list yet. RECEIVED: stored and answered with
 * 250, but not parsed yet. PARSED: all columns are set. UNREADABLE: the parser failed.
 */
export const INBOX_MESSAGE_STATES = ["ARRIVING", "RECEIVED", "PARSED", "UNREADABLE"] as const;

export const inboxMessages = sqliteTable(
  "inbox_messages",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    /** 22 characters of base 62 (`newShortId` in lib/id.ts). */
    id: text("id").notNull().unique(),
    inboxSeq: integer("inbox_seq")
      .notNull()
      .references(() => inboxes.seq, { onDelete: "cascade" }),
    state: text("state", { enum: INBOX_MESSAGE_STATES }).notNull(),
    receivedAt: integer("received_at").notNull(),
    /** Bytes of the raw message. */
    size: integer("size").notNull(),
    /** Bytes of the stored, compressed message. */
    storedBytes: integer("stored_bytes").notNull(),
    /** JSON of the envelope and the session (`Envelope` in modules/inboxes/model.ts). */
    envelope: text("envelope").notNull(),
    /** User of AUTH or of HTTP Basic; empty if there was none. */
    username: text("username").notNull(),
    /** Id of the record of a mail that was sent over HTTP. */
    emailId: text("email_id"),
    /** The rest is known after the message was parsed. */
    parseError: text("parse_error"),
    messageId: text("message_id").notNull().default(""),
    subject: text("subject").notNull().default(""),
    /** JSON: {from, to, cc, bcc, replyTo}, each a list of {name, address}. */
    addresses: text("addresses").notNull().default("{}"),
    /** Time of the Date header, RFC 3339 with its own offset; null if there is none. */
    date: text("date"),
    snippet: text("snippet").notNull().default(""),
    attachments: integer("attachments").notNull().default(0),
    inlines: integer("inlines").notNull().default(0),
    isRead: integer("is_read", { mode: "boolean" }).notNull().default(false),
    isPinned: integer("is_pinned", { mode: "boolean" }).notNull().default(false),
    /** JSON: sorted list of tags. */
    tags: text("tags").notNull().default("[]"),
  },
  (table) => [
    index("inbox_messages_page").on(table.inboxSeq, table.seq),
    index("inbox_messages_unread").on(table.inboxSeq, table.isRead),
    index("inbox_messages_age").on(table.receivedAt),
    /** Only the messages that wait for something: the others are never looked for by their state. */
    index("inbox_messages_waiting")
      .on(table.state, table.seq)
      .where(sql`state = 'ARRIVING' OR state = 'RECEIVED'`),
    index("inbox_messages_email")
      .on(table.emailId)
      .where(sql`email_id IS NOT NULL`),
    index("inbox_messages_tags")
      .on(table.inboxSeq, table.tags)
      .where(sql`${table.tags} <> '[]'`),
  ],
);

/** Raw messages, compressed with zstd, in pieces of at most 1 MiB of raw message. */
export const inboxRaw = sqliteTable(
  "inbox_raw",
  {
    messageSeq: integer("message_seq")
      .notNull()
      .references(() => inboxMessages.seq, { onDelete: "cascade" }),
    position: integer("position").notNull(),
    bytes: blob("bytes", { mode: "buffer" }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.messageSeq, table.position] })],
);

/** Attachments and inline parts of parsed messages. */
export const inboxParts = sqliteTable(
  "inbox_parts",
  {
    messageSeq: integer("message_seq")
      .notNull()
      .references(() => inboxMessages.seq, { onDelete: "cascade" }),
    /** Place in the MIME tree: "1", "2.1". */
    partId: text("part_id").notNull(),
    isInline: integer("is_inline", { mode: "boolean" }).notNull(),
    filename: text("filename").notNull(),
    contentType: text("content_type").notNull(),
    contentId: text("content_id").notNull(),
    size: integer("size").notNull(),
    md5: text("md5").notNull(),
    sha1: text("sha1").notNull(),
    sha256: text("sha256").notNull(),
  },
  (table) => [primaryKey({ columns: [table.messageSeq, table.partId] })],
);

/**
 * The searched text of a message, folded: addresses, subject, names of attachments and the first
 * 4 KiB of the text. `inbox_search` is its index of trigrams (FTS5, made by the migration), which
 * modules/inboxes/search/index-rows.ts maintains.
 */
export const inboxTexts = sqliteTable(
  "inbox_texts",
  {
    messageSeq: integer("message_seq")
      .primaryKey()
      .references(() => inboxMessages.seq, { onDelete: "cascade" }),
    /** Whether `rest` is set; it stands before the long columns, which are slow to skip. */
    isLong: integer("is_long", { mode: "boolean" }).notNull(),
    /** The trigrams of a long body (lib/text-signature.ts); null for others. */
    signature: blob("signature", { mode: "buffer" }),
    /** The folded fields (`SearchFields` in modules/inboxes/search/fold.ts). */
    sender: text("sender").notNull(),
    recipients: text("recipients").notNull(),
    cc: text("cc").notNull(),
    bcc: text("bcc").notNull(),
    replyTo: text("reply_to").notNull(),
    subject: text("subject").notNull(),
    messageId: text("message_id").notNull(),
    text: text("text").notNull(),
    /** The folded body, if it is longer than 4 KiB, compressed with zstd; null otherwise. */
    rest: blob("rest", { mode: "buffer" }),
  },
  (table) => [
    index("inbox_texts_long")
      .on(table.messageSeq)
      .where(sql`${table.isLong} = 1`),
  ],
);

export const INBOX_STAGES = ["connect", "auth", "mail", "rcpt", "data", "dot"] as const;

/** Rules that make SMTP fail in a defined way. */
export const inboxRules = sqliteTable(
  "inbox_rules",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    inboxSeq: integer("inbox_seq")
      .notNull()
      .references(() => inboxes.seq, { onDelete: "cascade" }),
    stage: text("stage", { enum: INBOX_STAGES }).notNull(),
    /** JSON (`RuleInput` in modules/inboxes/rules/model.ts). */
    rule: text("rule").notNull(),
    /** The number of times that it may still fire; null for no limit. */
    remaining: integer("remaining"),
    fired: integer("fired").notNull().default(0),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [index("inbox_rules_of_inbox").on(table.inboxSeq, table.seq)],
);

/** Transcripts of SMTP sessions. */
export const inboxSessions = sqliteTable(
  "inbox_sessions",
  {
    id: text("id").primaryKey(),
    inboxSeq: integer("inbox_seq")
      .notNull()
      .references(() => inboxes.seq, { onDelete: "cascade" }),
    startedAt: integer("started_at").notNull(),
    endedAt: integer("ended_at").notNull(),
    peer: text("peer").notNull(),
    /** JSON: [milliseconds since the start, "C" or "S", line][]. */
    transcript: text("transcript").notNull(),
  },
  (table) => [index("inbox_sessions_page").on(table.inboxSeq, table.startedAt)],
);
