import { sql } from "drizzle-orm";
import { blob, index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { contacts } from "./contacts.ts";
import { emails } from "./emails.ts";
import { projects } from "./projects.ts";

/** Addresses that a project receives mail for: exact ones, or `*@domain`. */
export const inboundRoutes = sqliteTable(
  "inbound_routes",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    address: text("address").notNull().unique(),
    domain: text("domain").notNull(),
    /** The address to which mail is forwarded; null if it only becomes an event. */
    forwardTo: text("forward_to"),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [
    index("inbound_routes_page").on(table.projectSeq, table.seq),
    index("inbound_routes_domain").on(table.domain),
  ],
);

/** ARRIVING: the raw message is being stored; it is in no list. RECEIVED: answered with 250. */
export const RECEIVED_STATES = ["ARRIVING", "RECEIVED"] as const;

/** Mails that arrived for inbound routes, and reports that came back to forwarded mail. */
export const receivedMails = sqliteTable(
  "received_mails",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    state: text("state", { enum: RECEIVED_STATES }).notNull(),
    receivedAt: integer("received_at").notNull(),
    /** Bytes of the raw message. */
    size: integer("size").notNull(),
    /** Sender of the envelope; empty for the null sender. */
    sender: text("sender").notNull().default(""),
    /** JSON: what was read in the message (`ReceivedContent` in modules/inbound-routes/record.ts). */
    content: text("content").notNull().default("{}"),
    /** The mail of ours to which it replies. */
    emailSeq: integer("email_seq").references(() => emails.seq, { onDelete: "set null" }),
    contactSeq: integer("contact_seq").references(() => contacts.seq, { onDelete: "set null" }),
  },
  (table) => [
    index("received_mails_page").on(table.projectSeq, table.seq),
    index("received_mails_age").on(table.receivedAt),
    index("received_mails_contact")
      .on(table.contactSeq)
      .where(sql`contact_seq IS NOT NULL`),
    index("received_mails_email")
      .on(table.emailSeq)
      .where(sql`email_seq IS NOT NULL`),
    index("received_mails_arriving")
      .on(table.state)
      .where(sql`state = 'ARRIVING'`),
  ],
);

/** The bytes of a received mail, compressed (zstd), in pieces of at most 1 MiB. */
export const receivedPieces = sqliteTable(
  "received_pieces",
  {
    mailSeq: integer("mail_seq")
      .notNull()
      .references(() => receivedMails.seq, { onDelete: "cascade" }),
    position: integer("position").notNull(),
    bytes: blob("bytes", { mode: "buffer" }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.mailSeq, table.position] })],
);
