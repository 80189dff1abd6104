import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { contacts } from "./contacts.ts";
import { projects } from "./projects.ts";

/**
 * EXPORT and ERASURE: of the data of the person. ADDRESS: the present address agrees to another one.
 * NEW_ADDRESS: that one agrees as well.
 */
export const PREFERENCE_REQUEST_KINDS = ["EXPORT", "ERASURE", "ADDRESS", "NEW_ADDRESS"] as const;

/** Requests from the preference page, which the person confirms by a link in a mail within a day. */
export const preferenceRequests = sqliteTable(
  "preference_requests",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    contactSeq: integer("contact_seq")
      .notNull()
      .references(() => contacts.seq, { onDelete: "cascade" }),
    kind: text("kind", { enum: PREFERENCE_REQUEST_KINDS }).notNull(),
    /** The address that a change of address leads to. */
    newAddress: text("new_address"),
    /** SHA-256 of the token in the link. */
    digest: text("digest").notNull().unique(),
    /** The number of times that the link still works. */
    usesLeft: integer("uses_left").notNull(),
    createdAt: integer("created_at").notNull(),
    expiresAt: integer("expires_at").notNull(),
  },
  (table) => [
    index("preference_requests_contact").on(table.contactSeq, table.kind, table.createdAt),
    index("preference_requests_address")
      .on(table.projectSeq, table.newAddress, table.createdAt)
      .where(sql`new_address IS NOT NULL`),
    index("preference_requests_expiry").on(table.expiresAt),
  ],
);
