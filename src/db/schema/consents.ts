import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { contacts } from "./contacts.ts";
import { projects } from "./projects.ts";

/**
 * GIVEN: the person agreed, or a sender says so. CONFIRMED: the person confirmed it from their
 * mailbox. WITHDRAWN: the person, or a sender, ended it.
 */
export const CONSENT_KINDS = ["GIVEN", "CONFIRMED", "WITHDRAWN"] as const;
export type ConsentKind = (typeof CONSENT_KINDS)[number];

export const CONSENT_PURPOSES = ["MARKETING", "TRACKING"] as const;
export type ConsentPurpose = (typeof CONSENT_PURPOSES)[number];

/** By which way a consent came. */
export const CONSENT_SOURCES = [
  "FORM",
  "PREFERENCES",
  "UNSUBSCRIBE_LINK",
  "SUBSCRIBE_LINK",
  "ONE_CLICK",
  "MAIL",
  "COMPLAINT",
  "API",
  "PUBLIC_KEY",
  "DASHBOARD",
  "IMPORT",
  "BULK",
  "WORKFLOW",
] as const;
export type ConsentSourceType = (typeof CONSENT_SOURCES)[number];

/** The texts that people saw when they decided. Each is stored once in a project. */
export const consentWordings = sqliteTable(
  "consent_wordings",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    /** SHA-256 of the text in UTF-8, hexadecimal. */
    digest: text("digest").notNull(),
    text: text("text").notNull(),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [uniqueIndex("consent_wordings_digest").on(table.projectSeq, table.digest)],
);

/** The ledger of consents. Rows are only added, and removed with their contact. */
export const consents = sqliteTable(
  "consents",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    contactSeq: integer("contact_seq")
      .notNull()
      .references(() => contacts.seq, { onDelete: "cascade" }),
    /** The purpose that it allows: marketing mail, or the recording of opens and clicks. */
    purpose: text("purpose", { enum: CONSENT_PURPOSES }).notNull().default("MARKETING"),
    kind: text("kind", { enum: CONSENT_KINDS }).notNull(),
    /** The topic that it is about; null for all newsletters of the project. */
    topicSeq: integer("topic_seq"),
    sourceType: text("source_type", { enum: CONSENT_SOURCES }).notNull(),
    /** Id of the form, mail, key, user or job of the source, if it has one. */
    sourceId: text("source_id"),
    /** IP address of the person's device; null if the person was not connected to this server. */
    clientAddress: text("client_address"),
    /** Null if the person saw no text of this server. */
    wordingSeq: integer("wording_seq").references(() => consentWordings.seq),
    at: integer("at").notNull(),
  },
  (table) => [
    index("consents_contact").on(table.contactSeq, table.seq),
    index("consents_page").on(table.projectSeq, table.seq),
    index("consents_wording")
      .on(table.wordingSeq)
      .where(sql`wording_seq IS NOT NULL`),
  ],
);
