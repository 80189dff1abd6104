import { blob, index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { projects } from "./projects.ts";

export const MAILBOX_PROTOCOLS = ["IMAP", "POP3"] as const;
export const MAILBOX_SECURITIES = ["TLS", "PLAIN"] as const;

/** Mailboxes of a provider in which reports arrive, and from which they are fetched. */
export const reportMailboxes = sqliteTable(
  "report_mailboxes",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    name: text("name").notNull(),
    protocol: text("protocol", { enum: MAILBOX_PROTOCOLS }).notNull(),
    security: text("security", { enum: MAILBOX_SECURITIES }).notNull(),
    host: text("host").notNull(),
    port: integer("port").notNull(),
    username: text("username").notNull(),
    /** Sealed. */
    password: blob("password", { mode: "buffer" }).notNull(),
    /** IMAP: the folder that is read. */
    folder: text("folder").notNull(),
    /** IMAP: the UIDs up to `lastUid` were read, while the folder has this UIDVALIDITY. */
    uidValidity: integer("uid_validity"),
    lastUid: integer("last_uid").notNull().default(0),
    /** Messages that were read. */
    received: integer("received").notNull().default(0),
    /** Messages that changed the record of a mail. */
    counted: integer("counted").notNull().default(0),
    /** Messages that are no report about a mail of the project. */
    unknown: integer("unknown").notNull().default(0),
    /** The time at which the mailbox was last read. */
    lastFetchedAt: integer("last_fetched_at"),
    /** When reading it last failed, and why; null after it was read. */
    failedAt: integer("failed_at"),
    failure: text("failure"),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [index("report_mailboxes_page").on(table.projectSeq, table.seq)],
);

/** POP3: the messages of a mailbox that were read and are still there. */
export const reportMailboxMessages = sqliteTable(
  "report_mailbox_messages",
  {
    mailboxSeq: integer("mailbox_seq")
      .notNull()
      .references(() => reportMailboxes.seq, { onDelete: "cascade" }),
    /** The unique id of the message on the server. */
    uid: text("uid").notNull(),
    /** Whether it is a report about a mail of the project, which is deleted on the server. */
    isReport: integer("is_report", { mode: "boolean" }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.mailboxSeq, table.uid] })],
);
